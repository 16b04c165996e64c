"""Households live through time with random schedules and random deeds; afterwards the books prove every period.

The short form crosses the turn of a year; the long one lives through three years, the third under a law that is not
complete, in which nothing may be paid.
"""

import asyncio
import contextlib
import datetime
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, get_args

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.commands import EnrolledTerms
from hearthpay.banking.calendar import is_banking_day, submission_day
from hearthpay.banking.return_handling import mark_returned
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.commands import PayFrequency
from hearthpay.payroll.payday.outcomes import undo_returned
from tests.autopilot.pilot import Pilot
from tests.autopilot.proving import proved
from tests.http.api import NewAccount
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.town import Family, Town

DAY: Final = datetime.timedelta(days=1)
LIFTED: Final = "UPDATE organizations SET lifted_limits = lifted_limits || '{\"households\": 1000}'"
_SENT_DEBITS: Final = """
    SELECT id FROM bank_entries WHERE kind = 'debit' AND status = 'sent' AND employer_id = %s ORDER BY id
"""


@pytest.fixture
def clock() -> FixedClock:
    """Monday, 1 December 2025, 10:00 in New York."""
    return FixedClock(datetime.datetime(2025, 12, 1, 15, tzinfo=datetime.UTC))


@dataclass
class Life:
    """One family in the crowd, with what chance does to it."""

    pilot: Pilot
    chance: random.Random
    owner: psycopg.Connection

    async def post(self, path: str, body: dict[str, Any]) -> int:
        """Ask for something that may be refused, but never with an error of ours."""
        response = await self.pilot.family.caller.post(path, body)
        assert response.status_code < 500, response.text
        return response.status_code

    def terms(self) -> EnrolledTerms:
        frequency: PayFrequency = self.chance.choice(get_args(PayFrequency))
        day = self.pilot.town.clock.today() + self.chance.randint(0, 14) * DAY
        if frequency == "monthly":
            day = day.replace(day=1)
        elif frequency == "semimonthly":
            day = day.replace(day=self.chance.choice((1, 16)))
        hours = Decimal(self.chance.randint(20, 160)) / 4
        return EnrolledTerms(
            standard_hours=hours,
            frequency=frequency,
            anchor=day,
            pay_days_after=self.chance.randint(0, 14),
        )

    async def act(self) -> None:
        """Do one thing that a household may do, or that happens to it."""
        deeds: list[tuple[int, Callable[[], Awaitable[Any]]]] = [
            (4, lambda: self.post("/autopilot/pause", self.pilot.whose)),
            (8, lambda: self.post("/autopilot/resume", self.pilot.whose)),
            (4, lambda: self.post("/autopilot/skip", self.pilot.whose)),
            (2, self.skip_through),
            (1, lambda: self.post("/autopilot/disable", self.pilot.whose)),
            (6, self.enroll),
            (2, self.leave_or_return),
            (2, self.raise_rate),
            (3, self.run_by_hand),
            (2, self.void),
            (5, self.confirm),
            (2, self.change),
            (2, self.return_debit),
        ]
        weights = [weight for weight, _ in deeds]
        ((_, deed),) = self.chance.choices(deeds, weights)
        await deed()

    async def enroll(self) -> None:
        try:
            await self.pilot.enroll(self.terms())
        except Refusal as refused:
            assert refused.code in ("invalid_state", "validation_error"), refused

    async def skip_through(self) -> None:
        day = self.pilot.town.clock.today() + self.chance.randint(0, 40) * DAY
        await self.post("/autopilot/skip", {**self.pilot.whose, "through_date": day.isoformat()})

    async def leave_or_return(self) -> None:
        path = f"/employees/{self.pilot.family.employee_id}"
        if await self.post(f"{path}/reinstate", {}) == 200 and self.chance.random() < 0.5:
            await self.post(f"{path}/terminate", {})

    async def raise_rate(self) -> None:
        rate = 20 + self.chance.randint(0, 30)
        response = await self.pilot.family.caller.client.patch(
            f"/api/v1/employees/{self.pilot.family.employee_id}",
            json={"pay_rate": rate},
            headers=self.pilot.family.caller.headers(),
        )
        assert response.status_code < 500

    async def connect_anew(self) -> None:
        town = self.pilot.town
        await town.connect(self.pilot.family.caller, self.pilot.family.employer_id, account="5556667778")
        with contextlib.suppress(Refusal):
            await self.pilot.agree_anew()

    def _next(self) -> tuple[datetime.date, datetime.date] | None:
        return self.owner.execute(
            "SELECT next_start, next_end FROM autopilot_enrollments WHERE employee_id = %s AND status <> 'disabled'",
            (self.pilot.employee,),
        ).fetchone()  # type: ignore[return-value]

    async def run_by_hand(self) -> None:
        days = self._next()
        if days is None:
            return
        start, end = days
        if self.chance.random() < 0.3:  # a part of it, or beyond it
            end = start + self.chance.randint(0, 40) * DAY
        order = payroll_of(
            self.pilot.family.employer_id,
            self.pilot.family.employee_id,
            pay_period_start=start.isoformat(),
            pay_period_end=end.isoformat(),
            employees=[
                {"employee_id": self.pilot.family.employee_id, "regular_hours": 8, "payment_method": "check"}
            ],
        )
        del order["pay_date"]
        await self.post("/payroll/run", order)

    def _waiting(self) -> str | None:
        row = self.owner.execute(
            "SELECT payroll_id::text FROM autopilot_periods WHERE employee_id = %s AND outcome = 'scheduled' LIMIT 1",
            (self.pilot.employee,),
        ).fetchone()
        return None if row is None else str(row[0])

    async def void(self) -> None:
        payroll_id = self._waiting()
        if payroll_id is not None:
            await self.post(f"/payroll/{payroll_id}/void", {})

    async def confirm(self) -> None:
        payroll_id = self._waiting()
        if payroll_id is not None:
            try:
                await self.pilot.confirm(payroll_id)
            except Refusal as refused:
                assert refused.code == "not_found", refused

    async def change(self) -> None:
        days = self._next()
        if days is not None:
            try:
                await self.pilot.change(
                    days[0].isoformat(),
                    self.chance.randint(5, 40),
                    self.chance.choice(get_args(PayFrequency)),
                    self.chance.randint(0, 14),
                )
            except Refusal as refused:
                assert refused.code in ("validation_error", "invalid_state"), refused

    async def return_debit(self) -> None:
        """Let the bank send a debit back that it has taken; then connect an account anew, and agree anew."""
        await self.connect_anew()
        row = self.owner.execute(_SENT_DEBITS, (self.pilot.employer,)).fetchone()
        if row is None:
            return
        town = self.pilot.town
        async with town.worker.transaction(None) as session:
            code = self.chance.choice(("R01", "R02", "R10"))
            returned = await mark_returned(session, town.clock.now(), {row[0]: code})
            await undo_returned(session, returned, submission_day(town.clock.now()), town.clock.now())


