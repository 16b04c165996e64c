"""The OpenAPI document: FastAPI's output, corrected for readers and client generators.

FastAPI gives every instance of a generic envelope the same title, and generators name classes by titles. It documents
its own 422, and knows neither our keys nor our plans.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from hearthpay.access.plans import required_plan
from hearthpay.http.error_schemas import type_errors
from hearthpay.http.field_descriptions import describe_fields
from hearthpay.http.response_examples import add_response_examples
from hearthpay.http.routing import Endpoint
from hearthpay.wire.year_names import document_year_names

SCOPE_KEY: Final = "x-required-scope"
"""The OpenAPI extension that names the scope an operation needs."""
PLAN_KEY: Final = "x-required-plan"
"""The OpenAPI extension that names the smallest plan with an operation."""

_SECURITY_SCHEMES: Final = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A live key `hp_live_…` or a test key `hp_test_…`.",
    },
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
_SCHEMAS: Final = "#/components/schemas/"
_ENVELOPE: Final = re.compile(r"((?:List|Dated)?Envelope)_(.+)_")


class Application(FastAPI):
    """FastAPI, documented with our keys in place of its security classes."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI 3.1 document; built once."""
        if self.openapi_schema is None:
            document = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                license_info=self.license_info,
                contact=self.contact,
                servers=self.servers,
                tags=self.openapi_tags,
                routes=self.routes,
            )
            _drop_framework_errors(document)
            _add_scopes(document, self.routes)
            _name_envelopes(document)
            _spell_out_objects(document)
            describe_fields(document, self.routes)
            type_errors(document["components"]["schemas"])
            _title_components(document)
            _drop_made_up_titles(document)
            add_response_examples(document)
            _describe_optional_fields(document)
            document_year_names(document)
            document["components"]["securitySchemes"] = _SECURITY_SCHEMES
            document["security"] = [{name: []} for name in _SECURITY_SCHEMES]
            self.openapi_schema = document
        return self.openapi_schema


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        yield from item.values()


def _drop_framework_errors(document: dict[str, Any]) -> None:
    """Remove FastAPI's own 422, which no endpoint returns: `Endpoint` refuses with our envelope and 400."""
    for operation in _operations(document):
        operation["responses"].pop("422", None)
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


def _add_scopes(document: dict[str, Any], routes: Sequence[BaseRoute]) -> None:
    """Add to each operation the scope that its key must have, and the plan that its organization must be on."""
    for route in routes:
        if not isinstance(route, Endpoint):
            continue
        for method in route.methods or ():
            operation = document["paths"][route.path_format][method.lower()]
            if route.required_scope is not None:
                operation[SCOPE_KEY] = route.required_scope
            if route.required_feature is not None:
                operation[PLAN_KEY] = required_plan(route.required_feature)


def _name_envelopes(document: dict[str, Any]) -> None:
    """Name each envelope after its contents: `EnvelopeOfEmployeeDetail`."""
    components = document["components"]
    components["schemas"] = {_name(component): schema for component, schema in components["schemas"].items()}
    for reference in _references(document):
        reference["$ref"] = _SCHEMAS + _name(reference["$ref"].removeprefix(_SCHEMAS))


def _title_components(document: dict[str, Any]) -> None:
    """Give each component its name as title, and sort them."""
    components = document["components"]
    for name, schema in components["schemas"].items():
        schema["title"] = name
    components["schemas"] = dict(sorted(components["schemas"].items()))


def _name(component: str) -> str:
    """Return the name of a component whose envelope and contents FastAPI has written as `Envelope_Union_A__B__`."""
    envelope = _ENVELOPE.fullmatch(component)
    if envelope is None:
        return component
    inside = [word for word in re.split("_+", envelope[2]) if word not in ("", "Union")]
    return f"{envelope[1]}Of{'Or'.join(inside)}"


def _drop_made_up_titles(document: dict[str, Any]) -> None:
    """Remove the titles of fields and parameters: pydantic derives them from the names, which are there already."""
    for schema in document["components"]["schemas"].values():
        for field in schema.get("properties", {}).values():
            field.pop("title", None)
    for operation in _operations(document):
        for parameter in operation.get("parameters", ()):
            parameter["schema"].pop("title", None)
        for content in operation.get("requestBody", {}).get("content", {}).values():
            content["schema"].pop("title", None)


def _spell_out_objects(document: dict[str, Any]) -> None:
    """Say of query parameters that are objects that each key is written in brackets: `metadata[key]=value`."""
    for operation in _operations(document):
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query" and parameter["schema"].get("type") == "object":
                parameter |= {"style": "deepObject", "explode": True}


def _describe_optional_fields(document: dict[str, Any]) -> None:
    """Describe the defaults of fields in words; a field with only one value, a response's `deleted`, is required.

    TypeScript generators treat a field with a `default` as always present, so a request would have to include it.
    """
    for schema in document["components"]["schemas"].values():
        for field, described in schema.get("properties", {}).items():
            if "default" not in described:
                continue
            default = described.pop("default")
            if "const" in described:
                schema["required"] = [*schema.get("required", ()), field]
                continue
            note = f"`{_json(default)}` where it is left out."
            described["description"] = " ".join(filter(None, (described.get("description"), note)))


def _json(value: object) -> str:
    """Return a default as a reader would write it: `0`, not `0.0`; a word without quotation marks."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
    return str(value)


def _references(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every object inside `part` that only refers to a component."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)
