"""Autopilot pays salaries: without hours, at what the salary is when the payroll is made, as a run by hand would."""

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import Database
from tests.autopilot.pilot import WEEKLY, Pilot
from tests.autopilot.proving import proved

BY_SALARY = replace(WEEKLY, standard_hours=Decimal(0))


async def settle(pilot: Pilot, **changes: Any) -> None:
    caller = pilot.family.caller
    path = f"/api/v1/employees/{pilot.employee}"
    response = await caller.client.patch(path, json=changes, headers=caller.headers())
    assert response.status_code == 200, response.text


async def test_hours_go_with_hourly_pay_and_none_with_a_salary(pilot: Pilot) -> None:
    with pytest.raises(Refusal, match="standard_hours"):
        await pilot.enroll(BY_SALARY)
    await settle(pilot, pay_type="salary", salary={"amount": 52_000, "per": "year"})
    with pytest.raises(Refusal, match="standard_hours"):
        await pilot.enroll(WEEKLY)
    await pilot.enroll(BY_SALARY)
    assert (await pilot.read())["enrollment"]["standard_hours"] == 0


async def test_each_period_pays_its_share_at_the_salary_of_then(
    pilot: Pilot, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    await settle(pilot, pay_type="salary", salary={"amount": 52_000, "per": "year"})
    await pilot.enroll(BY_SALARY)
    pilot.town.go_to("2026-11-20", 15)
    await pilot.work()
    await settle(pilot, salary={"amount": 54_600, "per": "year"})
    await pilot.live_through("2026-11-23", "2026-12-01")
    made = {each["pay_period"]["start"]: each["totals"]["gross_pay"] for each in await pilot.payrolls()}
    assert (made["2026-11-16"], made["2026-11-23"]) == (1_000, 1_050)
    preview = await pilot.family.caller.post(
        "/payroll/preview",
        {
            "employer_id": pilot.family.employer_id,
            "pay_period_start": "2026-11-16",
            "pay_period_end": "2026-11-22",
            "pay_date": "2026-12-01",
            "pay_frequency": "weekly",
            "employees": [{"employee_id": pilot.family.employee_id, "payment_method": "check"}],
        },
    )
    assert preview.json()["error"]["code"] == "payroll_overlap"
    stored = owner_connection.execute(
        "SELECT regular_pay, salary ->> 'pay', regular_hours FROM payroll_entries e WHERE lower(period) = %s",
        (datetime.date(2026, 11, 16),),
    ).fetchall()
    assert stored == [(100_000, "100000", 0)]
    await proved(owner_database, pilot.town.clock, whole=True)


async def leave(pilot: Pilot, last_day: str) -> None:
    ended = await pilot.family.caller.post(f"/employees/{pilot.employee}/terminate", {"end_date": last_day})
    assert ended.status_code == 200, ended.text


async def test_the_last_part_of_a_period_pays_its_share_of_the_salary(
    pilot: Pilot, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    """A week from Monday, November 23; the last day is Wednesday, the 25th: three days of five."""
    await settle(pilot, pay_type="salary", salary={"amount": 52_000, "per": "year"})
    await pilot.enroll(BY_SALARY)
    await leave(pilot, "2026-11-25")
    assert (await pilot.read())["eligibility"] == {"eligible": True, "reasons": []}
    await pilot.live_through("2026-11-20", "2026-12-10")
    made = {each["pay_period"]["start"]: each for each in await pilot.payrolls()}
    assert made["2026-11-16"]["totals"]["gross_pay"] == 1_000
    last = made["2026-11-23"]
    assert (last["totals"]["gross_pay"], last["status"]) == (600, "completed")
    salary = (await pilot.family.caller.get(f"/payroll/{last['payroll_id']}")).json()["data"]["employees"][0][
        "earnings"
    ]["salary"]
    assert (salary["working_days"], salary["paid_days"], salary["prorated"]) == (5, 3, True)
    assert "2026-11-30" not in made
    told = owner_connection.execute(
        "SELECT reasons FROM autopilot_periods WHERE period_start > '2026-11-23' AND outcome = 'ineligible'"
    ).fetchall()
    assert told == [], "after the last day nothing is decided, so nothing fails"
    stands = (await pilot.read())["enrollment"]
    assert (stands["status"], stands["failure_count"]) == ("paused", 0)
    await proved(owner_database, pilot.town.clock, whole=True)


async def test_the_last_part_of_a_period_by_the_hour_is_asked_about(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await leave(pilot, "2026-11-25")
    assert (await pilot.read())["eligibility"]["eligible"], "the first week was worked in full"
    await pilot.live_through("2026-11-20", "2026-11-25")
    assert await pilot.made() == [("2026-11-16", "2026-12-01", "pending_funding")]
    reasons = ["employment_ended_in_period"]
    assert (await pilot.read())["eligibility"] == {"eligible": False, "reasons": reasons}
    await pilot.live_through("2026-11-26", "2026-11-28")
    ran = await pilot.family.caller.post(
        "/payroll/run",
        {
            "employer_id": pilot.family.employer_id,
            "pay_period_start": "2026-11-23",
            "pay_period_end": "2026-11-25",
            "pay_date": "2026-11-28",
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": pilot.family.employee_id, "regular_hours": 20, "payment_method": "check"}
            ],
        },
    )
    assert ran.status_code == 200, ran.text
    await pilot.live_through("2026-11-29", "2026-11-30")
    outcomes = owner_connection.execute(
        "SELECT outcome FROM autopilot_periods WHERE period_start = '2026-11-23'"
    ).fetchall()
    assert outcomes == [("by_hand",)]


async def test_a_last_period_that_was_worked_in_full_is_paid_in_full(pilot: Pilot) -> None:
    await pilot.enroll()
    await leave(pilot, "2026-11-22")
    await pilot.live_through("2026-11-20", "2026-12-01")
    assert await pilot.made() == [("2026-11-16", "2026-12-01", "completed")]


async def test_a_salary_run_by_hand_is_stepped_over(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await settle(pilot, pay_type="salary", salary={"amount": 52_000, "per": "year"})
    await pilot.enroll(BY_SALARY)
    ran = await pilot.family.caller.post(
        "/payroll/run",
        {
            "employer_id": pilot.family.employer_id,
            "pay_period_start": "2026-11-16",
            "pay_period_end": "2026-11-22",
            "pay_date": "2026-11-22",
            "pay_frequency": "weekly",
            "employees": [{"employee_id": pilot.family.employee_id, "payment_method": "check"}],
        },
    )
    assert ran.status_code == 200, ran.text
    pilot.town.go_to("2026-11-20", 15)
    await pilot.generate()
    outcomes = owner_connection.execute(
        "SELECT outcome FROM autopilot_periods WHERE period_start = '2026-11-16'"
    ).fetchall()
    assert outcomes == [("by_hand",)]
