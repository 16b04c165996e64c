"""Organizations and keys, as the operator makes them."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.accounts import service
from hearthpay.accounts.models import Organization
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from tests.http.api import MARIA, Account


async def _organization(database: Database, clock: FixedClock, name: str = "Lopez family") -> Organization:
    async with database.transaction(None) as session:
        return await service.create_organization(session, clock, name)


async def _found(session: AsyncSession, name: str = "Lopez family") -> Organization:
    found = await service.find_organization(session, name)
    assert found is not None
    return found


async def _key(
    database: Database, clock: FixedClock, owner: Organization, **changes: Any
) -> service.IssuedKey:
    requested: dict[str, Any] = {"mode": "live", "scopes": ("payroll", "calculator"), **changes}
    async with database.transaction(None) as session:
        return await service.create_key(session, clock, owner, **requested)


async def test_an_organization_is_found_by_its_name(owner_database: Database, clock: FixedClock) -> None:
    created = await _organization(owner_database, clock, "  Lopez family ")
    async with owner_database.transaction(None) as session:
        found = await service.find_organization(session, "Lopez family")
        assert found is not None
        assert found.id == created.id
        assert found.created_at == clock.now()
        assert await service.find_organization(session, "nobody") is None


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\nb", "a\x00b", "Lopez family"])
async def test_an_unfit_or_taken_name_is_refused(
    owner_database: Database, clock: FixedClock, name: str
) -> None:
    await _organization(owner_database, clock)
    with pytest.raises(Refusal) as refused:
        await _organization(owner_database, clock, name)
    assert refused.value.code == "validation_error"


async def test_a_key_is_issued_listed_and_revoked(owner_database: Database, clock: FixedClock) -> None:
    organization = await _organization(owner_database, clock)
    issued = await _key(owner_database, clock, organization, mode="test")
    assert issued.text.startswith("hp_test_")
    assert issued.scopes == ("calculator", "payroll")
    assert issued.text not in repr(issued)
    for _ in range(2):  # revoking again changes nothing
        async with owner_database.transaction(None) as session:
            await service.revoke_key(session, clock, issued.id)
    async with owner_database.transaction(None) as session:
        (record,) = await service.list_keys(session, organization)
    assert record.last_four == issued.text[-4:]
    assert record.revoked_at == clock.now()


async def test_what_is_no_key_cannot_be_revoked(owner_database: Database, clock: FixedClock) -> None:
    with pytest.raises(Refusal) as refused:
        async with owner_database.transaction(None) as session:
            await service.revoke_key(session, clock, uuid4())
    assert refused.value.code == "not_found"


@pytest.mark.parametrize("scopes", [(), ("payroll", "everything")])
async def test_a_key_carries_known_scopes_only(
    owner_database: Database, clock: FixedClock, scopes: tuple[str, ...]
) -> None:
    organization = await _organization(owner_database, clock)
    with pytest.raises(Refusal, match="scopes"):
        await _key(owner_database, clock, organization, scopes=scopes)


async def test_a_key_remembers_only_a_household_of_its_organization(
    account: Account, household: dict[str, Any], owner_database: Database, clock: FixedClock
) -> None:
    other = await _organization(owner_database, clock, "Other family")
    for employer_id in (UUID(household["id"]), uuid4()):
        with pytest.raises(Refusal, match="employer_id"):
            await _key(owner_database, clock, other, employer_id=employer_id)


async def test_the_sixth_key_is_refused_until_one_is_revoked(
    owner_database: Database, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    organization = await _organization(owner_database, clock)
    results = await asyncio.gather(
        *(_key(owner_database, clock, organization) for _ in range(8)), return_exceptions=True
    )
    issued = [result for result in results if isinstance(result, service.IssuedKey)]
    refused = [result for result in results if isinstance(result, Refusal)]
    assert (len(issued), len(refused)) == (5, 3)
    assert {error.code for error in refused} == {"plan_limit_reached"}
    assert owner_connection.execute("SELECT count(*) FROM api_keys").fetchone() == (5,)
    async with owner_database.transaction(None) as session:
        await service.revoke_key(session, clock, issued[0].id)
    await _key(owner_database, clock, organization)


async def test_a_lifted_limit_of_keys_holds(owner_database: Database, clock: FixedClock) -> None:
    organization = await _organization(owner_database, clock)
    async with owner_database.transaction(None) as session:
        await service.lift_limits(session, await _found(session), {"keys": 6})
    for _ in range(6):
        await _key(owner_database, clock, organization)
    with pytest.raises(Refusal) as refused:
        await _key(owner_database, clock, organization)
    assert refused.value.details == {
        "plan": "professional",
        "limit": 6,
        "current": 6,
        "limit_name": "keys",
    }


async def test_a_new_organization_is_on_the_plan_named_or_on_the_largest(
    owner_database: Database, clock: FixedClock
) -> None:
    assert (await _organization(owner_database, clock)).plan == "professional"
    async with owner_database.transaction(None) as session:
        assert (await service.create_organization(session, clock, "Free", plan="free")).plan == "free"
    with pytest.raises(Refusal, match="plan"):
        async with owner_database.transaction(None) as session:
            await service.create_organization(session, clock, "Other", plan="platinum")


async def test_plans_and_limits_change_with_a_trace_of_before_and_after(
    owner_database: Database, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    organization = await _organization(owner_database, clock)
    async with owner_database.transaction(None) as session:
        found = await _found(session)
        await service.set_plan(session, found, "plus")
        await service.set_plan(session, found, "plus")  # nothing changes, nothing is noted
        await service.lift_limits(session, found, {"keys": 9, "households": None})
        await service.lift_limits(session, found, {"keys": 9})
        await service.lift_limits(session, found, {"requests_per_day": 0}, restored=("keys", "households"))
    async with owner_database.transaction(None) as session:
        found = await _found(session)
        assert (found.plan, found.lifted_limits) == ("plus", {"requests_per_day": 0})
    rows = owner_connection.execute(
        "SELECT action, actor_kind, organization_id, subject_id, details FROM audit_log ORDER BY id"
    ).fetchall()
    assert {row[1:4] for row in rows} == {("operator", organization.id, organization.id)}
    lifted = {"keys": 9, "households": None}
    assert [(row[0], row[4]) for row in rows] == [
        ("organization.create", {"plan": "professional"}),
        ("organization.set_plan", {"before": {"plan": "professional"}, "after": {"plan": "plus"}}),
        ("organization.lift", {"before": {}, "after": lifted}),
        ("organization.lift", {"before": lifted, "after": {"requests_per_day": 0}}),
    ]


@pytest.mark.parametrize(
    ("lifted", "restored"),
    [
        ({"keys": -1}, ()),
        ({"keys": 1_000_000_001}, ()),
        ({"requests_per_hour": 1}, ()),
        ({}, ("everything",)),
        ({"keys": 7, "gold": 1}, ()),
    ],
)
async def test_only_limits_that_there_are_can_be_lifted(
    owner_database: Database, clock: FixedClock, lifted: dict[str, int | None], restored: tuple[str, ...]
) -> None:
    await _organization(owner_database, clock)
    with pytest.raises(Refusal) as refused:
        async with owner_database.transaction(None) as session:
            await service.lift_limits(session, await _found(session), lifted, restored=restored)
    assert refused.value.code == "validation_error"
    async with owner_database.transaction(None) as session:
        assert (await _found(session)).lifted_limits == {}


async def test_two_operators_lift_different_limits_at_once(
    owner_database: Database, clock: FixedClock
) -> None:
    await _organization(owner_database, clock)

    async def lift(name: str) -> None:
        async with owner_database.transaction(None) as session:
            await service.lift_limits(session, await _found(session), {name: 7})

    await asyncio.gather(lift("keys"), lift("households"))
    async with owner_database.transaction(None) as session:
        assert (await _found(session)).lifted_limits == {"keys": 7, "households": 7}


async def test_the_list_counts_what_each_organization_has(
    account: Account, household: dict[str, Any], owner_database: Database, clock: FixedClock
) -> None:
    for _ in range(2):
        assert (await account.test.post("/employers", MARIA)).status_code == 201
    await _organization(owner_database, clock, "Albright family")
    async with owner_database.transaction(None) as session:
        await service.revoke_key(session, clock, account.live.key_id)
        empty, full = await service.list_organizations(session)
    assert (empty.name, empty.households, empty.sandbox_households, empty.keys) == (
        "Albright family",
        0,
        0,
        0,
    )
    assert (full.name, full.households, full.sandbox_households, full.keys) == ("Lopez family", 1, 2, 1)


async def test_every_deed_leaves_a_trace_without_the_key(
    owner_database: Database, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    organization = await _organization(owner_database, clock)
    issued = await _key(owner_database, clock, organization)
    async with owner_database.transaction(None) as session:
        await service.revoke_key(session, clock, issued.id)
    rows = owner_connection.execute(
        "SELECT action, actor_kind, organization_id, subject_id, details::text FROM audit_log ORDER BY id"
    ).fetchall()
    assert [row[:4] for row in rows] == [
        ("organization.create", "operator", organization.id, organization.id),
        ("key.create", "operator", organization.id, issued.id),
        ("key.revoke", "operator", organization.id, issued.id),
    ]
    assert issued.text not in str(rows)


async def test_the_service_itself_can_issue_nothing(
    database: Database, owner_database: Database, clock: FixedClock
) -> None:
    organization = await _organization(owner_database, clock)
    for change in ("plan = 'free'", "lifted_limits = '{}'"):
        with pytest.raises(ProgrammingError):
            async with database.transaction(Tenant(organization.id, sandbox=False)) as session:
                await session.execute(text(f"UPDATE organizations SET {change}"))
    with pytest.raises(ProgrammingError):
        await _organization(database, clock, "Intruders")
    with pytest.raises(ProgrammingError):
        async with database.transaction(Tenant(organization.id, sandbox=False)) as session:
            await service.create_key(session, clock, organization, mode="live", scopes=("payroll",))
