"""The two names of the parameter for a year: wherever one of `year` and `tax_year` is asked for, both are accepted.

A model has the field under one name, its own. A client that has learned the other one elsewhere in this API is
understood, and where it gives both, they must agree.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, ValidationError

_OTHER_NAMES: Final[Mapping[str, str]] = {"year": "tax_year", "tax_year": "year"}


def read_year(model: type[BaseModel], value: dict[str, Any]) -> dict[str, Any]:
    """Return a request with its year under the model's own name; any other request as it is.

    Raises ValidationError for the name that isn't the model's own, where both are given and differ.
    """
    name = _own_name(model)
    if name is None or _OTHER_NAMES[name] not in value:
        return value
    other = _OTHER_NAMES[name]
    named = {key: each for key, each in value.items() if key != other}
    year = value[other]
    if year is None:
        return named
    if named.get(name) is None:
        return named | {name: year}
    if named[name] != year:
        differs = PydanticCustomError("year_names", "must be the same as {name}, or left out", {"name": name})
        problem = InitErrorDetails(type=differs, loc=(other,), input=year)
        raise ValidationError.from_exception_data(model.__name__, [problem])
    return named


def under_sent_name(
    model: type[BaseModel], value: object, findings: Sequence[ErrorDetails]
) -> Sequence[ErrorDetails]:
    """Return what is wrong with a request, its year under the name by which the client sent it."""
    name = _own_name(model)
    if name is None or not isinstance(value, dict) or value.get(name) is not None:
        return findings
    other = _OTHER_NAMES[name]
    if value.get(other) is None:
        return findings
    renamed = list(findings)
    for number, each in enumerate(findings):
        if each["loc"][:1] == (name,):
            renamed[number] = {**each, "loc": (other, *each["loc"][1:])}
    return renamed


def document_year_names(document: dict[str, Any]) -> None:
    """Add the other name to each operation of an OpenAPI document that takes a year: to its query, or to its body."""
    for operation in _operations(document):
        parameters = operation.get("parameters", [])
        for parameter in [each for each in parameters if each["in"] == "query"]:
            other = _OTHER_NAMES.get(parameter["name"])
            if other is not None:
                described = {"name": other, "in": "query", "required": False}
                schema = {key: each for key, each in parameter["schema"].items() if key != "description"}
                parameters.append(described | {"schema": schema, "description": _words(parameter["name"])})
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        reference = body.get("schema", {}).get("$ref", "")
        if reference:
            _document_body(document["components"]["schemas"][reference.rpartition("/")[2]])


def _document_body(schema: dict[str, Any]) -> None:
    properties = schema.get("properties", {})
    for name, other in _OTHER_NAMES.items():
        if name in properties and other not in properties:
            described = {key: each for key, each in properties[name].items() if key != "default"}
            properties[other] = described | {"description": _words(name)}
            return


def _words(name: str) -> str:
    return f"Another name of `{name}`, accepted in its place. If both are given, they must be the same."


@functools.cache
def _own_name(model: type[BaseModel]) -> str | None:
    return next((name for name in _OTHER_NAMES if name in model.model_fields), None)


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        yield from item.values()
