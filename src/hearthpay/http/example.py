"""The correct request of an endpoint, shown in its OpenAPI and with every 400 response.

An endpoint declares it once through `http.routing.describe`; a test sends every example through the endpoint's own
validation.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request

from hearthpay.http.runtime import address_of

QUERY_EXAMPLE_KEY: Final = "x-example-query"
"""The OpenAPI extension in which an endpoint without a body shows a correct query."""


_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "A request sent again with the same key and body is answered again and does nothing again.",
}


def operation_extras(*, body: object = None, query: object = None) -> dict[str, Any]:
    """Return the part of an OpenAPI operation with its example: of its body, or of its query."""
    if body is not None:
        example = {"requestBody": {"content": {"application/json": {"example": body}}}}
        return {**example, "parameters": [_IDEMPOTENCY_KEY]}
    return {QUERY_EXAMPLE_KEY: query or {}}


def example_in(extras: Mapping[str, Any] | None) -> object:
    """Return the example that `operation_extras` put into an operation; None if there is none."""
    if not extras:
        return None
    if "requestBody" in extras:
        example: object = extras["requestBody"]["content"]["application/json"]["example"]
        return example
    return extras.get(QUERY_EXAMPLE_KEY)


def example_of(request: Request) -> object:
    """Return a correct request for the endpoint that `request` targeted."""
    return example_in(getattr(request.scope.get("route"), "openapi_extra", None))


def docs_url_of(request: Request) -> str:
    """Return the documentation URL of the endpoint that `request` targeted."""
    operation = getattr(request.scope.get("route"), "operation_id", None)
    return f"{address_of(request)}/docs" + (f"#{quote(operation)}" if operation else "")
