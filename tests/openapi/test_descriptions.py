"""Each field and parameter of the OpenAPI document is described, in words that say more than its name and its unit."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from hearthpay.http import field_descriptions
from tests.openapi.document import Document

_OF_ITS_TYPE: Final = (
    "US dollars, two decimals.",
    "A fraction: 0.062 is 6.2 %.",
    "Percent, two decimals.",
    "Hours, at most three decimals.",
    "Hours, at most two decimals.",
    "Days, at most two decimals.",
)
_UNIT_OR_DEFAULT: Final = re.compile(
    r"`[^`]*` where it is left out\.|At most \d decimals\.|\d decimals; more are rounded, with a warning\.|"
    + "|".join(map(re.escape, _OF_ITS_TYPE))
)
_FILLERS: Final = frozenset(
    re.findall(r"\w+", "a an and as at by for from in is it its of on or that the this to was what")
)


def _properties(schema: dict[str, Any], where: str) -> Iterator[tuple[str, str, str]]:
    """The fields of a schema, also of the objects that stand in it: where each is, its name and its description."""
    for name, described in schema.get("properties", {}).items():
        yield f"{where}.{name}", name, described.get("description", "")
        yield from _properties(described, f"{where}.{name}")
    for inner in (schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(inner, dict):
            yield from _properties(inner, where)


def _described(document: Document) -> Iterator[tuple[str, str, str]]:
    for component, schema in document.openapi["components"]["schemas"].items():
        yield from _properties(schema, component)
    for _, _, operation in document.operations():
        for parameter in operation.get("parameters", ()):
            name = parameter["name"]
            yield f"{operation['operationId']}?{name}", name, parameter.get("description", "")


@pytest.mark.completeness
def test_every_field_and_parameter_is_described(document: Document) -> None:
    missing = [where for where, _, description in _described(document) if not description.strip()]
    assert missing == [], (
        "describe each by a docstring below the field, by `Field(description=…)` or by its type in "
        "`hearthpay.wire.answer_fields`"
    )


def test_a_description_says_more_than_the_name_and_the_unit(document: Document) -> None:
    wanting = []
    for where, name, description in _described(document):
        own = _UNIT_OR_DEFAULT.sub("", description).strip()
        words = set(re.findall(r"[a-z0-9]+", own.lower())) - _FILLERS - set(re.split(r"[_-]", name.lower()))
        if len(own) < 12 or len(words) < 2 or not own.endswith((".", "`")):
            wanting.append(f"{where}: {description}")
    assert wanting == []


def test_a_described_type_adds_its_unit_to_the_words_of_the_field(document: Document) -> None:
    schemas = document.openapi["components"]["schemas"]
    base = schemas["CalculationLine"]["properties"]["wage_base"]
    assert base["description"].startswith("Wages of the year up to which the tax is charged")
    assert base["description"].endswith("US dollars, two decimals.")
    assert base["anyOf"] == [{"type": "number"}, {"type": "null"}]


def test_docstrings_of_fields_are_read_where_the_document_is_built(document: Document) -> None:
    """Inherited ones too; what runs without the document reads no source."""
    schemas = document.openapi["components"]["schemas"]
    for name in ("EmployeeItem", "EmployeeDetail"):
        assert "Monday to Friday" in schemas[name]["properties"]["working_days"]["description"]
    assert field_descriptions._docstrings_in.cache_info().currsize > 10
