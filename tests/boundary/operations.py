"""Every endpoint as the application and its OpenAPI document describe it: from there follows what a wrong key gets."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from fastapi import FastAPI

from hearthpay.http.routing import Endpoint


class Names(Enum):
    """How a request says whose rows it is about."""

    NOTHING = "the key alone"
    HOUSEHOLD_IN_BODY = "employer_id in the body"
    HOUSEHOLD_IN_QUERY = "employer_id in the query"
    HOUSEHOLD_IN_PATH = "employer_id in the path"
    OBJECT_IN_PATH = "another id in the path"


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint as the application and its document describe it."""

    id: str
    method: str
    path: str
    scope: str | None
    names: Names
    household_required: bool


def operations(app: FastAPI) -> dict[str, Operation]:
    """Every endpoint of the application, by its operation id."""
    document = app.openapi()
    found = {}
    for route in app.routes:
        if isinstance(route, Endpoint):
            for method in route.methods or ():
                described = document["paths"][route.path_format][method.lower()]
                names, required = _names(document, route, described)
                operation_id = described["operationId"]
                found[operation_id] = Operation(
                    operation_id, method, route.path_format, route.required_scope, names, required
                )
    return found


def _names(document: dict[str, Any], route: Endpoint, described: dict[str, Any]) -> tuple[Names, bool]:
    if "{employer_id}" in route.path_format:
        return Names.HOUSEHOLD_IN_PATH, True
    if "_id}" in route.path_format:
        return Names.OBJECT_IN_PATH, True
    for parameter in described.get("parameters", ()):
        if parameter["in"] == "query" and parameter["name"] == "employer_id":
            return Names.HOUSEHOLD_IN_QUERY, parameter.get("required", False)
    for content in described.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(document, content["schema"])
        if "employer_id" in schema["properties"]:
            return Names.HOUSEHOLD_IN_BODY, "employer_id" in schema.get("required", ())
    return Names.NOTHING, False


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema
