"""The EIN's way: none, pending, approved; every other step is refused and changes nothing."""

import asyncio
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import Database
from hearthpay.employers.ein_status import NEXT, set_ein_status
from hearthpay.employers.schemas import EinStatus
from tests.http.api import Account, data

ALLOWED = {("none", "pending"), ("pending", "approved"), ("pending", "none")}


async def change(database: Database, employer_id: UUID, status: EinStatus) -> EinStatus:
    async with database.transaction(None) as session:
        return await set_ein_status(session, employer_id, status)


async def status_of(account: Account) -> str:
    (household,) = data(await account.live.get("/employers"))
    status: str = household["ein_status"]
    return status


def trail(owner: psycopg.Connection) -> list[Any]:
    return owner.execute(
        "SELECT actor_kind, actor_id, employer_id, subject_id, sandbox, details FROM audit_log "
        "WHERE action = 'employer.ein_status' ORDER BY id"
    ).fetchall()


async def test_applied_refused_applied_again_and_approved(
    account: Account,
    household: dict[str, Any],
    owner_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    employer_id = UUID(household["id"])
    steps: list[EinStatus] = ["pending", "none", "pending", "approved"]
    before: EinStatus = "none"
    for status in steps:
        assert await change(owner_database, employer_id, status) == before
        assert await status_of(account) == status
        before = status
    assert [row[5] for row in trail(owner_connection)] == [
        {"before": "none", "after": "pending"},
        {"before": "pending", "after": "none"},
        {"before": "none", "after": "pending"},
        {"before": "pending", "after": "approved"},
    ]
    assert {row[:5] for row in trail(owner_connection)} == {
        ("operator", None, employer_id, employer_id, False)
    }


@pytest.mark.parametrize(("before", "after"), [pair for pair in product(NEXT, NEXT) if pair not in ALLOWED])
async def test_every_other_step_is_refused(
    account: Account,
    household: dict[str, Any],
    owner_database: Database,
    owner_connection: psycopg.Connection,
    before: EinStatus,
    after: EinStatus,
) -> None:
    employer_id = UUID(household["id"])
    owner_connection.execute("UPDATE employers SET ein_status = %s", (before,))
    with pytest.raises(Refusal) as refused:
        await change(owner_database, employer_id, after)
    assert refused.value.code == "invalid_state"
    assert refused.value.details == {"ein_status": before, "allowed": list(NEXT[before])}
    assert f"is {before}," in refused.value.message
    assert all(status in refused.value.message for status in NEXT[before])
    assert await status_of(account) == before
    assert trail(owner_connection) == []


async def test_an_unknown_household_is_refused(owner_database: Database) -> None:
    with pytest.raises(Refusal) as refused:
        await change(owner_database, uuid4(), "pending")
    assert refused.value.code == "not_found"


async def test_only_the_named_household_changes(
    account: Account, household: dict[str, Any], owner_database: Database
) -> None:
    other = data(await account.live.post("/employers", {**household_body(household), "state": "NY"}), 201)
    await change(owner_database, UUID(other["id"]), "pending")
    statuses = {row["id"]: row["ein_status"] for row in data(await account.live.get("/employers"))}
    assert statuses == {household["id"]: "none", other["id"]: "pending"}


async def test_of_two_decisions_at_once_one_holds(
    account: Account,
    household: dict[str, Any],
    owner_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    """Approved is final, so where the refusal comes second it must not undo it."""
    employer_id = UUID(household["id"])
    await change(owner_database, employer_id, "pending")
    outcomes = await asyncio.gather(
        change(owner_database, employer_id, "approved"),
        change(owner_database, employer_id, "none"),
        return_exceptions=True,
    )
    assert sum(outcome == "pending" for outcome in outcomes) == 1
    (refused,) = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    assert refused.code == "invalid_state"
    assert len(trail(owner_connection)) == 2
    assert await status_of(account) == trail(owner_connection)[-1][5]["after"]


def household_body(household: dict[str, Any]) -> dict[str, Any]:
    return {name: household[name] for name in ("first_name", "last_name", "email")}
