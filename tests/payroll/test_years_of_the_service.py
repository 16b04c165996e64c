"""Random years through the API, the database and the bank: runs, voids, failures, late payrolls and rate changes.

Few and seeded; `test_random_years` tries many without the database. After each, the doctor finds the books right.
"""

import random
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.banking.return_handling import mark_returned
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_taxes
from hearthpay.employers.assigned_rates import assign_sui_rate
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from tests.http.api import data
from tests.taxes.fraction_model import year_by_its_wages
from tests.worlds.keys import ring
from tests.worlds.town import Family, Town, app, family, rows, town

__all__ = ["app", "family", "ring", "town"]

YEAR = (
    "SELECT u.code, u.taxable, u.amount FROM year_balances, unnest(codes, taxable_wages, amounts) "
    "AS u (code, taxable, amount) WHERE tax_year = 2026"
)
OWED = "SELECT o.key, o.value::bigint FROM year_balances, jsonb_each_text(owed) AS o WHERE tax_year = 2026"
IN_THE_SUITE = (0, 11)
"""A deposit that fails, and rates that change between voids; `make test-long` lives through the other years too."""

SEEDS = [seed if seed in IN_THE_SUITE else pytest.param(seed, marks=pytest.mark.long) for seed in range(20)]


class Books:
    """What a family's employee was paid, in plain figures, beside what the service keeps."""

    def __init__(self, family: Family, dice: random.Random) -> None:
        self.family, self.dice = family, dice
        self.day = date(2026, 1, 5)
        self.rate: Decimal | None = None
        #: In the order in which the paychecks were made, which is that of their run, or of the firing.
        self.standing: dict[str, dict[str, Any]] = {}
        self.scheduled: list[dict[str, Any]] = []

    async def run(self, pay_date: date, *, method: str = "check", notes: str | None = None) -> str:
        wages = self.dice.choice((self.dice.randrange(1, 4_000), self.dice.randrange(4_000, 90_000), 150_000))
        start = self.day
        self.day += timedelta(days=1)
        order = {
            "employer_id": self.family.employer_id,
            "pay_period_start": start.isoformat(),
            "pay_period_end": start.isoformat(),
            "pay_date": pay_date.isoformat(),
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": self.family.employee_id, "other_earnings": wages, "payment_method": method}
            ],
            "confirm_large_payroll": True,
            "confirm_ach_debit": True,
        } | ({"notes": notes} if notes else {})
        preview = data(await self.family.caller.post("/payroll/preview", order))
        ran = data(await self.family.caller.post("/payroll/run", order))
        assert ran["employees"] == preview["employees"]
        paid = {"pay_date": pay_date.isoformat(), "work_state": "CA", "wages": Fraction(wages)}
        if ran["status"] == "scheduled":
            self.scheduled.append(paid)
        else:
            self.standing[ran["payroll_id"]] = paid | {"sui_rate": self.rate}
        return ran["payroll_id"]

    async def void(self) -> None:
        if self.standing:
            chosen = self.dice.choice(sorted(self.standing))
            response = await self.family.caller.post(f"/payroll/{chosen}/void", {})
            if response.status_code == 200:
                del self.standing[chosen]


async def _fail(town: Town, owner_connection: psycopg.Connection) -> None:
    """The household's account is closed: the debit that is under way comes back, and the payroll is undone."""
    [(entry_id,)] = rows(
        owner_connection, "SELECT id FROM bank_entries WHERE kind = 'debit' AND status = 'sent'"
    )
    async with town.worker.transaction(None) as session:
        returned = await mark_returned(session, town.clock.now(), {entry_id: "R02"})
        await apply_returns(session, returned, town.clock.today(), town.clock.now())


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_random_year_ends_where_its_wages_demand(
    seed: int, family: Family, town: Town, owner_database: Database, owner_connection: psycopg.Connection
):
    dice = random.Random(seed)
    books = Books(family, dice)
    await books.run(date(2026, 12, 18), method="direct_deposit")
    deposited = None
    for kind in dice.choices(("check", "catch-up", "void", "rate", "deposit"), (3, 2, 3, 1, 1), k=10):
        if kind == "check":
            await books.run(date(2026, 11, 20))
        elif kind == "catch-up":
            late = date(2026, 1, 5) + timedelta(days=dice.randrange(50, 300))
            await books.run(late, notes="catch-up")
        elif kind == "void":
            await books.void()
        elif kind == "rate":
            books.rate = dice.choice((Decimal("0.015"), Decimal("0.062")))
            async with owner_database.transaction(None) as session:
                employer = UUID(family.employer_id)
                await assign_sui_rate(session, employer, tax_year=2026, state="CA", rate=books.rate)
        elif deposited is None:
            deposited = await books.run(date(2026, 11, 30), method="direct_deposit")
    await town.live_through("2026-11-20", "2026-11-24")
    if deposited is not None:
        await _fail(town, owner_connection)
        del books.standing[deposited]
    await town.live_through("2026-12-10", "2026-12-11")  # the payroll of 18 December fires
    fired = rows(owner_connection, "SELECT id FROM payrolls WHERE status = 'pending_funding'")
    assert len(fired) == (deposited is None)  # without an account it waits
    if fired:
        books.standing["fired"] = books.scheduled[0] | {"sui_rate": books.rate}
    await books.run(date(2026, 12, 11))
    demanded = year_by_its_wages(list(books.standing.values()))
    kept = {
        code: (Fraction(taxable, 100), Fraction(amount, 100))
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
