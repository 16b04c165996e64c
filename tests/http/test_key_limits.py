"""Keys that end, keys for one household, and when a key was last used."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.permissions import SCOPES
from hearthpay.access.refusal import Refusal
from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from tests.http.api import MARIA, ROSA, Account, Caller, data, refusal


@pytest.fixture
def issue(owner_database: Database, clock: FixedClock, client: httpx.AsyncClient) -> Any:
    async def issue(mode: str = "live", **options: Any) -> Caller:
        async with owner_database.transaction(None) as session:
            organization = await accounts.find_organization(session, "Lopez family")
            assert organization is not None
            key = await accounts.create_key(session, clock, organization, mode=mode, scopes=SCOPES, **options)
        return Caller(client, key.text, key.id)

    return issue


async def test_a_key_ends_at_its_time(account: Account, issue: Any, clock: FixedClock) -> None:
    key = await issue(expires_at=clock.now() + timedelta(seconds=3))
    data(await key.get("/employers"))
    clock.advance(timedelta(seconds=3))  # while it is still remembered
    refusal(await key.get("/employers"), 401, "authentication_required")
    clock.advance(timedelta(minutes=1))
    refusal(await key.get("/employers"), 401, "authentication_required")
    with pytest.raises(Refusal, match="expires_at"):
        await issue(expires_at=clock.now())


async def test_for_a_confined_key_no_other_household_exists(account: Account, issue: Any) -> None:
    own = data(await account.live.post("/employers", MARIA), 201)["id"]
    other = data(await account.live.post("/employers", MARIA), 201)["id"]
    foreign = data(await account.live.post("/employees", {**ROSA, "employer_id": other}), 201)["id"]
    key = await issue(employer_id=UUID(own), confined=True)
    assert [item["id"] for item in data(await key.get("/employers"))] == [own]
    employee = data(await key.post("/employees", ROSA), 201)
    assert employee["employer_id"] == own
    refusal(await key.get("/employees", employer_id=other), 403, "household_forbidden")
    refusal(await key.post("/employees", {**ROSA, "employer_id": other}), 403, "household_forbidden")
    refusal(await key.post("/employers", MARIA), 403, "household_forbidden")
    refusal(await key.post(f"/employees/{foreign}/terminate", {}), 404, "not_found")
    data(await key.post(f"/employees/{employee['id']}/terminate", {}))
    assert data(await key.get("/payrolls")) == []


async def test_a_confined_key_does_not_replay_what_a_wide_one_was_answered(
    account: Account, issue: Any
) -> None:
    own = data(await account.live.post("/employers", MARIA), 201)["id"]
    other = data(await account.live.post("/employers", MARIA), 201)["id"]
    wide = await issue(employer_id=UUID(own))
    confined = await issue(employer_id=UUID(own), confined=True)
    body = {**ROSA, "employer_id": other}
    data(await wide.post("/employees", body, idempotency_key="once"), 201)
    refusal(await confined.post("/employees", body, idempotency_key="once"), 403, "household_forbidden")


async def test_an_idempotency_key_of_a_confined_key_is_its_households(
    account: Account, issue: Any, owner_connection: psycopg.Connection
) -> None:
    """Siblings and the organization use the same one for requests of their own, and nobody gets another's answer."""
    homes = [data(await account.live.post("/employers", MARIA), 201)["id"] for _ in range(2)]
    confined = [await issue(employer_id=UUID(home), confined=True) for home in homes]
    bodies = [{**ROSA, "employer_id": home} for home in homes]
    employed = []
    for caller, body in zip(
        (*confined, account.live), (*bodies, {**bodies[0], "first_name": "Ana"}), strict=True
    ):
        first = await caller.post("/employees", body, idempotency_key="once")
        assert data(first, 201)["employer_id"] == body["employer_id"]
        assert "Idempotent-Replayed" not in first.headers
        again = await caller.post("/employees", body, idempotency_key="once")
        assert (again.content, again.headers["Idempotent-Replayed"]) == (first.content, "true")
        employed.append(data(first, 201)["id"])
    assert len(set(employed)) == 3
    for caller, other in zip(confined, reversed(bodies), strict=True):
        refused = await caller.post("/employees", other, idempotency_key="once")
        refusal(refused, 409, "idempotency_conflict")
        refused = await caller.post("/employees", other, idempotency_key="another")
        refusal(refused, 403, "household_forbidden")
    rows = owner_connection.execute(
        "SELECT confined_to::text FROM idempotency_keys WHERE key = 'once' ORDER BY confined_to"
    ).fetchall()
    assert [home for (home,) in rows] == [str(UUID(int=0)), *sorted(homes)]


async def test_a_confined_key_repeats_what_it_asked_before_an_upgrade(
    account: Account, issue: Any, owner_connection: psycopg.Connection
) -> None:
    """The earlier version noted no household with the key: the payroll that it ran isn't run again."""
    own = data(await account.live.post("/employers", MARIA), 201)["id"]
    confined = await issue(employer_id=UUID(own), confined=True)
    first = await confined.post("/employees", ROSA, idempotency_key="once")
    owner_connection.execute(
        "UPDATE idempotency_keys SET confined_to = %s, permissions = NULL", (UUID(int=0),)
    )
    again = await confined.post("/employees", ROSA, idempotency_key="once")
    assert (again.content, again.headers["Idempotent-Replayed"]) == (first.content, "true")
    other = await confined.post("/employees", {**ROSA, "first_name": "Ana"}, idempotency_key="once")
    assert data(other, 201)["first_name"] == "Ana"


async def test_a_confined_key_without_its_household_opens_nothing(
    account: Account, issue: Any, clock: FixedClock
) -> None:
    data(await account.test.post("/employers", MARIA), 201)
    own = data(await account.test.post("/employers", MARIA), 201)["id"]
    key = await issue("test", employer_id=UUID(own), confined=True)
    data(await key.get("/employers"))
    deleted = await account.test.client.delete(f"/api/v1/employers/{own}", headers=account.test.headers())
    assert deleted.status_code == 200
    clock.advance(timedelta(seconds=6))
    refusal(await key.get("/employers"), 401, "authentication_required")
    with pytest.raises(Refusal, match="employer_id"):
        await issue("test", confined=True)


async def test_when_it_was_last_used_is_noted_beside_the_requests(
    app: FastAPI, account: Account, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    keys = app.state.runtime.keys

    async def noted() -> Any:
        await keys.settle()
        query = "SELECT last_used_at FROM api_keys WHERE id = %s"
        row = owner_connection.execute(query, (account.live.key_id,)).fetchone()
        assert row is not None
        return row[0]

    assert await noted() is None
    data(await account.live.get("/employers"))
    first = await noted()
    assert first == clock.now()
    clock.advance(timedelta(minutes=5))
    data(await account.live.get("/employers"))
    assert await noted() == first
    clock.advance(timedelta(minutes=10))
    data(await account.live.get("/employers"))
    assert await noted() == clock.now()
