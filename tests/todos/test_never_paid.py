"""Employees who were never paid are named once their first payday has passed, and nobody else is."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import psycopg

from hearthpay.clock import FixedClock
from hearthpay.payroll.never_paid import NeverPaid
from tests.boundary.worlds import enroll
from tests.cases import every_case
from tests.http.api import Account, data
from tests.worlds.households import add_employee, payroll_of

Household = dict[str, Any]


async def never_paid(account: Account, household: Household) -> list[dict[str, Any]]:
    found = data(await account.live.get("/to-dos", employer_id=household["id"]))
    return [each for each in found if each["kind"] == "first_payroll"]


FIRST_PAYDAYS = (
    ("weekly", "2026-11-09", "2026-11-15"),
    ("weekly", "2026-11-13", "2026-11-19"),
    ("weekly", "2026-11-14", "2026-11-20"),
    ("biweekly", "2026-11-06", "2026-11-19"),
    ("biweekly", "2026-11-07", "2026-11-20"),
    ("semimonthly", "2026-11-03", "2026-11-15"),
    ("semimonthly", "2026-11-16", "2026-11-30"),
    ("monthly", "2026-10-20", "2026-10-31"),
    ("monthly", "2026-11-01", "2026-11-30"),
)


def test_the_first_payday_is_the_end_of_the_first_period() -> None:
    today = date(2026, 11, 20)
    with every_case() as case:
        for frequency, start, first in FIRST_PAYDAYS:
            with case(frequency, start):
                each = NeverPaid(uuid4(), uuid4(), "Rosa", date.fromisoformat(start), frequency)
                assert str(each.first_payday) == first
                if each.first_payday < today:
                    assert each.first_payday <= each.latest_payday(today) < today
    long_ago = NeverPaid(uuid4(), uuid4(), "Rosa", date(2025, 1, 6), "weekly")
    assert long_ago.latest_payday(today) == date(2026, 11, 15)


async def test_somebody_never_paid_is_named_with_the_first_day_until_a_payroll_runs(
    account: Account, household: Household, clock: FixedClock
) -> None:
    rosa = await add_employee(account.live, household["id"], start_date="2026-11-09", pay_frequency="weekly")
    [row] = await never_paid(account, household)
    assert row["title"] == "Run Rosa Diaz's first payroll, no payroll since November 9, 2026"
    assert row["link"].endswith(f"/app/{household['id']}/payrolls/new")
    assert (row["due_on"], row["overdue"]) == (None, False)
    assert row["subject"]["object_id"] == rosa
    run = data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    assert await never_paid(account, household) == []
    data(await account.live.post(f"/payroll/{run['payroll_id']}/void", {}))
    assert [each["id"] for each in await never_paid(account, household)] == [row["id"]]


async def test_who_is_owed_nothing_is_not_named(
    account: Account, household: Household, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    async def hire(name: str, start_date: str = "2026-08-03") -> str:
        return await add_employee(account.live, household["id"], first_name=name, start_date=start_date)

    await hire("Ana", "2026-11-18")
    await hire("Eva", "2026-12-01")
    left = await hire("Ida")
    data(await account.live.post(f"/employees/{left}/terminate", {"end_date": "2026-11-01"}))
    elsewhere = await hire("Ina")
    prior = {
        "tax_year": 2026,
        "source": "Earlier provider",
        "as_of": "2026-10-31",
        "gross_pay": 5000,
        "lines": [{"code": "US-SS-EE", "subject_wages": 5000, "taxable_wages": 5000, "amount": 310}],
    }
    entered = await account.live.post(f"/employees/{elsewhere}/prior-wages", prior)
    assert entered.status_code == 201, entered.text
    assert await never_paid(account, household) == []
    by_autopilot = await hire("Lea")
    assert [each["subject"]["object_id"] for each in await never_paid(account, household)] == [by_autopilot]
    enroll(owner_connection, by_autopilot)
    assert await never_paid(account, household) == []


async def test_somebody_who_came_back_is_named_from_the_day_of_return(
    account: Account, household: Household, clock: FixedClock
) -> None:
    rosa = await add_employee(account.live, household["id"], start_date="2026-06-01", pay_frequency="weekly")
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    data(await account.live.post(f"/employees/{rosa}/terminate", {"end_date": "2026-11-15"}))
    data(await account.live.post(f"/employees/{rosa}/reinstate", {"start_date": "2026-11-23"}))
    clock.advance(timedelta(days=8))
    assert await never_paid(account, household) == []
    clock.advance(timedelta(days=2))
    [row] = await never_paid(account, household)
    assert "no payroll since November 23, 2026" in row["title"]
