"""The OpenAPI document, the page made of it, and the examples in both: all of it true."""

import re
from typing import Any

import httpx
from fastapi import FastAPI

from hearthpay.access.permissions import SCOPES
from hearthpay.http.example import example_in
from tests.http.api import Account, data, refusal

WITHOUT_SCOPE = {
    "get /api/v1/jurisdictions/{state}",
    "get /api/v1/rules",
    "post /api/v1/ach/transfer",
    "post /api/v1/autopilot/enroll",
}
"""What any key of a fitting plan may ask."""


def _operations(app: FastAPI) -> list[tuple[str, str, dict[str, Any]]]:
    paths: dict[str, dict[str, Any]] = app.openapi()["paths"]
    return [(method, path, operation) for path, item in paths.items() for method, operation in item.items()]


async def test_the_document_is_complete(app: FastAPI, client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    assert document["security"] == [{"bearer": []}, {"header": []}]
    schemas = document["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    for method, path, operation in _operations(app):
        name = f"{method} {path}"
        assert operation["summary"], name
        assert operation["description"], name
        assert operation["tags"], name
        takes_something = "requestBody" in operation or any(
            entry["in"] == "query" for entry in operation.get("parameters", ())
        )
        assert bool(example_in(operation)) == takes_something, name
        assert "422" not in operation["responses"], name
        for status, response in operation["responses"].items():
            for media_type, content in response["content"].items():
                if media_type == "application/json":
                    refused = content["schema"]["$ref"].endswith("ErrorEnvelope")
                    assert refused == (not status.startswith("2")), name
                else:
                    assert status.startswith("2"), name
                    assert content["schema"]["type"] == "string", name
        assert name in WITHOUT_SCOPE or operation.get("x-required-scope") in SCOPES, name
        refused = operation["operationId"] == "enrollInAutopilot"  # always: there is nothing to repeat
        if method == "post" and not operation.get("deprecated") and not refused:
            assert "Idempotency-Key" in [entry["name"] for entry in operation["parameters"]], name
    for reference in re.findall(r"#/components/schemas/([\w.-]+)", (await client.get("/openapi.json")).text):
        assert reference in schemas


async def test_the_examples_of_households_and_employees_are_accepted_as_they_stand(
    app: FastAPI, account: Account
) -> None:
    """Only the id of the household is put in, which nobody can know beforehand."""
    examples = {(method, path): example_in(operation) for method, path, operation in _operations(app)}
    new_employer: Any = examples["post", "/api/v1/employers"]
    employer = data(await account.live.post("/employers", new_employer), 201)
    new_employee: Any = examples["post", "/api/v1/employees"]
    created = data(
        await account.live.post("/employees", {**new_employee, "employer_id": employer["id"]}), 201
    )
    query: Any = examples["get", "/api/v1/employees"]
    listed = data(await account.live.get("/employees", **{**query, "employer_id": employer["id"]}))
    (item,) = listed
    assert item.items() <= created.items()
    assert len(data(await account.live.get("/employers", **examples["get", "/api/v1/employers"]))) == 1


async def test_answers_have_exactly_the_documented_fields(app: FastAPI, account: Account) -> None:
    schemas = app.openapi()["components"]["schemas"]
    employer = data(
        await account.live.post(
            "/employers", {"first_name": "M", "last_name": "L", "email": "m@example.com", "state": "TX"}
        ),
        201,
    )
    assert set(employer) == set(schemas["CreatedEmployer"]["properties"])
    (listed,) = data(await account.live.get("/employers"))
    assert set(listed) == set(schemas["EmployerItem"]["properties"])
    employee = data(
        await account.live.post(
            "/employees", {"first_name": "R", "last_name": "D", "pay_rate": 20, "start_date": "2026-01-05"}
        ),
        201,
    )
    assert set(employee) == set(schemas["EmployeeDetail"]["properties"])
    (listed,) = data(await account.live.get("/employees", employer_id=employer["id"]))
    assert set(listed) == set(schemas["EmployeeItem"]["properties"])
    assert set(employee["onboarding"]) == set(schemas["Onboarding"]["properties"])


async def test_a_400_leads_to_its_place_in_the_documentation(
    account: Account, client: httpx.AsyncClient
) -> None:
    error = refusal(await account.live.post("/employees", {}), 400, "validation_error")
    address, _, anchor = error["docs_url"].partition("#")
    page = await client.get(address)
    assert page.headers["Content-Type"].startswith("text/html")
    assert f'id="{anchor}"' in page.text
    assert error["example"]["first_name"] == "Rosa"


async def test_the_page_needs_nothing_from_elsewhere(client: httpx.AsyncClient, app: FastAPI) -> None:
    page = (await client.get("/docs")).text
    assert re.findall("<script[^>]*>.*?</script>", page) == re.findall(
        '<script src="/docs/[^>]*></script>', page
    )
    around_examples = re.sub(r"<pre.*?</pre>", "", page, flags=re.DOTALL)
    assert "http://" not in around_examples
    assert "https://" not in around_examples
    for _, path, operation in _operations(app):
        assert path in page
        assert f'id="{operation["operationId"]}"' in page
