"""Pause, skip, end, termination and a run by hand come at every point of generation and firing: one wins, and the books
and the answer say which.
"""

import datetime
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from typing import Any, Final, NamedTuple

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.payroll.payday.firing import fire_due
from tests.autopilot.pilot import WEEKLY, Pilot
from tests.autopilot.points import meet
from tests.autopilot.proving import proved
from tests.worlds.households import payroll_of

FEWEST_POINTS: Final = 15
"""Statements that generation and firing send at the least."""

_STANDING: Final = """
    SELECT (SELECT outcome FROM autopilot_periods WHERE period_start = %(start)s ORDER BY id DESC LIMIT 1),
           (SELECT count(*) FROM payroll_entries WHERE live AND regular_hours > 0 AND lower(period) = %(start)s)
"""


class Answer(NamedTuple):
    """What whoever came in between was told."""

    status: int
    voided: bool
    still_paid: bool


async def ask(pilot: Pilot, action: str) -> Answer:
    response = await pilot.family.caller.post(f"/autopilot/{action}", pilot.whose)
    assert response.status_code == 200, response.text
    data = response.json()["data"]
    return Answer(200, bool(data["voided_payrolls"]), bool(data["payrolls_still_paid"]))


async def pause(pilot: Pilot, _start: datetime.date) -> Answer:
    return await ask(pilot, "pause")


async def skip(pilot: Pilot, _start: datetime.date) -> Answer:
    return await ask(pilot, "skip")


async def end(pilot: Pilot, _start: datetime.date) -> Answer:
    return await ask(pilot, "disable")


async def terminate(pilot: Pilot, start: datetime.date) -> Answer:
    body = {"end_date": (start - datetime.timedelta(days=1)).isoformat()}
    response = await pilot.family.caller.post(f"/employees/{pilot.family.employee_id}/terminate", body)
    assert response.status_code == 200, response.text
    return Answer(200, voided=False, still_paid=False)


async def run_by_hand(pilot: Pilot, start: datetime.date) -> Answer:
    order = payroll_of(
        pilot.family.employer_id,
        pilot.family.employee_id,
        pay_period_start=start.isoformat(),
        pay_period_end=(start + datetime.timedelta(days=6)).isoformat(),
    )
    del order["pay_date"]
    response = await pilot.family.caller.post("/payroll/run", order)
    assert response.status_code in (200, 409), response.text
    return Answer(response.status_code, voided=False, still_paid=False)


Deed = Callable[[Pilot, datetime.date], Awaitable[Answer]]
Work = Callable[[Pilot], Awaitable[Any]]


async def generation(pilot: Pilot) -> Any:
    return await pilot.generate()


async def firing(pilot: Pilot) -> Any:
    return await fire_due(pilot.town.worker, pilot.town.clock)


POSSIBLE: Final[dict[tuple[Work, Deed], set[tuple[str | None, int, Answer]]]] = {
    (generation, pause): {
        ("scheduled", 1, Answer(200, voided=False, still_paid=True)),
        (None, 0, Answer(200, voided=False, still_paid=False)),
    },
    (generation, skip): {
        ("voided", 0, Answer(200, voided=True, still_paid=False)),
        ("skipped", 0, Answer(200, voided=False, still_paid=False)),
    },
    (generation, terminate): {
        ("scheduled", 1, Answer(200, voided=False, still_paid=False)),
        (None, 0, Answer(200, voided=False, still_paid=False)),
    },
    (generation, run_by_hand): {
        ("scheduled", 1, Answer(409, voided=False, still_paid=False)),
        ("by_hand", 1, Answer(200, voided=False, still_paid=False)),
    },
    (generation, end): {
        ("voided", 0, Answer(200, voided=True, still_paid=False)),
        (None, 0, Answer(200, voided=False, still_paid=False)),
    },
    (firing, pause): {
        ("fired", 1, Answer(200, voided=False, still_paid=True)),
        ("fired", 1, Answer(200, voided=False, still_paid=False)),
    },
    (firing, skip): {
        ("voided", 0, Answer(200, voided=True, still_paid=False)),
        ("fired", 1, Answer(200, voided=False, still_paid=True)),
        ("fired", 1, Answer(200, voided=False, still_paid=False)),
    },
    (firing, terminate): {
        ("fired", 1, Answer(200, voided=False, still_paid=False)),
        ("scheduled", 1, Answer(200, voided=False, still_paid=False)),  # put off: nobody works on its days
    },
    (firing, run_by_hand): {("fired", 1, Answer(409, voided=False, still_paid=False))},
    (firing, end): {
        ("voided", 0, Answer(200, voided=True, still_paid=False)),
        ("fired", 1, Answer(200, voided=False, still_paid=True)),
        ("fired", 1, Answer(200, voided=False, still_paid=False)),
    },
}
"""What may become of the period, how many payrolls may pay its hours, and what is then answered."""


