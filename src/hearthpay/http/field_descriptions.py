"""Descriptions of fields in the OpenAPI document: the docstring below a field, and what its type says.

A field is described where it is declared, by a docstring below it or by `Field(description=…)`. Its type may add what
all such values share, such as the unit of an amount. Docstrings of fields are in no object that runs: they are read
from the source when the document is built, so that the service starts as fast as before.
"""

import ast
import dataclasses
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from starlette.routing import BaseRoute

from hearthpay.http.routing import Endpoint

_SPECIALIZED: Final = re.compile(r"((?:List|Dated)?Envelope)Of.+")
"""An envelope is one class, and one component for each kind of contents."""


def describe_fields(document: dict[str, Any], routes: Iterable[BaseRoute]) -> None:
    """Describe each property of `document`, which is made of `routes`, and each parameter."""
    classes = _classes_of(routes)
    for name, schema in document["components"]["schemas"].items():
        envelope = _SPECIALIZED.fullmatch(name)
        of_class = classes.get(envelope[1] if envelope else name)
        docstrings = {} if of_class is None else _docstrings_of(of_class)
        for field, described in schema.get("properties", {}).items():
            _describe(described, docstrings.get(field))
    for item in document["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                _describe_parameter(parameter)


def _describe(described: dict[str, Any], docstring: str | None) -> None:
    """Put the field's own words before those of its type."""
    own = [] if docstring is None else [docstring]
    words = [*own, *_words_of_type(described)]
    if words:
        described["description"] = " ".join(dict.fromkeys(words))


def _words_of_type(described: dict[str, Any]) -> list[str]:
    """Return what a schema says of its values; of a nullable one, what the kinds of value say, which no longer do."""
    if "description" in described:
        return [described["description"]]
    return [option.pop("description") for option in described.get("anyOf", ()) if "description" in option]


def _describe_parameter(parameter: dict[str, Any]) -> None:
    """Describe a parameter by its type if it isn't described itself."""
    words = _words_of_type(parameter["schema"])
    parameter["schema"].pop("description", None)
    if "description" not in parameter and words:
        parameter["description"] = " ".join(words)


def _classes_of(routes: Iterable[BaseRoute]) -> Mapping[str, type]:
    """Return the classes of bodies and answers, by the names of their components."""
    found: dict[str, type] = {}
    for route in routes:
        if isinstance(route, Endpoint):
            fields = [route.response_field, *route.response_fields.values(), *route.dependant.body_params]
            for field in fields:
                if field is not None:
                    _collect(field.field_info.annotation, found)
    return found


def _collect(annotation: Any, found: dict[str, type]) -> None:
    """Add the class that an annotation names, and those of its fields."""
    for argument in get_args(annotation):
        _collect(argument, found)
    named = get_origin(annotation) or annotation
    if not isinstance(named, type) or named.__name__ in found:
        return
    if dataclasses.is_dataclass(named) or issubclass(named, BaseModel):
        found[named.__name__] = named
        for hint in get_type_hints(named).values():
            _collect(hint, found)


def _docstrings_of(of_class: type) -> dict[str, str]:
    """Return the docstrings of a class's fields, those of its bases included."""
    found: dict[str, str] = {}
    for base in reversed(of_class.__mro__):
        if base.__module__.partition(".")[0] == "hearthpay":
            found |= _docstrings_in(base.__module__).get(base.__name__, {})
    return found


@cache
def _docstrings_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of fields in a module, by class and field; a compiled module has its source next to it."""
    file = Path(str(sys.modules[module].__file__))
    source = file.with_name(f"{file.name.partition('.')[0]}.py").read_text(encoding="utf-8")
    return {
        each.name: dict(_field_docstrings(each))
        for each in ast.parse(source).body
        if isinstance(each, ast.ClassDef)
    }


def _field_docstrings(declared: ast.ClassDef) -> Iterable[tuple[str, str]]:
    for field, below in zip(declared.body, declared.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            yield field.target.id, " ".join(below.value.value.replace("``", "`").split())
