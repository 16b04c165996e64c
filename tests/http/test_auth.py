"""Keys: who gets in, how far, and until when."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.accounts import service as accounts
from hearthpay.app import OPEN_PATHS
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.key_lookup import REMEMBERED_FOR
from hearthpay.security.api_keys import generate
from tests.http.api import Account, NewKey, data, refusal


def _operations(app: FastAPI) -> list[tuple[str, str]]:
    paths: dict[str, dict[str, Any]] = app.openapi()["paths"]
    return [(method.upper(), path) for path, item in paths.items() for method in item]


async def test_no_operation_answers_without_a_key(app: FastAPI, client: httpx.AsyncClient) -> None:
    operations = _operations(app)
    assert operations
    for method, path in operations:
        response = await client.request(method, path.replace("{", "").replace("}", ""), content=b"not json")
        refusal(response, 401, "authentication_required")
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


async def test_only_the_documented_addresses_are_open(client: httpx.AsyncClient) -> None:
    for path in OPEN_PATHS:
        assert (await client.get(path)).status_code == 200, path


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic aHA6bGl2ZQ=="},
        {"Authorization": "Bearer hp_live_short"},
        {"Authorization": f"Bearer {generate('live').text}"},
        {"Authorization": f"Bearer {generate('live').text[:-1]}!"},
        {"Authorization": b"Bearer hp_live_\xff\xfe"},
        {"X-API-Key": "hp_live_nothing"},
        {"X-API-Key": generate("test").text},
    ],
)
async def test_a_missing_malformed_or_unknown_key_is_refused(
    account: Account, client: httpx.AsyncClient, headers: dict[str, Any]
) -> None:
    refusal(await client.get("/api/v1/employers", headers=headers), 401, "authentication_required")


async def test_a_key_is_taken_from_either_header(account: Account, client: httpx.AsyncClient) -> None:
    key = account.live.key
    for headers in (
        {"Authorization": f"Bearer {key}"},
        {"authorization": f"bearer  {key} "},
        {"X-API-Key": key},
    ):
        assert data(await client.get("/api/v1/employers", headers=headers)) == []


async def test_a_key_without_the_scope_is_told_which_one_it_needs(new_key: NewKey) -> None:
    caller = await new_key("Agency", scopes=("payroll", "calculator"))
    error = refusal(await caller.post("/employees", {}), 403, "scope_required")
    assert error["details"] == {"required_scope": "employees", "scopes": ["calculator", "payroll"]}


async def test_a_revoked_key_is_refused_within_five_seconds(
    account: Account, owner_database: Database, clock: FixedClock
) -> None:
    data(await account.live.get("/employers"))
    async with owner_database.transaction(None) as session:
        await accounts.revoke_key(session, clock, account.live.key_id)
    clock.advance(REMEMBERED_FOR - timedelta(seconds=1))
    data(await account.live.get("/employers"))
    clock.advance(timedelta(seconds=1))
    refusal(await account.live.get("/employers"), 401, "authentication_required")
    data(await account.test.get("/employers"))


async def test_a_clock_set_back_does_not_prolong_a_key(
    account: Account, owner_database: Database, clock: FixedClock
) -> None:
    data(await account.live.get("/employers"))
    async with owner_database.transaction(None) as session:
        await accounts.revoke_key(session, clock, account.live.key_id)
    clock.advance(timedelta(hours=-1))
    refusal(await account.live.get("/employers"), 401, "authentication_required")


async def test_the_database_keeps_no_key(account: Account, owner_connection: psycopg.Connection) -> None:
    rows = owner_connection.execute("SELECT row_to_json(k)::text FROM api_keys k").fetchall()
    assert len(rows) == 2
    for (row,) in rows:
        assert account.live.key[8:] not in row
        assert account.test.key[8:] not in row


async def test_a_key_that_remembers_a_household_of_the_other_mode(
    account: Account, new_key: NewKey, household: dict[str, Any]
) -> None:
    sandbox = data(await account.test.post("/employers", {**household_body(household)}), 201)
    live = await new_key("Lopez family", employer_id=UUID(sandbox["id"]))
    body = {"first_name": "Rosa", "last_name": "Diaz", "pay_rate": 28.5, "start_date": "2026-01-05"}

    error = refusal(await live.post("/employees", body), 403, "key_mode_mismatch")
    assert error["details"]["required_mode"] == "test"
    assert "employer_id" in error["message"]
    data(await live.post("/employees", {**body, "employer_id": household["id"]}), 201)


def household_body(household: dict[str, Any]) -> dict[str, Any]:
    return {name: household[name] for name in ("first_name", "last_name", "email", "state")}