@pytest.fixture
def clock() -> FixedClock:
    """Monday, 19 January 2026: a week can be raced for at each point until the year ends."""
    return FixedClock(datetime.datetime(2026, 1, 19, 15, tzinfo=datetime.UTC))


async def come_back(pilot: Pilot) -> None:
    """Undo what stopped it, so that the next period can be raced for."""
    await pilot.family.caller.post(f"/employees/{pilot.family.employee_id}/reinstate", {})
    resumed = await pilot.family.caller.post("/autopilot/resume", pilot.whose)
    if resumed.status_code == 404:
        today = pilot.town.clock.today()
        monday = today - datetime.timedelta(days=today.weekday())
        await pilot.enroll(replace(WEEKLY, anchor=monday))


def go_to(pilot: Pilot, instant: datetime.datetime) -> None:
    pilot.town.clock.advance(max(instant - pilot.town.clock.now(), datetime.timedelta()))


async def next_due(pilot: Pilot, owner: psycopg.Connection, work: Work) -> datetime.date:
    """Let everything be done until a period is due, and be made if it is to be sent; return its first day."""
    while True:
        await come_back(pilot)
        due = owner.execute(
            "SELECT next_start, generate_at, coalesce(next_start <= skip_through, false) "
            "FROM autopilot_enrollments WHERE status = 'active'"
        ).fetchone()
        assert due is not None
        start, generate_at, skipped = due
        earlier = owner.execute(
            "SELECT max(send_at) FROM autopilot_periods WHERE outcome = 'scheduled'"
        ).fetchone()
        assert earlier is not None
        if earlier[0] is not None:
            go_to(pilot, max(earlier[0], pilot.town.clock.now() + datetime.timedelta(hours=6)))
            await pilot.work()
        elif skipped:
            go_to(pilot, generate_at)
            await pilot.work()
        else:
            break
    go_to(pilot, generate_at)
    if work is firing:
        assert (await pilot.generate()).scheduled == 1
        ((send_at,),) = owner.execute(
            "SELECT send_at FROM autopilot_periods WHERE outcome = 'scheduled'"
        ).fetchall()
        go_to(pilot, send_at)
    return start


@pytest.mark.parametrize("deed", [pause, skip, end, terminate, run_by_hand])
@pytest.mark.parametrize("work", [generation, firing])
@pytest.mark.parametrize("sample", [2, pytest.param(None, marks=pytest.mark.long)])
async def test_one_wins(
    pilot: Pilot,
    owner_pool: Database,
    owner_connection: psycopg.Connection,
    deed: Deed,
    work: Work,
    sample: int | None,
) -> None:
    chance = random.Random(f"{deed.__name__} {work.__name__}")
    await pilot.enroll(replace(WEEKLY, anchor=datetime.date(2026, 1, 19)))
    for point in count(1) if sample is None else chance.sample(range(2, FEWEST_POINTS), sample):
        start = await next_due(pilot, owner_connection, work)
        come_between, answer = await meet(
            pilot.town.worker, work(pilot), point, deed(pilot, start), owner_connection
        )
        found = owner_connection.execute(_STANDING, {"start": start}).fetchone()
        assert found is not None
        assert (*found, answer) in POSSIBLE[work, deed], (point, found, answer)
        await proved(owner_pool, pilot.town.clock, punctual=False)
        if not come_between:
            assert point > FEWEST_POINTS
            break
    await come_back(pilot)
    await pilot.work()
    await proved(owner_pool, pilot.town.clock, punctual=False)
