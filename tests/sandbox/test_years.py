"""Many sandbox households live through time at once, with deposits, returns and Autopilot; a real one stays."""

import asyncio
import random
from datetime import UTC, date, datetime, timedelta
from typing import Final

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from tests.autopilot.proving import proved
from tests.http.api import Account, data
from tests.sandbox.households import Lab
from tests.sandbox.test_clocks import rows_of
from tests.worlds.households import add_employee, add_household, payroll_of

ACCOUNTS: Final = (
    "verified",
    "verified",
    "verified",
    "debit_returned_r01",
    "debit_returned_r10",
    "corrected_c02",
)
DEPOSITS: Final = ("verified", "verified", "verified", "credit_returned_r03", "corrected_c01")


@pytest.fixture
def clock() -> FixedClock:
    """Monday, 1 December 2025, 10:00 in New York: a year from there is law."""
    return FixedClock(datetime(2025, 12, 1, 15, tzinfo=UTC))


async def settle_in(lab: Lab, chance: random.Random) -> str:
    """A household that has paid a week by check and by deposit, and whose employee Autopilot pays from then on."""
    employer_id = await lab.household(chance.choice(ACCOUNTS))
    employee_id = await lab.employee(employer_id, chance.choice(DEPOSITS), start_date="2025-01-06")
    week = payroll_of(
        employer_id,
        employee_id,
        pay_period_start="2025-11-17",
        pay_period_end="2025-11-23",
        pay_date="2025-12-01",
    )
    data(await lab.caller.post("/payroll/run", week))
    await lab.run(employer_id, employee_id, "2025-11-24", "2025-11-30")
    if chance.random() < 0.8:
        healthy = (
            await lab.set(f"/employers/{employer_id}/bank-account", "verified")
            if chance.random() < 0.5
            else None
        )
        if healthy is not None or chance.random() < 0.5:
            await lab.set(f"/employees/{employee_id}/bank-account", "verified")
            await lab.enroll(employer_id, employee_id, "2025-12-01")
    return employer_id


async def live(
    lab: Lab, account: Account, owner: Database, connection: psycopg.Connection, households: int, end: date
) -> None:
    chance = random.Random(20251201)
    real = await add_household(account.live)
    data(
        await account.live.post(
            "/payroll/run",
            payroll_of(
                real,
                await add_employee(account.live, real, start_date="2025-01-06"),
                pay_period_start="2025-11-17",
                pay_period_end="2025-11-23",
                pay_date="2025-12-01",
            ),
        )
    )
    moving = [await settle_in(lab, chance) for _ in range(households)]
    before = rows_of(connection, real)
    day = date(2025, 12, 1)
    while day < end:  # in some steps, as people do, and with something done in between
        day = min(day + timedelta(days=chance.choice((40, 90, 150))), end)
        for each in moving:
            await lab.ask(each, day.isoformat())
        await asyncio.gather(*(lab.work(slice_seconds=2) for _ in range(2)))
        for each in moving:
            now = await lab.now(each)
            assert (now["status"], now["today"]) == ("ready", day.isoformat())
    await proved(owner, lab.clock, whole=True)
    assert rows_of(connection, real) == before
    statuses = dict(
        connection.execute("SELECT status, count(*) FROM payrolls WHERE sandbox GROUP BY 1").fetchall()
    )
    assert statuses["completed"] > 2 * households, statuses
    late = (
        "SELECT count(*) FROM payrolls WHERE sandbox AND pay_date < %s "
        "AND status NOT IN ('completed', 'failed', 'voided')"
    )
    assert connection.execute(late, (end - timedelta(days=7),)).fetchone() == (0,)
    outcomes = dict(
        connection.execute("SELECT outcome, count(*) FROM autopilot_periods GROUP BY 1").fetchall()
    )
    assert outcomes["paid"] > households, outcomes


async def test_two_households_live_through_five_weeks(
    lab: Lab, account: Account, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    await live(lab, account, owner_database, owner_connection, 2, date(2026, 1, 7))


@pytest.mark.long
@pytest.mark.timeout(2400)
async def test_twenty_households_live_through_a_year(
    lab: Lab, account: Account, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    await live(lab, account, owner_database, owner_connection, 20, date(2026, 12, 1))
