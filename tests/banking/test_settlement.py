"""Settlement by the calendar, guarded against returns, and shared among workers."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from hearthpay.banking.entries import Refund, refund
from hearthpay.banking.settlement import settle_credits, settle_debits, settle_others
from tests.banking.families import (
    BLACK_FRIDAY,
    FRIDAY,
    MONDAY,
    PAYDAY,
    TUESDAY,
    WEDNESDAY,
    add_family,
    at,
    connect_household,
    pay_all,
    rows,
)
from tests.banking.world import World


@pytest.mark.parametrize(
    ("day", "settled"),
    [(MONDAY, False), (TUESDAY, False), (WEDNESDAY, True), (date(2026, 11, 28), True)],
)
async def test_a_debit_is_collected_two_banking_days_after_it_settled(
    world: World, day: date, settled: bool
) -> None:
    family = await world.family()
    await world.collect(family)
    await world.build(FRIDAY)
    async with world.worker.transaction(None) as session:
        result = await settle_debits(session, at(day))
    assert result.payroll_ids == ([family.payroll_id] if settled else [])
    assert result.entries == settled
    assert rows(world.owner, "SELECT status FROM bank_entries") == [("settled" if settled else "sent",)]
    async with world.worker.transaction(None) as session:
        assert (await settle_debits(session, at(day))).entries == 0


async def test_only_a_payroll_that_waits_for_its_money_is_funded(world: World) -> None:
    family = await world.family()
    await world.collect(family)
    await world.build(FRIDAY)
    failure = '{"code": "R01"}'
    world.owner.execute("UPDATE payrolls SET status = 'failed', failure = %s", (failure,))
    async with world.worker.transaction(None) as session:
        result = await settle_debits(session, at(WEDNESDAY))
    assert (result.payroll_ids, result.entries) == ([], 1)


@pytest.mark.parametrize("status", ["pending", "cancelled", "returned"])
async def test_what_is_not_on_its_way_never_settles(world: World, status: str) -> None:
    family = await world.family()
    await world.collect(family)
    await world.build(FRIDAY)
    code = "R01" if status == "returned" else None
    world.owner.execute("UPDATE bank_entries SET status = %s, return_code = %s", (status, code))
    async with world.worker.transaction(None) as session:
        assert (await settle_debits(session, at(date(2026, 12, 31)))).entries == 0
    assert rows(world.owner, "SELECT status FROM bank_entries") == [(status,)]


async def test_wages_are_paid_on_payday_and_only_when_all_are(world: World) -> None:
    family, chens = (
        await world.family(employees=2, status="processing"),
        await world.family(last_name="Chen", status="processing"),
    )
    await world.pay(family, chens)
    await world.build(BLACK_FRIDAY)
    returned = rows(world.owner, "SELECT id FROM bank_entries WHERE payroll_id = %s", family.payroll_id)[0]
    world.owner.execute(
        "UPDATE bank_entries SET status = 'returned', return_code = 'R03' WHERE id = %s", returned
    )
    async with world.worker.transaction(None) as session:
        assert (await settle_credits(session, at(BLACK_FRIDAY))).entries == 0
        result = await settle_credits(session, at(PAYDAY, 9))
    assert (result.payroll_ids, result.entries) == ([chens.payroll_id], 2)
    async with world.worker.transaction(None) as session:
        assert (await settle_credits(session, at(PAYDAY))).entries == 0


async def test_a_payroll_with_a_credit_that_waits_is_not_paid_in_full(world: World) -> None:
    family = await world.family(employees=2, status="processing")
    await world.pay(family)
    world.owner.execute("DELETE FROM vault WHERE owner_id = %s", (family.employee_ids[1],))
    await world.build(BLACK_FRIDAY)
    async with world.worker.transaction(None) as session:
        result = await settle_credits(session, at(PAYDAY))
    assert (result.payroll_ids, result.entries) == ([], 1)


async def test_prenotes_and_refunds_settle_on_their_day(world: World) -> None:
    family = await world.family()
    waiting = add_family(world.owner, last_name="New")
    await connect_household(world.operator, world.ring, waiting, world.clock.now(), verified=False)
    async with world.worker.transaction(None) as session:
        await refund(session, world.clock.now(), [Refund(family.paycheck_ids[0], 55, FRIDAY, MONDAY)])
    await world.collect(family)
    await world.build(FRIDAY)
    async with world.worker.transaction(None) as session:
        assert await settle_others(session, at(FRIDAY, 20)) == 0
        assert await settle_others(session, at(MONDAY, 9)) == 2
    assert rows(world.owner, "SELECT kind FROM bank_entries WHERE status = 'sent'") == [("debit",)]


async def test_workers_share_the_debits_and_settle_each_once(world: World) -> None:
    families = [await world.family(last_name=f"Family {letter}") for letter in "ABCDEFGH"]
    await world.collect(*families)
    await world.build(FRIDAY)

    async def work() -> list[object]:
        found: list[object] = []
        while True:
            async with world.worker.transaction(None) as session:
                result = await settle_debits(session, at(WEDNESDAY), limit=2)
                await asyncio.sleep(0.02)
            if not result.entries:
                return found
            found += result.payroll_ids

    shares = await asyncio.gather(*(work() for _ in range(4)))
    together = [payroll for share in shares for payroll in share]
    assert sorted(together, key=str) == sorted((each.payroll_id for each in families), key=str)
    assert sum(bool(share) for share in shares) > 1


async def test_two_workers_complete_a_payroll_once(world: World) -> None:
    family = await world.family(employees=3, status="processing")
    await world.pay(family)
    await world.build(BLACK_FRIDAY)

    async def work() -> list[object]:
        async with world.worker.transaction(None) as session:
            result = await settle_credits(session, at(PAYDAY))
            await asyncio.sleep(0.05)
        return list(result.payroll_ids)

    shares = await asyncio.gather(*(work() for _ in range(4)))
    assert [share for share in shares if share] == [[family.payroll_id]]


async def test_a_sandbox_payroll_settles_alike(world: World) -> None:
    family = await world.family(sandbox=True)
    async with world.worker.transaction(None) as session:
        await pay_all(session, family, world.clock.now())
    world.owner.execute("UPDATE bank_entries SET status = 'sent', effective_date = settle_on")
    world.owner.execute("UPDATE payrolls SET status = 'processing'")
    async with world.worker.transaction(None) as session:
        assert (await settle_credits(session, at(PAYDAY))).payroll_ids == [family.payroll_id]
