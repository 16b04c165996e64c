"""Households live through time with random schedules and random deeds; afterwards the books prove every period.

The short form crosses the turn of a year; the long one lives through three years, the third by figures of which some
stand in until the year's own are published, up to a year without rules, whose periods stay open.
"""

import asyncio
import contextlib
import datetime
import random
from collections import Counter
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
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from tests.autopilot.diary import Diary, Wish
from tests.autopilot.pilot import Pilot
from tests.autopilot.proving import proved
from tests.autopilot.witness import NO_RULES, bear_witness
from tests.http.api import NewAccount
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.limits import lifting
from tests.worlds.town import Family, Town

DAY: Final = datetime.timedelta(days=1)
LIFTED: Final = lifting(households=1000)
STATES: Final = ("CA", "TX", "FL", "IL", "WA", "NY")
_SENT_DEBITS: Final = """
    SELECT id FROM bank_entries WHERE kind = 'debit' AND status = 'sent' AND employer_id = %s ORDER BY id
"""


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> FixedClock:
    """A Monday, 10:00 in New York: 1 December 2025, or the one that the test asks for."""
    day = datetime.date.fromisoformat(getattr(request, "param", "2025-12-01"))
    return FixedClock(datetime.datetime(day.year, day.month, day.day, 15, tzinfo=datetime.UTC))


@dataclass
class Life:
    """One family in the crowd, with what chance does to it."""

    pilot: Pilot
    chance: random.Random
    owner: psycopg.Connection
    diary: Diary

    @property
    def now(self) -> datetime.datetime:
        return self.pilot.town.clock.now()

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """Ask for something that may be refused, but never with an error of ours; None where it was."""
        response = await self.pilot.family.caller.post(path, body)
        assert response.status_code < 500, response.text
        return response.json()["data"] if response.status_code < 300 else None

    async def wish(self, action: str, **more: Any) -> None:
        """Ask something of Autopilot, and note what it changed."""
        done = await self.post(f"/autopilot/{action}", {**self.pilot.whose, **more})
        if done is None or not done["changed"]:
            return
        enrollment = done["enrollment"]
        self._note(enrollment["id"], action, enrollment["skip_through"], done["voided_payrolls"])

    def _note(self, enrollment: str, what: str, through: str | None, voided: list[str]) -> None:
        day = None if through is None else datetime.date.fromisoformat(through)
        self.diary.wishes.setdefault(enrollment, []).append(Wish(self.now, what, day, tuple(voided)))

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
            (4, lambda: self.wish("pause")),
            (10, lambda: self.wish("resume")),
            (4, lambda: self.wish("skip")),
            (2, self.skip_through),
            (1, lambda: self.wish("disable")),
            (8, self.enroll),
            (1, self.leave),
            (4, self.come_back),
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
        """Enroll; where that is refused in a year without rules, it is for that reason too."""
        terms = self.terms()
        try:
            view = await self.pilot.enroll(terms)
        except Refusal as refused:
            assert refused.code in ("invalid_state", "validation_error"), refused
            reasons = (refused.details or {}).get("reasons")
            if reasons is not None and self.now.date() >= NO_RULES:
                assert "tax_year_not_final" in reasons
        else:
            assert view.next_pay_date is not None
            assert view.next_pay_date < NO_RULES

    async def skip_through(self) -> None:
        day = self.pilot.town.clock.today() + self.chance.randint(0, 40) * DAY
        await self.wish("skip", through_date=day.isoformat())

    async def leave(self) -> None:
        if await self.post(f"/employees/{self.pilot.family.employee_id}/terminate", {}) is not None:
            self.diary.left.append((self.now, True))

    async def come_back(self) -> None:
        if await self.post(f"/employees/{self.pilot.family.employee_id}/reinstate", {}) is not None:
            self.diary.left.append((self.now, False))

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
        self.diary.returned.append(self.now)
        await town.connect(self.pilot.family.caller, self.pilot.family.employer_id, account="5556667778")
        with contextlib.suppress(Refusal):
            await self.pilot.renew_agreement()

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
        run = await self.post("/payroll/run", order)
        if run is not None:
            self.diary.by_hand.add(run["payroll_id"])

    def _pending_paragraphs(self) -> tuple[str, str, str | None] | None:
        """A payroll that waits, its enrollment, and through which day periods are skipped."""
        return self.owner.execute(
            "SELECT g.payroll_id::text, e.id::text, e.skip_through::text FROM autopilot_periods g "
            "JOIN autopilot_enrollments e ON e.id = g.enrollment_id "
            "WHERE g.employee_id = %s AND g.outcome = 'scheduled' LIMIT 1",
            (self.pilot.employee,),
        ).fetchone()  # type: ignore[return-value]

    async def void(self) -> None:
        waiting = self._pending_paragraphs()
        if waiting is not None:
            payroll_id, enrollment, through = waiting
            if await self.post(f"/payroll/{payroll_id}/void", {}) is not None:
                self._note(enrollment, "void", through, [payroll_id])

    async def confirm(self) -> None:
        waiting = self._pending_paragraphs()
        if waiting is not None:
            try:
                await self.pilot.confirm(waiting[0])
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
            await apply_returns(session, returned, submission_day(town.clock.now()), town.clock.now())


