"""The contract: `year` and `tax_year` name the same parameter, in every operation that takes one of them."""

from typing import Any
from uuid import uuid4

import httpx

from tests.boundary.worlds import World
from tests.cases import every_case
from tests.endpoints import ENDPOINTS
from tests.endpoints.endpoint import Endpoint
from tests.http.api import fields, refusal
from tests.openapi.document import Document

OTHER = {"year": "tax_year", "tax_year": "year"}


def _years(document: Document, operation: dict[str, Any]) -> dict[str, bool]:
    """The names by which an operation documents the year, in its order, and whether each is required."""
    found = {
        each["name"]: bool(each.get("required"))
        for each in operation.get("parameters", ())
        if each["in"] == "query" and each["name"] in OTHER
    }
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is not None:
        schema = document.openapi["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
        required = schema.get("required", ())
        found |= {name: name in required for name in schema["properties"] if name in OTHER}
    return found


async def _ask(row: Endpoint, world: World, given: dict[str, Any]) -> httpx.Response:
    """Send the right request of a row with these names for the year instead of its own."""
    asked = row.request(world)
    path = row.path
    for name, identity in world.objects.items():
        path = path.replace(f"{{{name}}}", identity)
    household = {} if row.household is None else {"employer_id": world.employer_id}
    body, query = asked.body, asked.query
    if row.method == "GET":
        query = _with_years(query, given) | household
    else:
        body = _with_years(body or {}, given) | household
    headers = {"Authorization": f"Bearer {world.caller.key}", "Idempotency-Key": str(uuid4())}
    return await world.caller.client.request(
        row.method, f"/api/v1{path}", json=body, params=query, headers=headers
    )


def _with_years(request: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in OTHER} | given


async def test_both_names_are_understood_wherever_a_year_is_asked(
    document: Document, worlds: list[World]
) -> None:
    world = worlds[0]
    tried = 0
    with every_case() as case:
        for _, _, operation in document.operations():
            names = _years(document, operation)
            if not names:
                continue
            tried += 1
            with case(operation["operationId"]):
                own, other = names
                assert OTHER[own] == other
                assert not names[other]
                row = ENDPOINTS[operation["operationId"]]
                asked = row.request(world)
                year = int({**asked.query, **(asked.body or {})}.get(own, 2026))
                first = await _ask(row, world, {own: year})
                again = await _ask(row, world, {other: year})
                both = await _ask(row, world, {own: year, other: year})
                assert first.status_code == again.status_code == both.status_code < 300, again.text
                assert document.problems(again) == []
                differ = await _ask(row, world, {own: year, other: year - 1})
                error = refusal(differ, 400, "validation_error")
                assert error["details"] == [
                    {"field": other, "message": f"must be the same as {own}, or left out"}
                ]
                # What is wrong is told under the name that was sent; without any, under the documented one.
                assert fields(refusal(await _ask(row, world, {other: "x"}), 400, "validation_error")) == [
                    other
                ]
                neither = await _ask(row, world, {})
                if names[own]:
                    error = refusal(neither, 400, "validation_error")
                    assert error["details"] == [{"field": own, "message": "is required"}]
                else:
                    assert neither.status_code < 300
    assert tried >= 11
