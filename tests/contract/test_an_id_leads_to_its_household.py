"""The contract, "Employers, employees": a call that names a thing of a household needs no `employer_id`.

Of an account with several households, whose key remembers none of them or another.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from tests.http.api import Account, Caller, NewAccount, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, add_household, payroll_of

HOME = {"line1": "1 Main St", "line2": None, "city": "San Francisco", "state": "CA", "zip": "94103"}


@dataclass
class Things:
    """Two households of one account, and what belongs to the second one."""

    first: str
    second: str
    employee_id: str
    payroll_id: str


@pytest.fixture
async def things(account: Account) -> Things:
    first = await add_household(account.live, address=HOME)
    second = await add_household(account.live, first_name="Carmen", address=HOME)
    employee_id = await add_employee(account.live, second)
    ran = data(await account.live.post("/payroll/run", payroll_of(second, employee_id)))
    return Things(first, second, employee_id, ran["payroll_id"])


def _week(things: Things) -> dict[str, Any]:
    week = {"pay_period_start": "2026-11-16", "pay_period_end": "2026-11-22", "pay_date": "2026-11-22"}
    body = payroll_of(things.second, things.employee_id, **week)
    del body["employer_id"]
    return body


Request = tuple[str, str, dict[str, Any]]
CALLS: dict[str, Callable[[Things], Request]] = {
    "previewPayroll": lambda t: ("POST", "/payroll/preview", _week(t)),
    "explainPayroll": lambda t: ("POST", "/payroll/explain", _week(t)),
    "runPayroll": lambda t: ("POST", "/payroll/run", _week(t)),
    "listPayrolls": lambda t: ("GET", "/payrolls", {"employee_id": t.employee_id}),
    "issuePaystub": lambda t: (
        "POST",
        "/documents/paystub",
        {"payroll_id": t.payroll_id, "employee_id": t.employee_id},
    ),
    "issueW2": lambda t: ("POST", "/documents/w2", {"employee_id": t.employee_id, "tax_year": 2026}),
    "getAutopilot": lambda t: ("GET", "/autopilot", {"employee_id": t.employee_id}),
    "listAutopilotHistory": lambda t: ("GET", "/autopilot/history", {"employee_id": t.employee_id}),
    "manageAutopilot": lambda t: ("POST", "/autopilot/disable", {"employee_id": t.employee_id}),
}
"""By operation: every one whose body or query names a thing of a household beside `employer_id`."""

AFTERWARDS = {"issueW2": "document_not_available", "manageAutopilot": "not_found"}
"""What refuses a call once its household is known: no EIN yet, nobody enrolled."""


async def send(caller: Caller, request: Request, **more: str) -> httpx.Response:
    method, path, said = request
    return await (caller.get(path, **said, **more) if method == "GET" else caller.post(path, said | more))


def test_every_operation_that_names_a_thing_beside_the_household_is_tried(app: FastAPI) -> None:
    """Any call that names a payroll, employee or other thing of a household."""
    document = app.openapi()
    schemas = document["components"]["schemas"]
    found = set()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            names = {each["name"] for each in operation.get("parameters", ())}
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            reference = content.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]
            properties = schemas.get(reference, {}).get("properties", {})
            names |= set(properties) | set(re.findall(r"{(\w+)}", path))
            if "employees" in properties:
                names.add("employee_id")
            things = {name for name in names if name.endswith("_id")} - {"employer_id"}
            if "employer_id" in names and things:
                found.add(operation["operationId"])
    assert found == set(CALLS)


@pytest.mark.parametrize("operation", CALLS)
async def test_no_employer_id_is_needed(
    operation: str, account: Account, things: Things, new_key: NewKey
) -> None:
    """It needs no `employer_id`, whether the key remembers no household or another one."""
    elsewhere = await new_key("Lopez family", employer_id=UUID(things.first))
    for caller in (account.live, elsewhere):
        response = await send(caller, CALLS[operation](things))
        if operation in AFTERWARDS:
            assert response.json()["error"]["code"] == AFTERWARDS[operation]
            continue
        assert response.is_success, response.text
        if operation == "runPayroll":
            ran = data(response)
            assert ran["employer_id"] == things.second
            data(await caller.post(f"/payroll/{ran['payroll_id']}/void", {}))
        elif operation == "listPayrolls":
            assert [each["payroll_id"] for each in data(response)] == [things.payroll_id]


@pytest.mark.parametrize("operation", CALLS)
async def test_where_both_are_given_they_must_agree(
    operation: str, account: Account, things: Things, counts: Any
) -> None:
    """Another household of the account beside it is a 400, and changes nothing."""
    before = counts()
    by_field = operation in ("listPayrolls", "issuePaystub", "issueW2")
    response = await send(account.live, CALLS[operation](things), employer_id=things.first)
    error = refusal(response, 400, "validation_error" if by_field else "employee_not_in_household")
    if error["code"] == "validation_error":
        assert fields(error) == ["employer_id"]
    assert counts() == before


@pytest.mark.parametrize("operation", CALLS)
async def test_a_strangers_thing_is_as_one_that_is_not_there(
    operation: str, account: Account, things: Things, new_account: NewAccount
) -> None:
    """Whether a thing of others exists is not told."""
    stranger = (await new_account("Chen family")).live
    for name in ("One", "Other"):
        await add_household(stranger, first_name=name)
    absent = "019a9f2e-7c1d-7a3b-9d52-000000000000"
    nothing = Things(things.first, things.second, absent, absent)
    answers = []
    for each in (things, nothing):
        body = (await send(stranger, CALLS[operation](each))).text
        for name in (each.employee_id, each.payroll_id):
            body = body.replace(name, "ID")
        answers.append(re.sub(r"req_\w+|[0-9a-f-]{36}", "", body))
    assert answers[0] == answers[1]


async def test_what_a_payroll_hands_out_is_taken_as_it_stands(account: Account, things: Things) -> None:
    """`documents[].body` of `GET /payroll/{id}` is sent as it stands."""
    read = data(await account.live.get(f"/payroll/{things.payroll_id}"))
    (document,) = read["documents"]
    stub = await account.live.post(document["path"].removeprefix("/api/v1"), document["body"])
    assert stub.status_code == 200, stub.text
    assert stub.headers["content-type"] == "application/pdf"


async def test_direct_deposit_status_of_the_other_mode(
    account: Account, things: Things, new_account: NewAccount
) -> None:
    """dd-status of a household of the other mode is 403 `key_mode_mismatch`; a stranger's is 404."""
    sandbox = await add_household(account.test)
    refusal(await account.live.get(f"/employers/{sandbox}/dd-status"), 403, "key_mode_mismatch")
    refusal(await account.test.get(f"/employers/{things.first}/dd-status"), 403, "key_mode_mismatch")
    stranger = await new_account("Chen family")
    for caller in (stranger.live, stranger.test):
        for household in (sandbox, things.first):
            refusal(await caller.get(f"/employers/{household}/dd-status"), 404, "not_found")
