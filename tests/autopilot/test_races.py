"""Pause, skip, end, termination, a run by hand, against generation and firing: one wins, the books say which."""

import asyncio
import datetime
import random
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from hearthpay.database.session import Database
from hearthpay.payroll.payday.firing import fire_due
from tests.autopilot.pilot import Pilot
from tests.autopilot.proving import proved
from tests.worlds.households import payroll_of

ROUNDS = 3
"""More than five would be paid in 2027, whose law is not complete."""
WEEK = datetime.timedelta(days=7)
FIRST = datetime.date(2026, 11, 16)

Deed = Callable[[Pilot, datetime.date], Awaitable[Any]]


async def ask(pilot: Pilot, action: str) -> None:
    response = await pilot.family.caller.post(f"/autopilot/{action}", pilot.whose)
    assert response.status_code in (200, 404), response.text


async def pause(pilot: Pilot, _start: datetime.date) -> None:
    await ask(pilot, "pause")


async def skip(pilot: Pilot, _start: datetime.date) -> None:
    await ask(pilot, "skip")


async def end(pilot: Pilot, _start: datetime.date) -> None:
    await ask(pilot, "disable")


async def terminate(pilot: Pilot, start: datetime.date) -> None:
    body = {"end_date": (start - datetime.timedelta(days=1)).isoformat()}
    response = await pilot.family.caller.post(f"/employees/{pilot.family.employee_id}/terminate", body)
    assert response.status_code == 200, response.text


async def run_by_hand(pilot: Pilot, start: datetime.date) -> None:
    order = payroll_of(
        pilot.family.employer_id,
        pilot.family.employee_id,
        pay_period_start=start.isoformat(),
        pay_period_end=(start + datetime.timedelta(days=6)).isoformat(),
    )
    del order["pay_date"]
    response = await pilot.family.caller.post("/payroll/run", order)
    assert response.status_code in (200, 409), response.text


async def come_back(pilot: Pilot) -> None:
    """Undo what stopped it, so that the next period can be raced for."""
    await pilot.family.caller.post(f"/employees/{pilot.family.employee_id}/reinstate", {})
    await pilot.family.caller.post("/autopilot/resume", pilot.whose)


async def race(deed: Awaitable[Any], work: Awaitable[Any], ahead: float) -> None:
    """Do both at once, the first of them `ahead` seconds earlier, or later where that is negative."""

    async def after(seconds: float, what: Awaitable[Any]) -> None:
        await asyncio.sleep(seconds)
        await what

    await asyncio.gather(after(max(0.0, -ahead), deed), after(max(0.0, ahead), work))


def standing(connection: psycopg.Connection, start: datetime.date) -> tuple[str | None, int]:
    """The period's outcome, and how many payrolls pay its hours."""
    outcome = connection.execute(
        "SELECT outcome FROM autopilot_periods WHERE period_start = %s", (start,)
    ).fetchone()
    paid = connection.execute(
        "SELECT count(*) FROM payroll_entries WHERE live AND regular_hours > 0 AND lower(period) = %s",
        (start,),
    ).fetchone()
    assert paid is not None
    return (None if outcome is None else outcome[0]), paid[0]


@pytest.mark.parametrize("deed", [pause, skip, terminate, run_by_hand])
async def test_against_generation(
    pilot: Pilot, owner_pool: Database, owner_connection: psycopg.Connection, deed: Deed
) -> None:
    chance = random.Random(deed.__name__)
    await pilot.enroll()
    for number in range(ROUNDS):
        start = FIRST + number * WEEK
        due = owner_connection.execute("SELECT next_start, generate_at FROM autopilot_enrollments").fetchone()
        assert due is not None
        if due[0] != start:  # the race before has decided about this one too
            continue
        pilot.town.clock.advance(max(due[1] - pilot.town.clock.now(), datetime.timedelta()))
        await race(deed(pilot, start), pilot.generate(), chance.uniform(-0.03, 0.06))
        outcome, paid = standing(owner_connection, start)
        assert paid <= 1
        assert (
            outcome
            in {
                "pause": (None, "scheduled"),
                "skip": (None, "voided", "skipped"),
                "terminate": (None, "scheduled"),
                "run_by_hand": ("by_hand", "scheduled"),
            }[deed.__name__]
        )
        if outcome is None:  # it was stopped before: nothing is made after that
            await pilot.generate()
            assert standing(owner_connection, start) == (("skipped", 0) if deed is skip else (None, 0))
        await proved(owner_pool, pilot.town.clock, punctual=False)
        await come_back(pilot)
        await pilot.work()
        await proved(owner_pool, pilot.town.clock, punctual=False)


@pytest.mark.parametrize("deed", [pause, skip, terminate])
async def test_against_firing(
    pilot: Pilot, owner_pool: Database, owner_connection: psycopg.Connection, deed: Deed
) -> None:
    chance = random.Random(deed.__name__)
    await pilot.enroll()
    for number in range(ROUNDS):
        start = FIRST + number * WEEK
        for _ in range(40):
            if standing(owner_connection, start)[0] is not None:
                break
            pilot.town.clock.advance(datetime.timedelta(hours=12))
            await pilot.work()
        if (
            standing(owner_connection, start)[0] != "scheduled"
        ):  # the race before has decided about this one too
            continue
        sent = owner_connection.execute(
            "SELECT send_at FROM autopilot_periods WHERE period_start = %s", (start,)
        ).fetchone()
        assert sent is not None
        pilot.town.clock.advance(max(sent[0] - pilot.town.clock.now(), datetime.timedelta()))
        await pilot.generate()
        await race(
            deed(pilot, start), fire_due(pilot.town.worker, pilot.town.clock), chance.uniform(-0.03, 0.06)
        )
        outcome, paid = standing(owner_connection, start)
        assert (outcome, paid) in {
            "pause": {("fired", 1)},
            "skip": {("fired", 1), ("voided", 0)},
            "terminate": {("fired", 1), ("scheduled", 1)},
        }[deed.__name__]
        await proved(owner_pool, pilot.town.clock, punctual=False)
        await come_back(pilot)
        await pilot.work()


@pytest.mark.parametrize("number", range(4))
async def test_an_end_against_generation_and_firing(
    pilot: Pilot, owner_pool: Database, owner_connection: psycopg.Connection, number: int
) -> None:
    chance = random.Random(number)
    await pilot.enroll()
    pilot.town.go_to("2026-11-20" if number % 2 else "2026-11-23", 15)
    if not number % 2:
        await pilot.generate()
    work = pilot.generate() if number % 2 else fire_due(pilot.town.worker, pilot.town.clock)
    await race(end(pilot, FIRST), work, chance.uniform(-0.02, 0.04))
    outcome, paid = standing(owner_connection, FIRST)
    assert (outcome, paid) in ({(None, 0), ("voided", 0)} if number % 2 else {("voided", 0), ("fired", 1)})
    await proved(owner_pool, pilot.town.clock, punctual=False)
    await pilot.work()
    assert standing(owner_connection, FIRST) == (outcome, paid)