async def settle_in(
    town: Town, new_account: NewAccount, owner: psycopg.Connection, households: int, seed: int
) -> list[Life]:
    account = await new_account("Crowd")
    owner.execute(LIFTED)
    lives = []
    for number in range(households):
        caller = account.live
        employer_id = await add_household(caller, last_name=f"Crowd{number}")
        employee_id = await add_employee(caller, employer_id, start_date="2025-01-06")
        await town.connect(caller, employer_id)
        await town.connect(caller, employer_id, employee_id, account="987654321")
        paid = payroll_of(
            employer_id,
            employee_id,
            pay_period_start="2025-10-27",
            pay_period_end="2025-11-02",
            pay_date="2025-11-07",
        )
        response = await caller.post("/payroll/run", paid)
        assert response.status_code == 200, response.text
        actor = Actor.operator(account.organization_id, sandbox=False, request_id="crowd")
        pilot = Pilot(town, Family(caller, employer_id, employee_id), actor)
        life = Life(pilot, random.Random(seed * 1000 + number), owner)
        await life.enroll()
        lives.append(life)
    return lives


async def killed_now_and_then(pilot: Pilot, chance: random.Random) -> None:
    """Let the worker work; now and then it dies in the middle and another one comes."""
    if chance.random() < 0.15:
        task = asyncio.ensure_future(pilot.work())
        await asyncio.sleep(chance.uniform(0, 0.05))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await pilot.work()


