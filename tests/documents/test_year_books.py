"""Years out of the real database: W-2, W-3 and Schedule H against sums of the ledger by SQL, whatever happened."""

import datetime
import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.documents.figures.schedule_h import schedule_h_of
from hearthpay.documents.figures.stub import stub_of
from hearthpay.documents.figures.w2 import w2_of
from hearthpay.documents.figures.w3 import w3_of
from hearthpay.documents.year_books import YearOnRecord, read_year_on_record
from tests.doctor.books import keep_books
from tests.http.api import ROSA, Account, Caller, data

YEAR = 2026
_LINES = (
    "SELECT coalesce(sum(amount), 0)::bigint FROM paycheck_lines WHERE employer_id = %(employer)s "
    "AND tax_year = %(year)s AND code = ANY(%(codes)s)"
)
_PRIOR = (
    "SELECT coalesce(sum((line->>'amount')::bigint), 0)::bigint FROM prior_wages, jsonb_array_elements(lines) line "
    "WHERE employer_id = %(employer)s AND tax_year = %(year)s AND replaced_by IS NULL "
    "AND line->>'code' = ANY(%(codes)s)"
)


class Ledger:
    """What SQL adds up of a household's year: every paycheck and every one that undoes another, and prior wages."""

    def __init__(self, owner: psycopg.Connection, employer_id: UUID) -> None:
        self._owner = owner
        self._which = {"employer": employer_id, "year": YEAR}

    def amount(self, *codes: str) -> int:
        return sum(self._one(query, codes=list(codes)) for query in (_LINES, _PRIOR))

    def gross(self) -> int:
        return sum(
            self._one(
                f"SELECT coalesce(sum(gross_pay), 0)::bigint FROM {table} WHERE employer_id = %(employer)s "
                f"AND tax_year = %(year)s {more}"
            )
            for table, more in (("paychecks", ""), ("prior_wages", "AND replaced_by IS NULL"))
        )

    def income_taxes(self) -> dict[str, int]:
        rows = self._owner.execute(
            "SELECT left(code, 2), sum(amount)::bigint FROM paycheck_lines WHERE employer_id = %(employer)s "
            "AND tax_year = %(year)s AND code LIKE '__-SIT' GROUP BY 1 HAVING sum(amount) <> 0",
            self._which,
        )
        return dict(rows.fetchall())

    def _one(self, query: str, **more: Any) -> int:
        row = self._owner.execute(query, self._which | more).fetchone()
        assert row is not None
        return int(row[0])


def hold(year: YearOnRecord, ledger: Ledger) -> None:
    """Hold the year's papers against the ledger, to the cent."""
    everyone = list(year.books.everyone())
    if not everyone:
        assert ledger.gross() == 0
        return
    forms = [w2_of(books) for books in everyone]
    w3 = w3_of(forms)
    schedule = schedule_h_of(year.books)
    assert w3.box_1.cents == sum(form.box_1.cents for form in forms) == ledger.gross()
    assert _cents(w3.box_2) == ledger.amount("US-FIT", "US-FIT-SUP")
    kept = {code: ledger.amount(code) for code in ("US-SS-EE", "US-MED-EE", "US-ADDMED-EE")}
    not_owed = [books for books in everyone if not books.owes_fica]
    for code in kept:
        kept[code] -= sum(part.cents for books in not_owed for part in books.amounts({code}))
    assert _cents(w3.box_4) == kept["US-SS-EE"]
    assert _cents(w3.box_6) == kept["US-MED-EE"] + kept["US-ADDMED-EE"]
    by_state: dict[str, int] = {}
    for form in forms:
        for row in form.states:
            by_state[row.state] = by_state.get(row.state, 0) + _cents(row.tax)
    assert {state: cents for state, cents in by_state.items() if cents} == ledger.income_taxes()
    assert _cents(w3.box_17) == sum(by_state.values())
    if schedule.line_7 is not None:
        assert schedule.line_7.cents == _cents(w3.box_2)
    assert _cents(schedule.line_1) == _cents(w3.box_3)
    assert _cents(schedule.line_3) == _cents(w3.box_5)
    if schedule.line_16 is not None:
        assert schedule.line_16.ledger_cents == ledger.amount("US-FUTA")
    if schedule.line_24 is not None:
        assert schedule.line_24.ledger_cents == ledger.amount("US-FUTA", "US-FUTA-CR")
    for booked in year.books.paychecks:
        if booked.reverses is None:
            stub = stub_of(year.books, booked.id)
            assert (
                stub.net_pay.cents == stub.gross_pay.cents - stub.withheld_total.cents - stub.set_aside.cents
            )


def _cents(figure: Any) -> int:
    return 0 if figure is None else figure.cents


