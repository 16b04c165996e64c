"""The year of a whole household: its wages against the thresholds, and what each employee's year owes by them.

Only households that chose how their thresholds count come here, and those that repaid Social Security and Medicare.
Whoever works on such a year locks all employees of the household first, in the order of their ids: each one's wages
decide on what the others owe.
"""

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.employers.threshold_basis import AS_PAID, basis_of, threshold_bases
from hearthpay.payroll.ledger import note_owed, read_histories, read_standing_wages
from hearthpay.payroll.orders import read_payees
from hearthpay.payroll.records import PayrollRecord
from hearthpay.payroll.register import Due, History, Payment
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import (
    QUARTERS,
    QuarterlyWages,
    first_days,
    guarded_codes,
    guards_of,
    wages_by_line,
)
from hearthpay.taxes.money import scaled_rate
from hearthpay.taxes.year import LiableFrom, PaidWages

_EMPLOYEES: Final = text(
    "SELECT id, coalesce(person_id, id) AS person, work_state, relationship FROM employees "
    "WHERE employer_id = :employer ORDER BY id"
)
_LAST_YEAR: Final = text(
    "SELECT c.employee_id, p.pay_date, l.code, l.subject_wages FROM paychecks c "
    "JOIN payrolls p ON p.id = c.payroll_id JOIN paycheck_lines l ON l.paycheck_id = c.id "
    "WHERE c.employee_id = ANY(:employees) AND c.tax_year = :tax_year AND l.subject_wages <> 0"
)
_PRIOR: Final = text(
    "SELECT employee_id, tax_year, as_of, gross_pay, codes, subject_wages FROM prior_wages "
    "WHERE employee_id = ANY(:employees) AND tax_year = ANY(:years) AND replaced_by IS NULL"
)


@dataclass(slots=True)
class HouseholdYear:
    """A household's paychecks of a year that stand, and what else counts towards its thresholds."""

    tax_year: int
    #: Whether what waits for a threshold is charged once the wages paid have reached it.
    as_paid: bool
    #: Whether the household ever chose: then every line that waits for a threshold follows the year's wages.
    chosen: bool
    #: The person behind each record.
    persons: Mapping[UUID, UUID]
    standing: dict[UUID, list[PaidWages]]
    refunded: Collection[UUID] = ()
    prior: QuarterlyWages = field(default_factory=QuarterlyWages)
    last_year: QuarterlyWages = field(default_factory=QuarterlyWages)
    #: Where anybody works or has worked in the year.
    states: frozenset[str] = frozenset()

    def liable(self, payments: Mapping[UUID, Payment] | None = None) -> dict[UUID, LiableFrom]:
        """Return for each employee from which pay date on the lines are due, with these payments made."""
        wages = self._wages()
        states = self.states | {each.work_state for paid in self.standing.values() for each in paid}
        for employee, payment in (payments or {}).items():
            states |= {payment.work_state}
            wages.add(self.persons[employee], payment.pay_date, payment.wages)
        persons = {self.persons[employee] for employee in self.persons}
        reached = first_days(self.tax_year, states, persons, wages, self.last_year)
        if self.as_paid:
            return {employee: reached[person] for employee, person in self.persons.items()}
        return {
            employee: self._assumed(states)
            | (self._fica(states, reached[person]) if employee in self.refunded else {})
            for employee, person in self.persons.items()
        }

    def _wages(self) -> QuarterlyWages:
        wages = QuarterlyWages(dict(self.prior.cents))
        for employee, paid in self.standing.items():
            for paycheck in paid:
                subject = {code: cents for code, (cents, _) in paycheck.lines.items()}
                wages.add(self.persons[employee], paycheck.pay_date, subject)
        return wages

    def fica_wages(self, employee: UUID) -> int:
        """Return the cents of the year that count towards the threshold of Social Security and Medicare."""
        wages = self._wages()
        [codes] = {
            guard.codes
            for state in self.states
            for guard in guards_of(self.tax_year, state)
            if guard.threshold.liability == "fica"
        }
        return sum(wages.of(codes, quarter, self.persons[employee]) for quarter in QUARTERS)

    def _assumed(self, states: Collection[str]) -> dict[str, datetime.date | None]:
        """All lines are due from the first dollar; where nobody ever chose, nothing need be said of them."""
        if not self.chosen:
            return {}
        return dict.fromkeys(guarded_codes(self.tax_year, states), datetime.date(self.tax_year, 1, 1))

    def _fica(self, states: Collection[str], reached: LiableFrom) -> dict[str, datetime.date | None]:
        codes = {
            code
            for state in states
            for guard in guards_of(self.tax_year, state)
            if guard.threshold.liability == "fica"
            for code in guard.codes
        }
        return {code: reached[code] for code in codes}

    def due(self, payments: Mapping[UUID, Payment]) -> dict[UUID, Due]:
        """See `hearthpay.payroll.register.Thresholds`."""
        liable = self.liable(payments)
        return {employee: Due(liable[employee], self.standing.get(employee, ())) for employee in payments}

    def add(self, record: PayrollRecord) -> None:
        """Count the paychecks of a payroll that has been made."""
        for paycheck in record.paychecks:
            lines = {
                line.code: (line.subject_wages, None if line.rate is None else scaled_rate(line.rate))
                for line in paycheck.lines
            }
            paid = PaidWages(record.dates.pay_date, paycheck.work_state, lines)
            self.standing.setdefault(paycheck.employee_id, []).append(paid)