def refuse_days_paid_twice(owner: psycopg.Connection) -> None:
    """No day's hours are paid twice, and a period that Autopilot has paid, or pays, is paid by one payroll."""
    twice = owner.execute(
        "SELECT e.employee_id, e.period, o.period FROM payroll_entries e JOIN payroll_entries o "
        "ON o.employee_id = e.employee_id AND o.period && e.period AND o.payroll_id > e.payroll_id "
        "AND o.live AND o.regular_hours > 0 WHERE e.live AND e.regular_hours > 0"
    ).fetchall()
    assert twice == []
    unpaid = owner.execute(
        "SELECT g.enrollment_id, g.period_start FROM autopilot_periods g "
        "WHERE g.outcome IN ('scheduled', 'fired', 'paid') "
        "AND (SELECT count(*) FROM payroll_entries e WHERE e.employee_id = g.employee_id AND e.live "
        "AND e.regular_hours > 0 AND e.period && daterange(g.period_start, g.period_end, '[]')) <> 1"
    ).fetchall()
    assert unpaid == []


async def live(lives: list[Life], owner_pool: Database, days: int, seed: int, prove_every: int) -> None:
    chance = random.Random(seed)
    town = lives[0].pilot.town
    absent = 0
    for number in range(days):
        day = town.clock.today() + DAY
        for each in lives:
            if chance.random() < 0.1:
                await each.act()
        absent = absent - 1 if absent > 0 else (chance.randint(1, 6) if chance.random() < 0.02 else 0)
        for hour in (12, 15):
            town.go_to(day.isoformat(), hour)
            if not absent and (is_banking_day(day) or hour == 15):
                await killed_now_and_then(lives[0].pilot, chance)
        if number % prove_every == prove_every - 1:
            await proved(owner_pool, town.clock, punctual=False)
            refuse_days_paid_twice(lives[0].owner)
    await lives[0].pilot.work()
    await proved(owner_pool, town.clock, whole=True)
    refuse_days_paid_twice(lives[0].owner)


def outcomes_seen(owner: psycopg.Connection) -> set[str]:
    return {row[0] for row in owner.execute("SELECT DISTINCT outcome FROM autopilot_periods").fetchall()}


async def test_six_weeks_over_the_turn_of_the_year(
    town: Town, new_account: NewAccount, owner_pool: Database, owner_connection: psycopg.Connection
) -> None:
    lives = await settle_in(town, new_account, owner_connection, 3, seed=7)
    await live(lives, owner_pool, 42, seed=7, prove_every=14)
    assert "paid" in outcomes_seen(owner_connection)
    paid = owner_connection.execute(
        "SELECT count(*) FROM autopilot_periods WHERE outcome IN ('paid', 'fired')"
    ).fetchone()
    assert paid is not None
    assert paid[0] >= 2


@pytest.mark.long
@pytest.mark.timeout(6 * 3600)
async def test_three_years_of_two_hundred_households(
    town: Town, new_account: NewAccount, owner_pool: Database, owner_connection: psycopg.Connection
) -> None:
    lives = await settle_in(town, new_account, owner_connection, 200, seed=11)
    await live(lives, owner_pool, 3 * 365, seed=11, prove_every=60)
    assert outcomes_seen(owner_connection) >= {
        *("paid", "failed", "voided", "skipped", "paused", "by_hand", "ineligible"),
    }
