"""Connecting accounts: what is stored, what is replaced, and when an account counts as verified."""

from __future__ import annotations

import asyncio
from datetime import date

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.banking.accounts import (
    activate_verified,
    connect_household_account,
    current_employee_accounts,
    current_household_account,
    disconnect,
    fail_accounts,
)
from hearthpay.banking.authorizations import authorization_of, authorize
from hearthpay.banking.models import BankAccount
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from tests.banking.families import (
    FRIDAY,
    MONDAY,
    add_family,
    at,
    collect_one,
    connect_employee,
    connect_household,
    details,
    rows,
)
from tests.database.damage import without_triggers
from tests.worlds.worker_audit import worker_rows


async def test_a_real_account_waits_for_its_prenote(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = add_family(owner)
    account = await connect_household(owner_database, ring, family, clock.now(), verified=False)
    assert (account.status, account.verification, account.last_four) == ("verifying", "prenote", "0001")
    assert rows(
        owner, "SELECT kind, amount, status, send_on, settle_on, bank_account_id FROM bank_entries"
    ) == [("prenote", 0, "pending", FRIDAY, MONDAY, account.id)]


async def test_an_account_entered_after_the_cut_off_is_tried_on_the_next_day(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing
) -> None:
    await connect_household(owner_database, ring, add_family(owner), at(FRIDAY, 15), verified=False)
    assert rows(owner, "SELECT send_on FROM bank_entries") == [(MONDAY,)]


@pytest.mark.parametrize("sandbox", [True, False])
async def test_a_sandbox_or_vouched_account_is_active_at_once(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock, sandbox: bool
) -> None:
    family = add_family(owner, sandbox=sandbox)
    account = await connect_employee(owner_database, ring, family, clock.now(), verified=not sandbox)
    assert (account.status, account.verification) == ("active", "instant")
    assert rows(owner, "SELECT id FROM bank_entries") == []


async def test_the_numbers_lie_in_the_vault_only_and_the_deeds_in_the_log(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = add_family(owner)
    await connect_employee(owner_database, ring, family, clock.now(), details("77712345678"))
    kinds = rows(owner, "SELECT owner_kind, owner_id, kind, last_four FROM vault ORDER BY kind DESC")
    assert kinds == [
        ("employee", family.employee_ids[0], "bank_routing", "0021"),
        ("employee", family.employee_ids[0], "bank_account", "5678"),
    ]
    log = rows(owner, "SELECT action, actor_kind, request_id, details::text FROM audit_log ORDER BY id")
    assert [action for action, *_ in log] == ["vault.store", "vault.store", "bank_account.connect"]
    assert {entry[1:3] for entry in log} == {("operator", "req_banking")}
    everything = str(log) + str(rows(owner, "SELECT * FROM bank_accounts"))
    assert "77712345678" not in everything
    assert "021000021" not in everything


async def test_a_new_account_takes_the_place_of_the_earlier_one(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = add_family(owner)
    first = await connect_household(owner_database, ring, family, clock.now(), verified=False)
    async with owner_database.transaction(None) as session:
        employer = await session.get_one(Employer, family.employer_id)
        await authorize(session, family.actor, employer, clock.now())
    second = await connect_household(owner_database, ring, family, clock.now(), details("999988887777"))
    async with owner_database.transaction(None) as session:
        current = await current_household_account(session, family.employer_id)
        state = await authorization_of(session, family.employer_id, clock.now())
    assert current is not None
    assert (current.id, current.last_four) == (second.id, "7777")
    assert rows(owner, "SELECT status FROM bank_accounts WHERE id = %s", first.id) == [("replaced",)]
    assert rows(owner, "SELECT kind, status FROM bank_entries") == [("prenote", "cancelled")]
    assert state.status == "none"
    assert rows(owner, "SELECT revoked_at FROM ach_authorizations") == [(clock.now(),)]
    assert rows(owner, "SELECT count(*) FROM vault") == [(2,)]


async def test_accounts_entered_at_once_follow_each_other(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = add_family(owner)
    await asyncio.gather(
        *(
            connect_household(owner_database, ring, family, clock.now(), details(f"12345{number:04}"))
            for number in range(6)
        )
    )
    assert rows(owner, "SELECT status, count(*) FROM bank_accounts GROUP BY status ORDER BY status") == [
        ("active", 1),
        ("replaced", 5),
    ]
    shown = rows(owner, "SELECT last_four FROM bank_accounts WHERE status = 'active'")
    assert shown == rows(owner, "SELECT last_four FROM vault WHERE kind = 'bank_account'")


async def test_the_service_connects_within_its_tenant_only(
    owner: psycopg.Connection,
    database: Database,
    owner_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    mine, other = add_family(owner, last_name="Lopez"), add_family(owner, last_name="Chen")
    async with owner_database.transaction(None) as session:
        employers = [await session.get_one(Employer, family.employer_id) for family in (mine, other)]
    tenant = Tenant(mine.organization_id, False)
    async with database.transaction(tenant) as session:
        account = await connect_household_account(
            session, ring, mine.actor, employers[0], details(), clock.now()
        )
    assert account.status == "verifying"
    with pytest.raises(Refusal, match="no such employer"):
        async with database.transaction(tenant) as session:
            await connect_household_account(session, ring, mine.actor, employers[1], details(), clock.now())
    assert rows(owner, "SELECT employer_id FROM bank_accounts") == [(mine.employer_id,)]


async def test_disconnecting_waits_for_the_money_on_its_way(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = add_family(owner)
    account = await connect_household(owner_database, ring, family, clock.now())
    async with owner_database.transaction(None) as session:
        entry = await collect_one(session, family, clock.now())
    with pytest.raises(Refusal, match="Money is on its way"):
        async with owner_database.transaction(None) as session:
            await disconnect(session, family.actor, account, clock.now())
    owner.execute("UPDATE bank_entries SET status = 'cancelled' WHERE id = %s", (entry,))
    async with owner_database.transaction(None) as session:
        await disconnect(session, family.actor, account, clock.now())
        assert await current_household_account(session, family.employer_id) is None
    assert rows(owner, "SELECT status, reason FROM bank_accounts") == [("replaced", "disconnected")]


async def test_failing_spares_accounts_that_were_replaced(
    owner: psycopg.Connection,
    worker_database: Database,
    owner_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = add_family(owner, employees=2)
    old = await connect_employee(owner_database, ring, family, clock.now())
    await connect_employee(owner_database, ring, family, clock.now())
    other = await connect_employee(owner_database, ring, family, clock.now(), position=1)
    async with worker_database.transaction(None) as session:
        await fail_accounts(session, clock.now(), {old.id: "closed", other.id: "closed"})
        accounts = await current_employee_accounts(session, family.employee_ids)
    assert [accounts[each].status for each in family.employee_ids] == ["active", "failed"]
    assert rows(
        owner, "SELECT subject_id, actor_kind, details FROM audit_log WHERE action = 'bank_account.fail'"
    ) == [(other.id, "system", {"reason": "closed"})]


@pytest.mark.parametrize(
    ("day", "status"), [(date(2026, 11, 25), "verifying"), (date(2026, 11, 27), "active")]
)
async def test_an_account_is_verified_three_banking_days_after_its_prenote_settled(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    day: date,
    status: str,
) -> None:
    """Effective on Monday 23: Tuesday, Wednesday, and, after Thanksgiving, Friday."""
    account = await connect_household(owner_database, ring, add_family(owner), clock.now(), verified=False)
    _send(owner, MONDAY)
    async with worker_database.transaction(None) as session:
        activated = await activate_verified(session, at(day, 9))
    assert activated == (status == "active")
    assert rows(owner, "SELECT status FROM bank_accounts WHERE id = %s", account.id) == [(status,)]
    told = [(str(account.id), {"verification": "prenote"})] if activated else []
    assert worker_rows(owner, "bank_account.activate") == told


@pytest.mark.parametrize("damage", ["status = 'cancelled'", "status = 'returned', return_code = 'R03'"])
async def test_a_prenote_that_was_not_accepted_verifies_nothing(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    damage: str,
) -> None:
    await connect_household(owner_database, ring, add_family(owner), clock.now(), verified=False)
    _send(owner, MONDAY)
    owner.execute(f"UPDATE bank_entries SET {damage}")  # type: ignore[call-overload]
    async with worker_database.transaction(None) as session:
        assert await activate_verified(session, at(date(2026, 12, 31))) == 0


def _send(owner: psycopg.Connection, effective: date) -> None:
    """As `build_file` leaves an entry."""
    with without_triggers(owner):
        owner.execute(
            "INSERT INTO bank_files (id, name, cut_off, status, entries, debit_total, credit_total, sha256, "
            "sealed_content, nonce, key_id, created_at) "
            "VALUES (new_id(), 'f', '2026-11-20', 'built', 1, 0, 0, %s, '', %s, 'k', now())",
            (b"\0" * 32, b"\0" * 12),
        )
    owner.execute(
        "UPDATE bank_entries SET status = 'sent', effective_date = %s, trace_number = '121042880000001', "
        "file_id = (SELECT id FROM bank_files)",
        (effective,),
    )


def test_the_model_names_every_column(owner: psycopg.Connection) -> None:
    for model in (BankAccount,):
        columns = rows(
            owner,
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s",
            model.__tablename__,
        )
        assert {name for (name,) in columns} - {"digest"} == {
            column.name for column in model.__table__.columns
        }