async def lock_household(
    session: AsyncSession, employer_id: UUID, employees: Collection[UUID]
) -> Mapping[str, str]:
    """Lock the employees whose years may change with those of ``employees``; return the household's bases.

    All of them where the household ever chose a basis, else those named.
    """
    bases = await threshold_bases(session, employer_id)
    if not bases:
        await read_payees(session, list(employees))
        bases = await threshold_bases(session, employer_id)
    if bases:
        await lock_all(session, employer_id)
    return bases


async def lock_all(session: AsyncSession, employer_id: UUID) -> None:
    """Lock every employee of the household, in the order of their ids."""
    rows = await session.execute(_EMPLOYEES, {"employer": employer_id})
    await read_payees(session, [row.id for row in rows])


async def read_household_year(
    session: AsyncSession,
    employer_id: UUID,
    tax_year: int,
    bases: Mapping[str, str],
    histories: Mapping[UUID, History],
) -> HouseholdYear:
    """Return the household's year as its paychecks stand; ``histories`` are those of the employees it is asked for."""
    employees = (await session.execute(_EMPLOYEES, {"employer": employer_id})).all()
    ids = [row.id for row in employees]
    persons = {row.id: row.person for row in employees}
    standing = await read_standing_wages(session, ids, tax_year)
    codes = {code for history in histories.values() for code in history.year_to_date.taxable_wages}
    year = HouseholdYear(
        tax_year=tax_year,
        as_paid=basis_of(bases, tax_year) == AS_PAID,
        chosen=bool(bases),
        persons=persons,
        standing=standing,
        refunded=frozenset(employee for employee, history in histories.items() if history.fica_refunded),
        states=frozenset(
            {code[:2] for code in codes} & STATES.keys() | {row.work_state for row in employees}
        ),
    )
    which = {"employees": ids, "tax_year": tax_year - 1}
    for row in await session.execute(_LAST_YEAR, which):
        year.last_year.add(persons[row.employee_id], row.pay_date, {row.code: row.subject_wages})
    ties = {row.id: (row.work_state, row.relationship) for row in employees}
    for row in await session.execute(_PRIOR, {"employees": ids, "years": [tax_year, tax_year - 1]}):
        told = dict(zip(row.codes, row.subject_wages, strict=True))
        wages = wages_by_line(tax_year, *ties[row.employee_id], row.gross_pay, told)
        counted = year.prior if row.tax_year == tax_year else year.last_year
        counted.add(persons[row.employee_id], row.as_of, wages)
    return year


async def measure_household(
    session: AsyncSession,
    employer_id: UUID,
    tax_year: int,
    bases: Mapping[str, str],
    employees: Sequence[UUID] | None = None,
) -> None:
    """Note what the years of a household owe by its thresholds, this year's and, since they follow it, the next one's.

    All employees of the household must be locked. Without ``bases`` only those named are measured, which must be
    locked then.
    """
    if bases:
        rows = await session.execute(_EMPLOYEES, {"employer": employer_id})
        employees = [row.id for row in rows]
    for year in (tax_year, tax_year + 1) if bases else (tax_year,):
        histories = await read_histories(session, employees or (), year)
        if not histories:
            continue
        household = await read_household_year(session, employer_id, year, bases, histories)
        liable = household.liable()
        for employee, history in histories.items():
            standing = household.standing.get(employee, ())
            owed = history.measured_by(standing, year, liable[employee]).year.owed
            if owed != history.year.owed:
                await note_owed(session, employee, year, owed)
