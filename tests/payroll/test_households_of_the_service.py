"""Households that pay as thresholds are reached, through the API, the database and the bank.

Few random years, seeded; `test_random_households` tries many without the database. After each, the doctor finds the
books right.
"""

import random
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_taxes
from tests.http.api import Account, data
from tests.lifecycle.test_year_end import DECEMBER, family_of_2025
from tests.taxes.threshold_model import year_of_household
from tests.worlds.households import add_employee
from tests.worlds.keys import ring
from tests.worlds.town import Family, Town, app, family, rows, town

__all__ = ["app", "family", "ring", "town"]

D = Decimal
YEAR = (
    "SELECT employee_id::text, u.code, u.taxable, u.amount FROM year_balances, unnest(codes, taxable_wages, amounts) "
    "AS u (code, taxable, amount) WHERE tax_year = 2026"
)


class Books:
    """What a family's two employees were paid, in plain figures, beside what the service keeps."""

    def __init__(self, family: Family, other: str, dice: random.Random) -> None:
        self.family, self.employees, self.dice = family, (family.employee_id, other), dice
        self.day = date(2026, 1, 5)
        self.basis = "assume_crossed"
        #: By payroll, in the order in which the paychecks were made.
        self.standing: dict[str, list[dict[str, Any]]] = {}

    async def run(
        self, pay_date: date, wages: dict[str, float], method: str = "check"
    ) -> tuple[str, list[dict[str, Any]]]:
        start = self.day
        self.day += timedelta(days=1)
        order = {
            "employer_id": self.family.employer_id,
            "pay_period_start": start.isoformat(),
            "pay_period_end": start.isoformat(),
            "pay_date": pay_date.isoformat(),
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": employee, "other_earnings": amount, "payment_method": method}
                for employee, amount in wages.items()
            ],
            "confirm_large_payroll": True,
            "confirm_ach_debit": True,
        }
        preview = data(await self.family.caller.post("/payroll/preview", order))
        ran = data(await self.family.caller.post("/payroll/run", order))
        assert ran["employees"] == preview["employees"]
        paid = [
            {
                "employee": employee,
                "pay_date": pay_date.isoformat(),
                "work_state": "CA",
                "wages": Fraction(str(amount)),
            }
            for employee, amount in wages.items()
        ]
        if ran["status"] != "scheduled":
            self.standing[ran["payroll_id"]] = paid
        return ran["payroll_id"], paid

    async def run_any(self) -> None:
        chosen = self.dice.sample(self.employees, self.dice.randrange(1, 3))
        amounts = (self.dice.randrange(1, 400), 249.99, 500, 750, self.dice.randrange(400, 2_500))
        pay_date = date(2026, 1, 5) + timedelta(days=self.dice.randrange(50, 300))
        await self.run(pay_date, {employee: self.dice.choice(amounts) for employee in chosen})

    async def void(self) -> None:
        if self.standing:
            chosen = self.dice.choice(sorted(self.standing))
            data(await self.family.caller.post(f"/payroll/{chosen}/void", {}))
            del self.standing[chosen]

    async def choose(self) -> None:
        self.basis = "as_paid" if self.basis == "assume_crossed" else "assume_crossed"
        caller, path = self.family.caller, f"/api/v1/employers/{self.family.employer_id}"
        changes = {"threshold_basis": self.basis}
        data(await caller.client.patch(path, json=changes, headers=caller.headers()))


async def _assert_right(
    books: Books, town: Town, owner: Database, connection: psycopg.Connection, told: object
) -> None:
    paid = [each for together in books.standing.values() for each in together]
    demanded = year_of_household(paid, 2026, as_paid=books.basis == "as_paid")
    async with owner.transaction(None) as session:
        results = await examine(session, town.clock.now(), lambda *_: None)
        owed = {
            (str(each.employee_id), each.code): Fraction(each.amount)
            for each in await open_taxes(session, town.clock.now())
            if each.tax_year == 2026
        }
    assert [(each.name, each.differences) for each in results if each.found] == [], told
    kept = {
        (row[0], row[1]): (Fraction(row[2], 100), Fraction(row[3], 100)) for row in rows(connection, YEAR)
    }
    for employee, lines in demanded.items():
        for code, line in lines.items():
            taxable, tax = kept.get((employee, code), (0, 0))
            left = owed.get((employee, code), 0)
            assert abs(tax + left - line.tax) <= line.slack, (code, tax, left, line, told)
            assert left or taxable == line.taxable, (code, told)


