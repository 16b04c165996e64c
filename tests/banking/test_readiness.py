"""Readiness for direct deposit: every blocker, and the endpoint that tells them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest

from hearthpay.app import AppSettings, create_app
from hearthpay.banking.accounts import fail_accounts
from hearthpay.banking.authorizations import authorize
from hearthpay.banking.readiness import (
    account_blockers,
    employee_blockers,
    household_blockers,
    keeps_from_sending,
)
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from tests.banking.families import (
    Family,
    add_family,
    connect_all,
    connect_employee,
    connect_household,
    details,
)
from tests.http.api import BASE_URL, Account, Caller, NewAccount, data, refusal


async def codes(
    database: Database, family: Family, *, direct_deposit_enabled: bool = True
) -> tuple[list[str], list[str]]:
    async with database.transaction(None) as session:
        employer = await session.get_one(Employer, family.employer_id)
        household = await household_blockers(session, employer, direct_deposit_enabled=direct_deposit_enabled)
        employees = await employee_blockers(session, family.employee_ids)
    assert list(employees) == family.employee_ids
    return [each.code for each in household], [each.code for each in employees[family.employee_ids[0]]]


async def test_without_accounts(owner: psycopg.Connection, owner_database: Database) -> None:
    family = add_family(owner)
    assert await codes(owner_database, family) == (["bank_account_missing"], ["bank_account_missing"])
    assert await codes(owner_database, family, direct_deposit_enabled=False) == (
        ["direct_deposit_not_offered", "bank_account_missing"],
        ["bank_account_missing"],
    )


@pytest.mark.parametrize("sandbox", [True, False])
async def test_with_active_accounts(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock, sandbox: bool
) -> None:
    family = add_family(owner, sandbox=sandbox)
    await connect_all(owner_database, ring, family, clock.now())
    assert await codes(owner_database, family) == ([], [])
    not_offered = await codes(owner_database, family, direct_deposit_enabled=False)
    assert not_offered == ([] if sandbox else ["direct_deposit_not_offered"], [])


async def test_while_accounts_are_being_verified_and_after_they_failed(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = add_family(owner)
    accounts = [
        await connect(owner_database, ring, family, clock.now(), verified=False)
        for connect in (connect_household, connect_employee)
    ]
    assert await codes(owner_database, family) == (["bank_account_verifying"], ["bank_account_verifying"])
    async with owner_database.transaction(None) as session:
        await fail_accounts(session, clock.now(), {each.id: "Account closed (R02)." for each in accounts})
        employer = await session.get_one(Employer, family.employer_id)
        [blocker] = await household_blockers(session, employer, direct_deposit_enabled=True)
    assert blocker.message == "The bank account cannot be used: Account closed (R02)."
    assert await codes(owner_database, family) == (["bank_account_failed"], ["bank_account_failed"])


@pytest.mark.parametrize(
    ("status", "code", "household_can_be_debited", "employee_can_be_sent_to"),
    [
        (None, "bank_account_missing", False, False),
        ("verifying", "bank_account_verifying", False, True),
        ("active", None, True, True),
        ("failed", "bank_account_failed", False, False),
        ("replaced", "bank_account_missing", False, False),
    ],
)
async def test_one_rule_for_whoever_approves_and_whoever_sends(
    owner: psycopg.Connection,
    owner_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    status: str | None,
    code: str | None,
    household_can_be_debited: bool,
    employee_can_be_sent_to: bool,
) -> None:
    """A payroll that is approved is sent also to an employee whose account is being verified meanwhile."""
    family = add_family(owner)
    if status is not None:
        await connect_all(owner_database, ring, family, clock.now())
        owner.execute("UPDATE bank_accounts SET status = %s", (status,))
    employee = family.employee_ids[0]
    async with owner_database.transaction(None) as session:
        found = await account_blockers(session, households=[family.employer_id], employees=[employee])
    told = [] if code is None else [code]
    assert [each.code for each in found.values()] == told * 2
    assert await codes(owner_database, family) == (told, told)
    assert (family.employer_id not in found) is household_can_be_debited
    assert (not keeps_from_sending(found.get(employee))) is employee_can_be_sent_to


async def test_a_name_that_banks_cannot_read_is_told_before_money_moves(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = add_family(owner)
    await connect_all(owner_database, ring, family, clock.now())
    owner.execute("UPDATE employees SET first_name = '李', last_name = '明'")
    assert await codes(owner_database, family) == ([], ["name_not_spellable"])
    owner.execute("UPDATE employers SET first_name = '李', last_name = '明'")
    assert await codes(owner_database, family) == (["name_not_spellable"], ["name_not_spellable"])


def family_of(account: Account, owner: psycopg.Connection, **kind: Any) -> Family:
    return add_family(owner, account.organization_id, **kind)


async def test_the_status_of_a_household_without_a_bank(account: Account, owner: psycopg.Connection) -> None:
    family = family_of(account, owner, employees=2)
    status = data(await account.live.get(f"/employers/{family.employer_id}/dd-status"))
    assert status["employer_id"] == str(family.employer_id)
    assert (status["ready"], status["bank_account"]) == (False, None)
    assert status["authorization"] == {"status": "none", "expires_at": None}
    assert [blocker["code"] for blocker in status["blockers"]] == [
        "direct_deposit_not_offered",
        "bank_account_missing",
    ]
    assert [set(blocker) for blocker in status["blockers"]] == [{"code", "message"}] * 2
    assert [(each["employee_id"], each["ready"]) for each in status["employees"]] == [
        (str(employee), False) for employee in family.employee_ids
    ]


async def test_the_status_of_a_household_that_is_ready(
    account: Account,
    owner: psycopg.Connection,
    database: Database,
    owner_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = family_of(account, owner, employees=2)
    await connect_household(owner_database, ring, family, clock.now())
    await connect_employee(owner_database, ring, family, clock.now())
    owner.execute(
        "UPDATE employees SET status = 'terminated', end_date = start_date WHERE id = %s",
        (family.employee_ids[1],),
    )
    async with owner_database.transaction(None) as session:
        await authorize(
            session, family.actor, await session.get_one(Employer, family.employer_id), clock.now()
        )
    with_bank = create_app(database, clock, AppSettings(direct_deposit=True))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(with_bank), base_url=BASE_URL) as client:
        caller = Caller(client, account.live.key, account.live.key_id)
        status = data(await caller.get(f"/employers/{family.employer_id}/dd-status"))
        assert status == {
            "employer_id": str(family.employer_id),
            "ready": True,
            "bank_account": {"status": "active", "last_four": "0001", "bank_name": "A Bank"},
            "authorization": {"status": "active", "expires_at": "2026-12-20T15:00:00Z"},
            "blockers": [],
            "employees": [{"employee_id": str(family.employee_ids[0]), "ready": True, "blockers": []}],
        }
        clock.advance(timedelta(days=31))
        status = data(await caller.get(f"/employers/{family.employer_id}/dd-status"))
    assert (status["ready"], status["authorization"]["status"]) == (True, "expired")


async def test_the_sandbox_has_a_bank_of_its_own(
    account: Account, owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = family_of(account, owner, sandbox=True)
    await connect_household(owner_database, ring, family, clock.now(), details("5555559001"))
    status = data(await account.test.get(f"/employers/{family.employer_id}/dd-status"))
    assert (status["ready"], status["blockers"]) == (True, [])


async def test_who_may_not_ask(
    account: Account, owner: psycopg.Connection, new_account: NewAccount, new_key: Any
) -> None:
    family = family_of(account, owner)
    path = f"/employers/{family.employer_id}/dd-status"
    refusal(await account.test.get(path), 403, "key_mode_mismatch")
    refusal(await (await new_account("Others")).live.get(path), 404, "not_found")
    refusal(await account.live.get("/employers/none/dd-status"), 404, "not_found")
    refusal(await (await new_key("Lopez family", scopes=("calculator",))).get(path), 403, "scope_required")
