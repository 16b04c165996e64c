"""Movements of money: collected and paid set-based, once each, and to the account that is in use."""

from __future__ import annotations

from datetime import date
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy.exc import IntegrityError
from uuid_utils.compat import uuid7

from hearthpay.banking.accounts import fail_accounts
from hearthpay.banking.entries import (
    Credit,
    Debit,
    Payout,
    Refund,
    cancel_unsent,
    collect,
    dates_from,
    effective_by,
    follow_accounts,
    pay_escrow,
    pay_out,
    refund,
)
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.security.key_ring import KeyRing
from tests.banking.families import (
    BLACK_FRIDAY,
    FRIDAY,
    MONDAY,
    NET,
    PAYDAY,
    TUESDAY,
    WEDNESDAY,
    add_family,
    at,
    connect_all,
    connect_employee,
    connect_household,
    rows,
    statuses,
)
from tests.database.household import add_organization, insert
from tests.web.query_count import counted


async def test_a_debit_knows_its_household(
    owner: psycopg.Connection,
    database: Database,
    owner_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = add_family(owner)
    account = await connect_household(owner_database, ring, family, clock.now())
    async with database.transaction(Tenant(family.organization_id, False)) as session:
        made = await collect(session, clock.now(), [family.debit])
    assert rows(
        owner,
        "SELECT id, organization_id, employer_id, sandbox, kind, bank_account_id, payroll_id, amount, attempt, status, "
        "send_on, settle_on, created_at FROM bank_entries",
    ) == [
        (
            made[family.payroll_id],
            family.organization_id,
            family.employer_id,
            False,
            "debit",
            account.id,
            family.payroll_id,
            NET,
            1,
            "pending",
            FRIDAY,
            MONDAY,
            clock.now(),
        )
    ]


async def test_credits_know_their_employees(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = add_family(owner, employees=2)
    await connect_all(owner_database, ring, family, clock.now())
    async with worker_database.transaction(None) as session:
        made = await pay_out(session, clock.now(), family.credits)
    assert set(made) == set(family.paycheck_ids)
    found = rows(
        owner,
        "SELECT e.paycheck_id, e.payroll_id, e.employee_id, b.employee_id, e.amount FROM bank_entries e "
        "JOIN bank_accounts b ON b.id = e.bank_account_id ORDER BY e.id",
    )
    assert found == [
        (paycheck, family.payroll_id, employee, employee, NET)
        for paycheck, employee in zip(family.paycheck_ids, family.employee_ids, strict=True)
    ]


async def test_nothing_is_collected_or_paid_twice(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = add_family(owner)
    await connect_all(owner_database, ring, family, clock.now())
    again = Refund(family.paycheck_ids[0], NET, FRIDAY, MONDAY)
    async with worker_database.transaction(None) as session:
        await collect(session, clock.now(), [family.debit])
        await pay_out(session, clock.now(), family.credits)
        await refund(session, clock.now(), [again])
    for move, rows_ in ((collect, [family.debit]), (pay_out, family.credits), (refund, [again])):
        with pytest.raises(IntegrityError):
            async with worker_database.transaction(None) as session:
                await move(session, clock.now(), rows_)  # type: ignore[operator]
    async with worker_database.transaction(None) as session:
        second = Debit(family.payroll_id, NET, MONDAY, TUESDAY, attempt=2)
        assert await collect(session, clock.now(), [second])
    assert rows(owner, "SELECT count(*) FROM bank_entries") == [(4,)]


@pytest.mark.parametrize("status", ["missing", "verifying", "failed", "replaced"])
async def test_who_cannot_be_debited_or_paid_is_left_out_and_the_others_are_not(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    status: str,
) -> None:
    good, bad = add_family(owner), add_family(owner, last_name="Chen")
    await connect_all(owner_database, ring, good, clock.now())
    if status != "missing":
        household = await connect_household(
            owner_database, ring, bad, clock.now(), verified=status == "failed"
        )
        employee = await connect_employee(owner_database, ring, bad, clock.now(), verified=status == "failed")
        if status == "replaced":
            owner.execute(
                "UPDATE bank_accounts SET status = 'replaced' WHERE employer_id = %s", (bad.employer_id,)
            )
        if status == "failed":
            async with worker_database.transaction(None) as session:
                await fail_accounts(session, clock.now(), {household.id: "gone", employee.id: "gone"})
    async with worker_database.transaction(None) as session:
        collected = await collect(session, clock.now(), [good.debit, bad.debit])
        paid = await pay_out(session, clock.now(), [*good.credits, *bad.credits])
        refunded = await refund(
            session, clock.now(), [Refund(each.paycheck_ids[0], 5, FRIDAY, MONDAY) for each in (good, bad)]
        )
    assert set(collected) == {good.payroll_id}
    # Wages and refunds wait for whatever account their owner connects next.
    assert set(paid) == {*good.paycheck_ids, *(bad.paycheck_ids if status != "missing" else ())}
    assert set(refunded) == {*good.paycheck_ids, *(bad.paycheck_ids if status != "missing" else ())}


async def test_a_set_aside_is_paid_to_its_employee(
    owner: psycopg.Connection,
    database: Database,
    owner_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = add_family(owner, employees=2)
    await connect_employee(owner_database, ring, family, clock.now())
    movements = [
        insert(
            owner,
            "escrow_movements",
            **family.tenant_columns,
            id=uuid7(),
            employee_id=employee,
            kind="payout",
            payment_method="direct_deposit",
            amount=-700,
            balance=0,
            created_at=clock.now(),
        )
        for employee in family.employee_ids
    ]
    async with database.transaction(Tenant(family.organization_id, False)) as session:
        made = await pay_escrow(
            session, clock.now(), [Payout(each, 700, *dates_from(clock.now())) for each in movements]
        )
    assert set(made) == {movements[0]}
    assert rows(owner, "SELECT kind, amount, escrow_movement_id, employee_id FROM bank_entries") == [
        ("payout", 700, movements[0], family.employee_ids[0])
    ]


async def test_a_tenant_moves_only_its_own_money(
    owner: psycopg.Connection,
    database: Database,
    owner_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    mine, other = add_family(owner), add_family(owner, last_name="Chen")
    for family in (mine, other):
        await connect_all(owner_database, ring, family, clock.now())
    async with database.transaction(Tenant(mine.organization_id, False)) as session:
        assert set(await collect(session, clock.now(), [mine.debit, other.debit])) == {mine.payroll_id}
        assert await pay_out(session, clock.now(), other.credits) == {}
    assert rows(owner, "SELECT DISTINCT employer_id FROM bank_entries") == [(mine.employer_id,)]


async def test_credits_are_cancelled_together_or_not_at_all(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    waiting = add_family(owner, employees=2, sandbox=True)
    half_gone = add_family(owner, employees=2, sandbox=True, last_name="Chen")
    bare = add_family(owner, sandbox=True, last_name="Bare")
    for family in (waiting, half_gone):
        await connect_all(owner_database, ring, family, clock.now())
    async with worker_database.transaction(None) as session:
        await pay_out(session, clock.now(), waiting.credits)
        sent = (await pay_out(session, clock.now(), half_gone.credits))[half_gone.paycheck_ids[0]]
    owner.execute(
        "UPDATE bank_entries SET status = 'sent', effective_date = settle_on WHERE id = %s", (sent,)
    )
    payrolls = [waiting.payroll_id, half_gone.payroll_id, bare.payroll_id]
    async with worker_database.transaction(None) as session:
        cancelled = await cancel_unsent(session, clock.now(), payrolls)
    assert cancelled == {waiting.payroll_id, bare.payroll_id}
    found = rows(owner, "SELECT payroll_id, status FROM bank_entries ORDER BY id")
    assert found == [
        (waiting.payroll_id, "cancelled"),
        (waiting.payroll_id, "cancelled"),
        (half_gone.payroll_id, "sent"),
        (half_gone.payroll_id, "pending"),
    ]


async def test_waiting_money_follows_a_new_account(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = add_family(owner, employees=2)
    await connect_all(owner_database, ring, family, clock.now())
    async with worker_database.transaction(None) as session:
        made = await pay_out(session, clock.now(), family.credits)
    new = await connect_employee(owner_database, ring, family, clock.now())
    async with worker_database.transaction(None) as session:
        await follow_accounts(session, clock.now(), WEDNESDAY, sandbox=False)
    assert new.id not in {row[0] for row in rows(owner, "SELECT bank_account_id FROM bank_entries")}
    async with worker_database.transaction(None) as session:
        await follow_accounts(session, clock.now(), BLACK_FRIDAY, sandbox=True)
        await follow_accounts(session, clock.now(), BLACK_FRIDAY, sandbox=False)
    moved = rows(owner, "SELECT id FROM bank_entries WHERE bank_account_id = %s", new.id)
    assert moved == [(made[family.paycheck_ids[0]],)]
    assert set(statuses(owner).values()) == {"pending"}


def test_days_are_banking_days() -> None:
    assert dates_from(at(FRIDAY, 14)) == (FRIDAY, MONDAY)
    assert dates_from(at(FRIDAY, 15)) == (MONDAY, TUESDAY)
    assert dates_from(at(WEDNESDAY, 15)) == (BLACK_FRIDAY, PAYDAY)
    assert effective_by(at(BLACK_FRIDAY, 9), 2) == TUESDAY
    # On Thanksgiving no banking day has passed since the evening before.
    assert effective_by(at(date(2026, 11, 26), 9), 2) == MONDAY
    assert effective_by(at(WEDNESDAY, 23), 0) == WEDNESDAY


async def test_many_rows_go_with_one_statement(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    """Ten thousand debits take as many statements as one does."""
    family = add_family(owner, add_organization(owner, "Large"))
    await connect_all(owner_database, ring, family, clock.now())
    count = 10_000
    [(columns,)] = rows(
        owner,
        "SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE table_schema = 'public' "
        "AND table_name = 'payrolls' AND is_generated = 'NEVER'",
    )
    payrolls = rows(
        owner,
        f"INSERT INTO payrolls ({columns}) SELECT {columns} FROM (SELECT p.* FROM payrolls o, "
        "generate_series(1, %s) n, "
        "jsonb_populate_record(o, jsonb_build_object('id', md5(n::text)::uuid)) p) c RETURNING id",
        count,
    )
    debits = [Debit(payroll, NET, FRIDAY, MONDAY) for (payroll,) in payrolls]
    sent = []
    for some in (debits[:1], debits[1:]):
        async with worker_database.transaction(None) as session:
            with counted(worker_database) as statements:
                made = await collect(session, clock.now(), some)
        assert len(made) == len(some)
        sent.append(len(statements))
    assert sent[0] == sent[1] <= 5


async def test_a_paycheck_that_is_not_there_is_not_paid(worker_database: Database, clock: FixedClock) -> None:
    async with worker_database.transaction(None) as session:
        assert await pay_out(session, clock.now(), [Credit(uuid4(), 1, FRIDAY, MONDAY)]) == {}
        assert await pay_out(session, clock.now(), []) == {}


async def test_wages_of_a_disconnected_account_go_to_the_next_one(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    family = add_family(owner)
    first = await connect_employee(owner_database, ring, family, clock.now())
    second = await connect_employee(owner_database, ring, family, at(FRIDAY, 11))
    owner.execute("UPDATE bank_accounts SET status = 'replaced'")
    async with worker_database.transaction(None) as session:
        await pay_out(session, clock.now(), family.credits)
    assert first.id != second.id
    assert rows(owner, "SELECT bank_account_id FROM bank_entries") == [(second.id,)]
    third = await connect_employee(owner_database, ring, family, at(FRIDAY, 12))
    async with worker_database.transaction(None) as session:
        await follow_accounts(session, clock.now(), BLACK_FRIDAY, sandbox=False)
    assert rows(owner, "SELECT bank_account_id FROM bank_entries") == [(third.id,)]