@pytest.mark.parametrize(
    "seed", [seed if seed in (0, 2) else pytest.param(seed, marks=pytest.mark.long) for seed in range(20)]
)
async def test_a_random_year_ends_where_the_households_wages_demand(
    seed: int, family: Family, town: Town, owner_database: Database, owner_connection: psycopg.Connection
):
    dice = random.Random(seed)
    other = await add_employee(family.caller, family.employer_id, first_name="Lena", email=None)
    books = Books(family, other, dice)
    await books.choose()
    for kind in ("run", "run", *dice.choices(("run", "void", "choose"), (5, 3, 2), k=6)):
        match kind:
            case "run":
                await books.run_any()
            case "void":
                await books.void()
            case "choose":
                await books.choose()
        await _assert_right(books, town, owner_database, owner_connection, kind)


async def test_a_scheduled_payroll_is_measured_when_it_fires(
    family: Family, town: Town, owner_database: Database, owner_connection: psycopg.Connection
):
    """Approved below the thresholds; by the time it fires, another payroll of the quarter has come near them."""
    other = await add_employee(family.caller, family.employer_id, first_name="Lena", email=None)
    books = Books(family, other, random.Random(1))
    await books.choose()
    payroll, paid = await books.run(date(2026, 12, 18), {family.employee_id: 400}, "direct_deposit")
    estimate = data(await family.caller.get(f"/payroll/{payroll}"))
    assert estimate["status"] == "scheduled"
    assert {line["amount"] for line in estimate["employees"][0]["lines"] if line["payer"] == "employer"} == {
        0
    }
    await books.run(date(2026, 11, 20), {other: 700})
    await town.live_through("2026-12-10", "2026-12-11")
    fired = data(await family.caller.get(f"/payroll/{payroll}"))
    assert fired["status"] == "pending_funding"
    lines = {line["code"]: line["amount"] for line in fired["employees"][0]["lines"]}
    assert lines["US-FUTA"] == 2.40
    assert lines["CA-SDI-EE"] == 5.20
    books.standing[payroll] = paid
    await _assert_right(books, town, owner_database, owner_connection, "fired")
    async with owner_database.transaction(None) as session:
        owed = {
            (str(each.employee_id), each.code): D(each.amount)
            for each in await open_taxes(session, town.clock.now())
        }
    assert owed[other, "US-FUTA"] == D("4.20")
    assert owed[other, "CA-SDI-EE"] == D("9.10")


async def test_a_deposit_made_anew_in_the_new_year_counts_there(
    town: Town, account: Account, owner_database: Database, owner_connection: psycopg.Connection
):
    """By the new year's own wages, which a check of another employee then takes over the threshold."""
    family = await family_of_2025(town, account)
    other = await add_employee(
        account.live, family.employer_id, first_name="Lena", email=None, start_date="2025-01-06"
    )
    books = Books(family, other, random.Random(1))
    await books.choose()
    entry = {"employee_id": family.employee_id, "regular_hours": 20, "payment_method": "direct_deposit"}
    order = family.order("2025-12-22", employees=[entry], **DECEMBER)
    held = data(await family.caller.post("/payroll/run", order))  # 570
    books.day = date(2025, 12, 8)
    await books.run(date(2025, 12, 15), {other: 300})
    await town.live_through("2025-12-15", "2025-12-17")
    await town.live_through("2026-01-05", "2026-01-06")
    assert data(await family.caller.get(f"/payroll/{held['payroll_id']}"))["status"] == "failed"
    books.standing["anew"] = [
        {
            "employee": family.employee_id,
            "pay_date": "2026-01-12",
            "work_state": "CA",
            "wages": Fraction(570),
        }
    ]
    await _assert_right(books, town, owner_database, owner_connection, "anew")
    await books.run(date(2026, 1, 6), {other: 500})
    await _assert_right(books, town, owner_database, owner_connection, "crossed")
    async with owner_database.transaction(None) as session:
        owed = {
            (str(each.employee_id), each.code): D(each.amount)
            for each in await open_taxes(session, town.clock.now())
        }
    assert owed[family.employee_id, "US-FUTA"] == D("3.42")
