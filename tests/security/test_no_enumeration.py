"""Nobody learns by trying what exists: refusals of the unknown and of the foreign are the same to the byte."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.key_lookup import REMEMBERED_FOR
from hearthpay.security.api_keys import generate
from tests.http.api import (
    MARIA,
    ROSA,
    Account,
    NewAccount,
    account,
    app,
    client,
    data,
    new_account,
    new_key,
)

__all__ = ["account", "app", "client", "new_account", "new_key"]


def face(response: httpx.Response, *sent: str) -> tuple[Any, ...]:
    """All that a client can see, save the request's id and what it sent itself."""
    text, headers = response.text, dict(response.headers)
    request_id = headers.pop("x-request-id")
    headers.pop("ratelimit-remaining", None)  # counts the client's own requests
    for own in (request_id, *sent):
        text = text.replace(own, "*")
    return response.status_code, headers, text


async def test_unknown_malformed_and_revoked_keys_are_refused_alike(
    account: Account, client: httpx.AsyncClient, owner_database: Database, clock: FixedClock
) -> None:
    async with owner_database.transaction(None) as session:
        await accounts.revoke_key(session, clock, account.live.key_id)
    clock.advance(REMEMBERED_FOR)
    unknown = generate("live").text
    mistyped = account.test.key[:-1] + ("a" if account.test.key[-1] != "a" else "b")
    keys = [account.live.key, unknown, generate("test").text, mistyped, "hp_live_short", "x", "é" * 50]
    for method, path in (("GET", "/api/v1/employers"), ("POST", "/api/v1/payroll/run")):
        faces = []
        for key in keys:
            for headers in ({"Authorization": f"Bearer {key}".encode()}, {"X-API-Key": key.encode()}):
                response = await client.request(method, path, headers=headers, content=b"{")
                assert response.status_code == 401
                faces.append(face(response))
        assert all(other == faces[0] for other in faces), faces


@pytest.mark.parametrize("mode", ["live", "test"])
async def test_a_strangers_household_is_refused_like_one_that_does_not_exist(
    account: Account, new_account: NewAccount, mode: str
) -> None:
    data(await account.live.post("/employers", MARIA), 201)
    data(await account.test.post("/employers", MARIA), 201)
    stranger = await new_account("Stranger")
    callers = {"live": stranger.live, "test": stranger.test}
    household = data(await callers[mode].post("/employers", MARIA), 201)["id"]
    employee = data(await callers[mode].post("/employees", {**ROSA, "employer_id": household}), 201)["id"]
    for caller in (account.live, account.test):
        for foreign, path, body in requests(household, employee):
            unknown = str(uuid4())
            there = await send(caller, path, body, foreign, foreign)
            nowhere = await send(caller, path, body, foreign, unknown)
            assert there.status_code in (400, 403, 404)
            assert face(there, foreign) == face(nowhere, unknown)


def requests(household: str, employee: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    """The id in question, the address, and the body: everywhere a household or an employee can be named."""
    payroll = {
        "pay_period_start": "2026-11-09",
        "pay_period_end": "2026-11-15",
        "pay_date": "2026-11-20",
        "pay_frequency": "weekly",
        "employees": [{"employee_id": employee, "regular_hours": 8}],
    }
    return [
        (household, f"GET /employees?employer_id={household}", None),
        (household, f"GET /payrolls?employer_id={household}", None),
        (household, f"DELETE /employers/{household}", None),
        (household, "POST /employees", {**ROSA, "employer_id": household}),
        (household, "POST /payroll/preview", {**payroll, "employer_id": household}),
        (household, "POST /payroll/run", {**payroll, "employer_id": household}),
        (employee, f"PATCH /employees/{employee}", {"pay_rate": 30}),
        (employee, f"POST /employees/{employee}/terminate", {"end_date": "2026-11-20"}),
        (employee, "POST /payroll/preview", payroll),
        (employee, "POST /payroll/run", payroll),
        (household, f"GET /payroll/{household}", None),
    ]


async def send(caller: Any, address: str, body: dict[str, Any] | None, foreign: str, instead: str) -> Any:
    """Send the request with `instead` in the place of the `foreign` id."""
    method, path = address.replace(foreign, instead).split(" ")
    content = None if body is None else httpx.Request("POST", "http://x", json=body).content.decode()
    return await caller.client.request(
        method,
        f"/api/v1{path}",
        content=None if content is None else content.replace(foreign, instead),
        headers=caller.headers(),
    )
