"""What enrolling now would give: shown over the wire, preset in the form, and what enrolling by it comes to."""

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import pytest

from hearthpay.autopilot.proposals import usual_schedule
from hearthpay.employees.commands import PayFrequency
from hearthpay.employees.models import Employee
from tests.autopilot.pilot import WEEKLY, Pilot
from tests.worlds.households import payroll_of


async def _paid_every(pilot: Pilot, frequency: str, **changes: Any) -> None:
    caller = pilot.family.caller
    changed = await caller.client.patch(
        f"/api/v1/employees/{pilot.employee}",
        json={"pay_frequency": frequency, **changes},
        headers=caller.headers(),
    )
    assert changed.status_code == 200, changed.text


@pytest.mark.parametrize(
    ("frequency", "first"),
    [
        # A week was paid through November 15; it is Friday, November 20.
        ("weekly", ("2026-11-23", "2026-11-29", "2026-12-04")),
        ("biweekly", ("2026-11-16", "2026-11-29", "2026-12-04")),
        ("semimonthly", ("2026-11-16", "2026-11-30", "2026-12-04")),
        ("monthly", ("2026-11-01", "2026-11-30", "2026-12-04")),
    ],
)
async def test_periods_follow_the_last_one_paid(
    pilot: Pilot, frequency: str, first: tuple[str, str, str]
) -> None:
    await _paid_every(pilot, frequency)
    proposed = (await pilot.read())["schedule_preview"]
    assert tuple(proposed[0][name] for name in ("period_start", "period_end", "pay_date")) == first
    terms = replace(
        WEEKLY,
        standard_hours=Decimal(40),
        frequency=cast(PayFrequency, frequency),
        anchor=datetime.date.fromisoformat(first[0]),
        pay_days_after=5,
    )
    await pilot.enroll(terms)
    enrolled = await pilot.read()
    assert enrolled["enrollment"]["status"] == "active"
    assert enrolled["schedule_preview"] == proposed


async def test_a_voided_payroll_is_not_followed(pilot: Pilot) -> None:
    await _paid_every(pilot, "biweekly")
    body = payroll_of(
        pilot.family.employer_id,
        pilot.family.employee_id,
        pay_period_start="2026-11-16",
        pay_period_end="2026-11-20",
    )
    ran = (await pilot.family.caller.post("/payroll/run", body)).json()["data"]
    assert (await pilot.read())["schedule_preview"][0]["period_start"] == "2026-11-21"
    await pilot.family.caller.post(f"/payroll/{ran['payroll_id']}/void", {})
    assert (await pilot.read())["schedule_preview"][0]["period_start"] == "2026-11-16"


async def test_periods_before_the_first_day_of_work_are_left_out(pilot: Pilot) -> None:
    await _paid_every(pilot, "weekly")
    async with pilot.town.database.transaction(pilot.actor.tenant) as session:
        employee = await session.get_one(Employee, pilot.employee)
        employee.start_date = datetime.date(2026, 11, 30)
    pilot.town.go_to("2026-11-23", 12)
    told = await pilot.read()
    assert told["eligibility"]["eligible"]
    assert told["schedule_preview"][0]["period_start"] == "2026-11-30"


async def test_somebody_never_paid_has_reasons_and_no_preview(pilot: Pilot) -> None:
    body = {"employer_id": pilot.family.employer_id, "first_name": "Ana", "last_name": "Paz", "pay_rate": 20}
    ana = (await pilot.family.caller.post("/employees", body)).json()["data"]["id"]
    response = await pilot.family.caller.get(
        "/autopilot", employer_id=pilot.family.employer_id, employee_id=ana
    )
    told = response.json()["data"]
    assert "insufficient_history" in told["eligibility"]["reasons"]
    assert (told["enrollment"], told["schedule_preview"]) == (None, [])
    async with pilot.town.database.transaction(pilot.actor.tenant) as session:
        employee = await session.get_one(Employee, UUID(ana))
        today = pilot.town.clock.today()
        assert (await usual_schedule(session, employee, today)).anchor == datetime.date(2026, 11, 16)
