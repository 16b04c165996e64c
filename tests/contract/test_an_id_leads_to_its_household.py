"""The contract, "Employers, employees": a call that names a thing of a household needs no `employer_id`.

Of an account with several households, whose key remembers none of them or another.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from tests.boundary.worlds import World
from tests.endpoints import ENDPOINTS
from tests.endpoints.endpoint import Endpoint
from tests.http.api import Account, Caller, NewAccount, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.made_in_turn import MadeInTurn

HOME = {"line1": "1 Main St", "line2": None, "city": "San Francisco", "state": "CA", "zip": "94103"}


@dataclass(frozen=True)
class Things:
    """Two households of one account, and what belongs to the second one."""

    first: str
    second: str
    employee_id: str
    payroll_id: str


@pytest.fixture
async def things(account: Account, made_in_turn: MadeInTurn) -> Things:
    async def make() -> Things:
        first = await add_household(account.live, address=HOME)
        second = await add_household(account.live, first_name="Carmen", address=HOME)
        employee_id = await add_employee(account.live, second)
        week = {"pay_period_start": "2026-11-02", "pay_period_end": "2026-11-08", "pay_date": "2026-11-20"}
        ran = data(await account.live.post("/payroll/run", payroll_of(second, employee_id, **week)))
        return Things(first, second, employee_id, ran["payroll_id"])

    return await made_in_turn.get("things", make)


def _world(things: Things, caller: Caller) -> World:
    return World(
        word="Lopez",
        caller=caller,
        organization_id=UUID(int=0),
        sandbox=False,
        pay_rate=Decimal(25),
        sui_rate=Decimal(0),
        employer_id=things.second,
        employee_id=things.employee_id,
        payroll_id=things.payroll_id,
        paid_id=things.payroll_id,
    )


CALLS: Final = {name: each for name, each in ENDPOINTS.items() if each.names_a_thing}
"""By operation: every one whose body or query names a thing of a household beside `employer_id`."""


async def send(caller: Caller, endpoint: Endpoint, things: Things, **more: str) -> httpx.Response:
    asked = (endpoint.by_thing or endpoint.request)(_world(things, caller))
    path = endpoint.path.format(**asked.path)
    if endpoint.method == "GET":
        return await caller.get(path, **asked.query, **more)
    return await caller.post(path, (asked.body or {}) | more)


@pytest.mark.completeness
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
    assert found == set(CALLS), "the right request of such an operation names the thing, or `by_thing` does"


@pytest.mark.parametrize("operation", CALLS)
async def test_no_employer_id_is_needed(
    operation: str, account: Account, things: Things, new_key: NewKey
) -> None:
    """It needs no `employer_id`, whether the key remembers no household or another one."""
    elsewhere = await new_key("Lopez family", employer_id=UUID(things.first))
    for caller in (account.live, elsewhere):
        response = await send(caller, CALLS[operation], things)
        if CALLS[operation].lacks:
            assert response.json()["error"]["code"] == CALLS[operation].lacks
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
    response = await send(account.live, CALLS[operation], things, employer_id=things.first)
    error = refusal(response, 400, CALLS[operation].contradiction)
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
        body = (await send(stranger, CALLS[operation], each)).text
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
