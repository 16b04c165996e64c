"""Random years of someone who leaves and comes back, reinstated or as a new record, through the API, database and bank.

What stands at the end is what the wages of all records demand, as one person's year.
"""

import random
from datetime import date, timedelta
from fractions import Fraction
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_taxes
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employees.onboarding import save_employee_tax_number
from hearthpay.employees.service import lock_everyone
from hearthpay.payroll.years.household_year import measure_people_anew
from hearthpay.security.vault_numbers import parse_number
from tests.http.api import data
from tests.payroll.test_years_of_the_service import Books
from tests.taxes.fraction_model import year_by_its_wages
from tests.worlds.households import add_employee
from tests.worlds.keys import ring
from tests.worlds.town import Family, Town, app, family, rows, town

__all__ = ["app", "family", "ring", "town"]

YEAR = (
    "SELECT u.code, sum(u.taxable), sum(u.amount) FROM year_balances, unnest(codes, taxable_wages, amounts) "
    "AS u (code, taxable, amount) WHERE tax_year = 2026 GROUP BY 1"
)
OWED = "SELECT o.key, o.value::bigint FROM year_balances, jsonb_each_text(owed) AS o WHERE tax_year = 2026"
HERS, ANOTHERS = "536228145", "219448145"


class Comings:
    """The records of one person: she leaves, comes back, and enters her number, which may be wrong at first."""

    def __init__(self, town: Town, family: Family, books: Books, owner: Database) -> None:
        self.town, self.family, self.books, self.owner = town, family, books, owner
        self.records = [family.employee_id]

    async def enter(self, employee_id: str, number: str) -> None:
        """Do what the portal does with a number."""
        async with self.owner.transaction(None) as session:
            employee = await session.get_one(Employee, UUID(employee_id))
            tenant = {name: getattr(employee, name) for name in ("organization_id", "employer_id", "sandbox")}
            actor = Actor.employee(
                employee.id,
                employee.organization_id,
                employee.employer_id,
                sandbox=employee.sandbox,
                request_id="r",
            )
            await lock_everyone(session, actor, employee.id)
            touched = await save_employee_tax_number(
                session,
                self.town.ring,
                actor,
                Invitation(employee_id=employee.id, **tenant),
                parse_number("ssn", number),
            )
            await measure_people_anew(session, touched)

    async def leave(self) -> None:
        path = f"/employees/{self.family.employee_id}/terminate"
        data(await self.family.caller.post(path, {"end_date": "2026-11-19"}))

    async def return_as_before(self, which: str) -> None:
        data(await self.family.caller.post(f"/employees/{which}/reinstate", {}))
        self.family.employee_id = which

    async def return_anew(self) -> None:
        caller, employer_id = self.family.caller, self.family.employer_id
        name = f"Rosa {'I' * len(self.records)}"
        added = await add_employee(caller, employer_id, first_name=name, start_date="2026-01-01")
        await self.town.connect(caller, employer_id, added, account="987654321")
        self.records.append(added)
        self.family.employee_id = added


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 60))]
)
async def test_a_year_of_comings_and_goings_is_one(
    seed: int, family: Family, town: Town, owner_database: Database, owner_connection: psycopg.Connection
):
    dice = random.Random(f"rehired {seed}")
    books = Books(family, dice)
    comings = Comings(town, family, books, owner_database)
    if dice.random() < 0.5:
        await comings.enter(family.employee_id, HERS)
    await books.run(date(2026, 12, 18), method="direct_deposit")
    scheduled_anew = False
    for kind in dice.choices(("check", "catch-up", "void", "rehire", "number"), (4, 2, 3, 2, 2), k=9):
        if kind == "check":
            await books.run(date(2026, 11, 20))
        elif kind == "catch-up":
            late = date(2026, 1, 5) + timedelta(days=dice.randrange(50, 300))
            await books.run(late, notes="catch-up")
        elif kind == "void":
            await books.void()
        elif kind == "number":
            await comings.enter(dice.choice(comings.records), dice.choice((HERS, HERS, ANOTHERS)))
        else:
            await comings.leave()
            if dice.random() < 0.4 or len(comings.records) == 3:
                await comings.return_as_before(family.employee_id)
            else:
                await comings.return_anew()
                if not scheduled_anew:
                    await books.run(date(2026, 12, 18), method="direct_deposit")
                    scheduled_anew = True
    for record in comings.records:
        await comings.enter(record, HERS)
    await town.live_through(
        "2026-12-10", "2026-12-11"
    )  # what was scheduled for 18 December fires, in one chunk
    fired = rows(owner_connection, "SELECT id FROM payrolls WHERE status = 'pending_funding'")
    assert len(fired) == 1 + scheduled_anew
    for number, paid in enumerate(books.scheduled):
        books.standing[f"fired {number}"] = paid | {"sui_rate": None}
    family.employee_id = dice.choice(comings.records)
    await books.run(date(2026, 12, 11))
    demanded = year_by_its_wages(list(books.standing.values()))
    kept = {
        code: (Fraction(int(taxable), 100), Fraction(int(amount), 100))
        for code, taxable, amount in rows(owner_connection, YEAR)
    }
    owed = {code: Fraction(int(cents), 100) for code, cents in rows(owner_connection, OWED)}
    for code, line in demanded.items():
        taxable, tax = kept.get(code, (0, 0))
        if line.payer == "employer":
            assert (taxable, owed.get(code, 0)) == (line.taxable, 0), code
        assert abs(tax + owed.get(code, 0) - line.tax) <= line.slack, code
    async with owner_database.transaction(None) as session:
        results = await examine(session, town.clock.now(), lambda *_: None)
        still = await open_taxes(session, town.clock.now())
    assert [(each.name, each.differences) for each in results if each.found] == []
    assert {each.code: Fraction(each.amount) for each in still} == owed
