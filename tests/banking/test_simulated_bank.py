"""The sandbox's bank: every outcome that a real bank can bring, chosen by the account's last digits."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from hearthpay.banking.settlement import settle_credits, settle_debits
from hearthpay.banking.simulated_bank import Simulated, simulate
from tests.banking.families import (
    BLACK_FRIDAY,
    FRIDAY,
    MONDAY,
    PAYDAY,
    TUESDAY,
    WEDNESDAY,
    Family,
    add_family,
    at,
    connect_employee,
    connect_household,
    details,
    rows,
)
from tests.banking.world import World


async def run(world: World, day: date, hour: int = 15) -> Simulated:
    async with world.worker.transaction(None) as session:
        return await simulate(session, world.ring, at(day, hour))


async def sandbox(world: World, household: str, employee: str, **kind: object) -> Family:
    family = add_family(world.owner, sandbox=True, **kind)  # type: ignore[arg-type]
    now = world.clock.now()
    await connect_household(world.operator, world.ring, family, now, details(household), authorized=True)
    await connect_employee(world.operator, world.ring, family, now, details(employee))
    return family


async def test_an_ordinary_payroll_goes_through(world: World) -> None:
    family = await sandbox(world, "5555000011", "5555000022")
    await world.collect(family)
    assert (await run(world, FRIDAY, 14)).sent == 0
    assert (await run(world, FRIDAY)).sent == 1
    assert rows(world.owner, "SELECT status, effective_date, file_id, trace_number FROM bank_entries") == [
        ("sent", MONDAY, None, None)
    ]
    assert await run(world, WEDNESDAY) == Simulated(0, (), 0)
    async with world.worker.transaction(None) as session:
        assert (await settle_debits(session, at(WEDNESDAY))).payroll_ids == [family.payroll_id]
    await world.pay(family)
    world.owner.execute("UPDATE payrolls SET status = 'processing'")
    assert (await run(world, BLACK_FRIDAY)).sent == 1
    async with world.worker.transaction(None) as session:
        assert (await settle_credits(session, at(PAYDAY))).payroll_ids == [family.payroll_id]
    assert await run(world, date(2026, 12, 3)) == Simulated(0, (), 0)


@pytest.mark.parametrize("code", ["R01", "R02", "R03", "R07", "R10", "R16", "R20", "R29"])
async def test_a_household_account_of_90nn_returns_the_debit(world: World, code: str) -> None:
    family = await sandbox(world, f"55559{code.replace('R', '0')}", "5555000022")
    await world.collect(family)
    await run(world, FRIDAY)
    assert (await run(world, TUESDAY)).returned == ()
    [returned] = (await run(world, WEDNESDAY)).returned
    assert (returned.code, returned.payroll_id, returned.sandbox) == (code, family.payroll_id, True)
    async with world.worker.transaction(None) as session:
        assert (await settle_debits(session, at(WEDNESDAY))).entries == 0
    assert (await run(world, WEDNESDAY)).returned == ()


async def test_an_employees_account_of_90nn_returns_the_wages_after_payday(world: World) -> None:
    family = await sandbox(world, "5555000011", "5555559003", status="processing")
    await world.pay(family)
    await run(world, BLACK_FRIDAY)
    async with world.worker.transaction(None) as session:
        await settle_credits(session, at(PAYDAY))
    assert (await run(world, date(2026, 12, 1))).returned == ()
    [returned] = (await run(world, date(2026, 12, 2))).returned
    assert (returned.code, returned.paycheck_id, returned.was_settled) == (
        "R03",
        family.paycheck_ids[0],
        True,
    )
    assert rows(world.owner, "SELECT status FROM bank_accounts WHERE employee_id IS NOT NULL") == [
        ("failed",)
    ]


@pytest.mark.parametrize("ending", ["9000", "9077", "9099", "8000", "8008", "8099", "9103"])
async def test_an_unknown_code_goes_through(world: World, ending: str) -> None:
    family = await sandbox(world, f"555555{ending}", "5555000022")
    await world.collect(family)
    await run(world, FRIDAY)
    assert await run(world, WEDNESDAY) == Simulated(0, (), 0)


@pytest.mark.parametrize(
    ("ending", "kept", "last_four", "kind"),
    [
        ("8001", "021000021", "1000", "checking"),
        ("8002", "011000015", "8002", "checking"),
        ("8003", "011000015", "1000", "checking"),
        ("8005", "021000021", "8005", "savings"),
        ("8006", "021000021", "1000", "savings"),
        ("8007", "011000015", "1000", "savings"),
    ],
)
async def test_an_account_of_80nn_is_corrected_once(
    world: World, ending: str, kept: str, last_four: str, kind: str
) -> None:
    family = await sandbox(world, "5555000011", f"555555{ending}", status="processing")
    await world.pay(family)
    await run(world, BLACK_FRIDAY)
    answer = date(2026, 12, 2)
    assert (await run(world, date(2026, 12, 1))).changes == 0
    assert (await run(world, answer)).changes == 1
    assert (await run(world, answer)).changes == 0
    assert rows(
        world.owner,
        "SELECT last_four, account_type, status FROM bank_accounts WHERE employee_id IS NOT NULL",
    ) == [(last_four, kind, "active")]
    assert rows(
        world.owner, "SELECT last_four FROM vault WHERE kind = 'bank_routing' AND owner_kind = 'employee'"
    ) == [(kept[-4:],)]
    assert rows(world.owner, "SELECT DISTINCT status FROM bank_entries") == [("sent",)]


async def test_two_workers_at_once_correct_an_account_once(world: World) -> None:
    family = await sandbox(world, "5555000011", "5555558002", status="processing")
    await world.pay(family)
    await run(world, BLACK_FRIDAY)
    shares = await asyncio.gather(*(run(world, date(2026, 12, 2)) for _ in range(6)))
    assert sum(share.changes for share in shares) == 1
    assert rows(
        world.owner, "SELECT last_four FROM vault WHERE kind = 'bank_routing' AND owner_kind = 'employee'"
    ) == [("0015",)]


async def test_real_money_is_none_of_its_business(world: World) -> None:
    family = add_family(world.owner)
    now = world.clock.now()
    await connect_household(world.operator, world.ring, family, now, details("5555559001"), authorized=True)
    await connect_employee(world.operator, world.ring, family, now, details("5555558001"))
    await world.collect(family)
    await world.pay(family)
    await world.build(FRIDAY)
    assert await run(world, FRIDAY) == Simulated(0, (), 0)
    assert await run(world, date(2026, 12, 4)) == Simulated(0, (), 0)
    assert rows(world.owner, "SELECT status FROM bank_entries ORDER BY status") == [("pending",), ("sent",)]


async def test_what_waits_for_a_failed_account_is_not_taken(world: World) -> None:
    family = await sandbox(world, "5555000011", "5555000022")
    await world.collect(family)
    world.owner.execute("UPDATE bank_accounts SET status = 'failed'")
    assert (await run(world, FRIDAY)).sent == 0
    await connect_household(
        world.operator, world.ring, family, world.clock.now(), details("5555000033"), authorized=True
    )
    assert (await run(world, MONDAY)).sent == 1
    assert rows(world.owner, "SELECT effective_date FROM bank_entries") == [(TUESDAY,)]


@pytest.mark.parametrize("number", ["9001", "19001", "789001", "12345678901239001"])
async def test_the_magic_digits_work_for_every_length(number: str, world: World) -> None:
    """Of a short number fewer than four digits are shown; what the bank answers does not hang on that."""
    family = await sandbox(world, number, "5555000022")
    await world.collect(family)
    await run(world, FRIDAY)
    assert [each.code for each in (await run(world, WEDNESDAY)).returned] == ["R01"]
    [(shown,)] = rows(world.owner, "SELECT last_four FROM bank_accounts WHERE employee_id IS NULL")
    assert len(shown) == (4 if len(number) >= 6 else 2)


async def test_a_real_account_has_no_magic(world: World) -> None:
    family = add_family(world.owner)
    await connect_household(world.operator, world.ring, family, world.clock.now(), details("111119001"))
    assert rows(world.owner, "SELECT simulated_answer FROM bank_accounts") == [(None,)]