async def settle_in(
    town: Town, new_account: NewAccount, owner: psycopg.Connection, households: int, seed: int
) -> list[Life]:
    account = await new_account("Crowd")
    owner.execute(LIFTED)
    begun = town.clock.today()
    lives = []
    for number in range(households):
        caller = account.live
        chance = random.Random(seed * 1000 + number)
        employer_id = await add_household(caller, last_name=f"Crowd{number}", state=chance.choice(STATES))
        employee_id = await add_employee(caller, employer_id, start_date=str(begun - 200 * DAY))
        await town.connect(caller, employer_id)
        await town.connect(caller, employer_id, employee_id, account="987654321")
        paid = payroll_of(
            employer_id,
            employee_id,
            pay_period_start=str(begun - 14 * DAY),
            pay_period_end=str(begun - 8 * DAY),
            pay_date=str(begun - 3 * DAY),
        )
        response = await caller.post("/payroll/run", paid)
        assert response.status_code == 200, response.text
        actor = Actor.operator(account.organization_id, sandbox=False, request_id="crowd")
        pilot = Pilot(town, Family(caller, employer_id, employee_id), actor)
        life = Life(pilot, chance, owner, Diary(employee_id))
        await life.enroll()
        lives.append(life)
    return lives


async def killed_now_and_then(pilot: Pilot, chance: random.Random) -> None:
    """Let the worker work; now and then it dies in the middle and another one comes."""
    if chance.random() < 0.15:
        task = asyncio.ensure_future(pilot.work())
        await asyncio.sleep(chance.uniform(0, 0.1))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await pilot.work()


async def live(
    lives: list[Life], owner_pool: Database, days: int, seed: int, prove_every: int
) -> Counter[str]:
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
            bear_witness(lives[0].owner, [each.diary for each in lives])
    await lives[0].pilot.work()
    await proved(owner_pool, town.clock, whole=True)
    return bear_witness(lives[0].owner, [each.diary for each in lives])


async def test_six_weeks_over_the_turn_of_the_year(
    town: Town, new_account: NewAccount, owner_pool: Database, owner_connection: psycopg.Connection
) -> None:
    lives = await settle_in(town, new_account, owner_connection, 3, seed=7)
    ends = await live(lives, owner_pool, 42, seed=7, prove_every=14)
    assert ends["paid"] + ends["fired"] >= 2


@pytest.mark.long
@pytest.mark.parametrize("clock", ["2025-01-06"], indirect=True)
@pytest.mark.timeout(2 * 3600)
async def test_three_years_of_two_hundred_households(
    town: Town, new_account: NewAccount, owner_pool: Database, owner_connection: psycopg.Connection
) -> None:
    lives = await settle_in(town, new_account, owner_connection, 200, seed=11)
    ends = await live(lives, owner_pool, 3 * 365, seed=11, prove_every=90)
    assert set(ends) >= {*("paid", "failed", "voided", "skipped", "paused", "by_hand", "ineligible")}
    assert ends["paid"] > 20 * len(lives)
    assert town.clock.today() >= NO_RULES
    unpaid = owner_connection.execute(
        "SELECT DISTINCT outcome FROM autopilot_periods WHERE pay_date >= %s", (NO_RULES,)
    ).fetchall()
    assert {row[0] for row in unpaid} <= {"skipped", "paused", "by_hand"}
    going_on = owner_connection.execute(
        "SELECT count(*) FROM autopilot_enrollments WHERE status = 'active' AND generate_at <= %s",
        (town.clock.now(),),
    ).fetchone()
    assert going_on == (0,)