async def test_books_with_checks_voids_failed_deposits_and_refunds(
    database: Database,
    owner_database: Database,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    await keep_books(database, owner_database, worker_database)
    households = owner_connection.execute("SELECT id FROM employers").fetchall()
    seen = 0
    for (employer_id,) in households:
        async with owner_database.transaction(None) as session:
            year = await read_year_on_record(session, employer_id, YEAR)
        hold(year, Ledger(owner_connection, employer_id))
        seen += len(year.books.paychecks)
    undone = owner_connection.execute("SELECT FROM paychecks WHERE reverses IS NOT NULL").rowcount
    assert len(households) == 7
    assert undone > 3
    assert seen == owner_connection.execute("SELECT FROM paychecks WHERE tax_year = 2026").rowcount


class RandomYear:
    """A household whose year goes as the dice fall: pay, bonuses, voids, leaving and coming back, prior wages."""

    def __init__(self, caller: Caller, clock: FixedClock, seed: int) -> None:
        self.caller, self.clock, self.dice = caller, clock, random.Random(seed)
        self.employer_id = ""
        self.active: list[str] = []
        self.left: list[str] = []
        self.payrolls: list[str] = []
        self.week = datetime.date(YEAR, 1, 5)

    async def begin(self) -> None:
        state = self.dice.choice(("CA", "NY", "TX"))
        new = {"first_name": "Dee", "last_name": "Random", "email": "dee@example.com", "state": state}
        if self.dice.random() < 0.4:
            new["threshold_basis"] = "as_paid"
        self.employer_id = data(await self.caller.post("/employers", new), 201)["id"]
        for name in ("Ana", "Eva"):
            person = ROSA | {
                "employer_id": self.employer_id,
                "first_name": name,
                "pay_rate": self.dice.choice((15, 28.5, 65)),
                "federal_withholding": {"elected": self.dice.random() < 0.7},
            }
            self.active.append(data(await self.caller.post("/employees", person), 201)["id"])

    async def step(self) -> None:
        deeds: list[tuple[int, Callable[[], Any]]] = [
            (6, self._pay),
            (2, self._void),
            (1, self._leave_or_return),
            (1, self._prior),
        ]
        weights, choices = zip(*deeds, strict=True)
        await self.dice.choices(choices, weights)[0]()

    async def _pay(self) -> None:
        if not self.active or self.week > datetime.date(YEAR, 11, 1):
            return
        start, self.week = self.week, self.week + datetime.timedelta(days=7)
        entries = []
        for employee in self.active:
            entry = {
                "employee_id": employee,
                "regular_hours": self.dice.randint(4, 45),
                "payment_method": "check",
            }
            if self.dice.random() < 0.2:
                entry["bonus"] = self.dice.choice((50, 999.99, 60_000))
            if self.dice.random() < 0.2:
                entry["voluntary_set_aside"] = {"amount": 12.34}
            entries.append(entry)
        body = {
            "employer_id": self.employer_id,
            "pay_period_start": str(start),
            "pay_period_end": str(start + datetime.timedelta(days=6)),
            "pay_date": str(start + datetime.timedelta(days=11)),
            "pay_frequency": "weekly",
            "employees": entries,
        }
        self.payrolls.append(data(await self.caller.post("/payroll/run", body))["payroll_id"])

    async def _void(self) -> None:
        if self.payrolls:
            payroll = self.payrolls.pop(self.dice.randrange(len(self.payrolls)))
            data(await self.caller.post(f"/payroll/{payroll}/void", {}))

    async def _leave_or_return(self) -> None:
        if self.left:
            employee = self.left.pop()
            data(await self.caller.post(f"/employees/{employee}/reinstate", {}))
            self.active.append(employee)
        elif len(self.active) > 1:
            employee = self.active.pop()
            data(await self.caller.post(f"/employees/{employee}/terminate", {"end_date": "2026-11-20"}))
            self.left.append(employee)

    async def _prior(self) -> None:
        cents = self.dice.randint(100, 400_000)
        wages = cents / 100
        lines = [
            {
                "code": code,
                "subject_wages": wages,
                "taxable_wages": wages,
                "amount": round(cents * rate) / 100,
            }
            for code, rate in (
                ("US-SS-EE", 0.062),
                ("US-MED-EE", 0.0145),
                ("US-SS-ER", 0.062),
                ("US-MED-ER", 0.0145),
            )
        ]
        body = {
            "tax_year": YEAR,
            "source": "Another payroll",
            "as_of": "2026-01-04",
            "gross_pay": wages,
            "lines": lines,
        }
        employee = self.dice.choice(self.active + self.left)
        data(await self.caller.post(f"/employees/{employee}/prior-wages", body), 201)


async def _hold_random_year(
    seed: int, steps: int, caller: Caller, clock: FixedClock, owner: Database, connection: psycopg.Connection
) -> None:
    year = RandomYear(caller, clock, seed)
    await year.begin()
    for number in range(steps):
        await year.step()
        if number % 5 == 4 or number == steps - 1:
            async with owner.transaction(None) as session:
                record = await read_year_on_record(session, UUID(year.employer_id), YEAR)
            hold(record, Ledger(connection, UUID(year.employer_id)))


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_random_year(
    seed: int,
    account: Account,
    clock: FixedClock,
    owner_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    await _hold_random_year(seed, 15, account.live, clock, owner_database, owner_connection)


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_random_years_for_long(
    account: Account, clock: FixedClock, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    for seed in range(100, 140):
        await _hold_random_year(seed, 60, account.live, clock, owner_database, owner_connection)


async def test_two_records_of_one_person_have_one_form(
    account: Account,
    household: dict[str, Any],
    clock: FixedClock,
    owner_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    """Whoever was added again, and is known for the same by the number, has one Form W-2."""
    employer_id = UUID(household["id"])
    year = RandomYear(account.live, clock, 7)
    year.employer_id = household["id"]
    for name in ("Rosa", "Rosita"):
        body = ROSA | {"employer_id": household["id"], "first_name": name}
        year.active = [data(await account.live.post("/employees", body), 201)["id"]]
        year.left += year.active
        await year._pay()
    first, second = year.left
    owner_connection.execute(
        "UPDATE employees SET person_id = %s WHERE id = ANY(%s)", (first, [first, second])
    )
    async with owner_database.transaction(None) as session:
        record = await read_year_on_record(session, employer_id, YEAR)
    (form,) = [w2_of(books) for books in record.books.everyone()]
    assert form.person_id == UUID(first)
    assert form.name == "Rosita Diaz"
    hold(record, Ledger(owner_connection, employer_id))
