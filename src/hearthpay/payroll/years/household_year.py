"""The year of a whole household: its wages against the thresholds, and what each person's year owes by them.

Only households that chose how their thresholds count, or that refunded Social Security and Medicare, have such a
year. For all others, changes made outside of paychecks are measured here for each person alone. Code that works on
such a year locks all employees of the household first, in the order of their ids: each one's wages determine what the
others owe. A person's year is one, whichever record was paid.
"""

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.same_person import Record
from hearthpay.employers.threshold_basis import AS_PAID, basis_of, threshold_bases
from hearthpay.payroll.calculation import Due, Payment, paid_wages
from hearthpay.payroll.ledger.histories import (
    note_owed,
    paid_years,
    read_histories,
    read_standing_wages,
    read_wages_of,
)
from hearthpay.payroll.ledger.lines import LINES
from hearthpay.payroll.ledger.rows import PayrollRecord
from hearthpay.payroll.ledger.years import History
from hearthpay.payroll.orders import read_payees
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import (
    QUARTERS,
    QuarterlyWages,
    first_days,
    guarded_codes,
    guards_of,
    wages_by_line,
)
from hearthpay.taxes.rulebook import supported_years
from hearthpay.taxes.year import ALL_DUE, LiableFrom, PaidWages


class _Employee(NamedTuple):
    """An employee record of the household."""

    id: UUID
    person_id: UUID | None
    work_state: str
    relationship: str
    end_date: datetime.date | None

    @property
    def person(self) -> UUID:
        """The person's first record."""
        return self.person_id or self.id


_EMPLOYEES: Final = query(
    _Employee,
    "SELECT id, person_id, work_state, relationship, end_date FROM {employees} e WHERE employer_id = :employer "
    "ORDER BY id",
    employees=EMPLOYEES,
)
_EMPLOYER: Final = statement(
    "SELECT employer_id FROM {employees} e WHERE id = :employee", employees=EMPLOYEES
)


class _LastYearRow(NamedTuple):
    employee_id: UUID
    pay_date: datetime.date
    code: str
    subject_wages: int


_LAST_YEAR: Final = query(
    _LastYearRow,
    "SELECT c.employee_id, p.pay_date, l.code, l.subject_wages FROM paychecks c "
    "JOIN payrolls p ON p.id = c.payroll_id {lines} "
    "WHERE c.employee_id = ANY(:employees) AND c.tax_year = :tax_year AND l.subject_wages <> 0",
    lines=LINES,
)


class _PriorRow(NamedTuple):
    employee_id: UUID
    tax_year: int
    as_of: datetime.date
    gross_pay: int
    codes: list[str]
    subject_wages: list[int]


_PRIOR: Final = query(
    _PriorRow,
    "SELECT employee_id, tax_year, as_of, gross_pay, codes, subject_wages FROM prior_wages "
    "WHERE employee_id = ANY(:employees) AND tax_year = ANY(:years) AND replaced_by IS NULL",
)


async def _employees_of(session: AsyncSession, employer_id: UUID) -> list[_Employee]:
    return await fetch_all(session, _EMPLOYEES, {"employer": employer_id})


@dataclass(slots=True)
class HouseholdYear:
    """A household's standing paychecks of a year, and what else counts toward its thresholds."""

    tax_year: int
    as_paid: bool
    """Whether a line with a threshold is charged once the wages paid have reached it."""

    chosen: bool
    """Whether the household ever chose: then every line with a threshold follows the year's wages."""

    persons: Mapping[UUID, UUID]
    """The person behind each record."""

    standing: dict[UUID, list[PaidWages]]
    """What was paid to each person, in the order of the runs."""

    refunded: Collection[UUID] = ()
    """The persons whose Social Security and Medicare were refunded."""

    left: Mapping[UUID, datetime.date] = field(default_factory=dict)
    """The last day of work under any record, for persons whose records have all ended."""

    prior: QuarterlyWages = field(default_factory=QuarterlyWages)
    last_year: QuarterlyWages = field(default_factory=QuarterlyWages)
    states: frozenset[str] = frozenset()
    """The states where anyone works or has worked in the year."""

    def liable(self, payments: Mapping[UUID, Payment] | None = None) -> dict[UUID, LiableFrom]:
        """Return, for each employee, the pay date from which each line is due, with these payments included."""
        wages = self._wages()
        states = self.states | {each.work_state for paid in self.standing.values() for each in paid}
        for employee, payment in (payments or {}).items():
            states |= {payment.work_state}
            wages.add(self.persons[employee], payment.pay_date, payment.wages)
        persons = set(self.persons.values())
        reached = first_days(self.tax_year, states, persons, wages, self.last_year)
        if self.as_paid:
            return {employee: reached[person] for employee, person in self.persons.items()}
        return {
            employee: self._assumed(states)
            | (self._fica(states, reached[person]) if person in self.refunded else {})
            for employee, person in self.persons.items()
        }

    def _wages(self) -> QuarterlyWages:
        wages = QuarterlyWages({person: dict(own) for person, own in self.prior.cents.items()})
        for person, paid in self.standing.items():
            for paycheck in paid:
                subject = {code: cents for code, (cents, _) in paycheck.lines.items()}
                wages.add(person, paycheck.pay_date, subject)
        return wages

    def fica_wages(self, employee: UUID) -> int:
        """Return the cents of the person's year that count toward the threshold of Social Security and Medicare."""
        wages = self._wages()
        [codes] = {
            guard.codes
            for state in self.states
            for guard in guards_of(self.tax_year, state)
            if guard.threshold.liability == "fica"
        }
        return sum(wages.of(codes, quarter, self.persons[employee]) for quarter in QUARTERS)

    def _assumed(self, states: Collection[str]) -> dict[str, datetime.date | None]:
        """Return all lines as due from the first dollar; empty if the household never chose."""
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
        """See `hearthpay.payroll.calculation.Thresholds`."""
        liable = self.liable(payments)
        return {employee: Due(liable[employee], self.standing_of(employee)) for employee in payments}

    def standing_of(self, employee: UUID) -> Sequence[PaidWages]:
        """Return what was paid to the person behind a record, in the order of the runs."""
        return self.standing.get(self.persons[employee], ())

    def has_left(self, employee: UUID, day: datetime.date) -> bool:
        """Return whether none of the person's records is employed after the given day."""
        last = self.left.get(self.persons[employee])
        return last is not None and last <= day

    def add(self, record: PayrollRecord) -> None:
        """Count the paychecks of a payroll that has been created."""
        for paycheck in record.paychecks:
            paid = paid_wages(paycheck, record.dates.pay_date)
            self.standing.setdefault(self.persons[paycheck.employee_id], []).append(paid)


async def lock_household(
    session: AsyncSession, employer_id: UUID, employees: Collection[UUID]
) -> Mapping[str, str]:
    """Lock the employees whose years may change with those of ``employees``; return the household's bases.

    Locks all employees if the household ever chose a basis, otherwise those given.
    """
    bases = await threshold_bases(session, employer_id)
    if not bases:
        await read_payees(session, list(employees))
        bases = await threshold_bases(session, employer_id)
    if bases:
        await lock_all(session, employer_id)
        bases = await threshold_bases(session, employer_id)  # another choice may have been waited for
    return bases


async def lock_all(session: AsyncSession, employer_id: UUID) -> None:
    """Lock every employee of the household, in the order of their ids."""
    await read_payees(session, [each.id for each in await _employees_of(session, employer_id)])


async def read_household_year(
    session: AsyncSession,
    employer_id: UUID,
    tax_year: int,
    bases: Mapping[str, str],
    histories: Mapping[UUID, History],
) -> HouseholdYear:
    """Return the household's year based on its standing paychecks; ``histories`` are those of the employees in
    question.
    """
    employees = await _employees_of(session, employer_id)
    persons = {each.id: each.person for each in employees}
    records: dict[UUID, list[_Employee]] = {}
    for each in employees:
        records.setdefault(each.person, []).append(each)
    people = {person: [each.id for each in own] for person, own in records.items()}
    codes = {code for history in histories.values() for code in history.year_to_date.taxable_wages}
    year = HouseholdYear(
        tax_year=tax_year,
        as_paid=basis_of(bases, tax_year) == AS_PAID,
        chosen=bool(bases),
        persons=persons,
        standing=await read_wages_of(session, people, tax_year),
        # Those of other households may be among the histories: a chunk of payrolls is fired with one read.
        refunded=frozenset(
            persons[employee]
            for employee, history in histories.items()
            if history.fica_repaid and employee in persons
        ),
        left={person: day for person, own in records.items() if (day := _last_day(own)) is not None},
        states=frozenset(
            {code[:2] for code in codes} & STATES.keys() | {each.work_state for each in employees}
        ),
    )
    ids = list(persons)
    which = {"employees": ids, "tax_year": tax_year - 1}
    for line in await fetch_all(session, _LAST_YEAR, which):
        year.last_year.add(persons[line.employee_id], line.pay_date, {line.code: line.subject_wages})
    ties = {each.id: (each.work_state, each.relationship) for each in employees}
    for row in await fetch_all(session, _PRIOR, {"employees": ids, "years": [tax_year, tax_year - 1]}):
        subject_wages = dict(zip(row.codes, row.subject_wages, strict=True))
        wages = wages_by_line(tax_year, *ties[row.employee_id], row.gross_pay, subject_wages)
        counted = year.prior if row.tax_year == tax_year else year.last_year
        counted.add(persons[row.employee_id], row.as_of, wages)
    return year


async def read_liable(session: AsyncSession, employer_id: UUID, tax_year: int) -> dict[UUID, LiableFrom]:
    """Return, for each record of the household, when the lines with a threshold become due in a year.

    Empty if the household never chose and refunded nothing: then all are due from the first dollar.
    """
    records = await _employees_of(session, employer_id)
    bases = await threshold_bases(session, employer_id)
    histories = await read_histories(session, records, tax_year)
    if not bases and not any(history.fica_repaid for history in histories.values()):
        return {}
    return (await read_household_year(session, employer_id, tax_year, bases, histories)).liable()


def _last_day(records: Sequence[_Employee]) -> datetime.date | None:
    days = [each.end_date for each in records if each.end_date is not None]
    return max(days) if len(days) == len(records) else None


async def measure_household(
    session: AsyncSession,
    employer_id: UUID,
    tax_year: int,
    bases: Mapping[str, str],
    employees: Iterable[Record] = (),
) -> dict[tuple[UUID, int], Mapping[str, int]]:
    """Record what the years of a household owe by its thresholds: this year's and, since they follow it, the next
    one's.

    All employees of the household must be locked. Without ``bases`` only the given employees are measured, who must
    be locked then; a person's year is measured whichever record is given. Returns what is owed, in cents by line, for
    each record and year that changed.
    """
    changed: dict[tuple[UUID, int], Mapping[str, int]] = {}
    if bases:
        employees = await _employees_of(session, employer_id)
    records = list(employees)
    for year in (tax_year, tax_year + 1) if bases else (tax_year,):
        if year not in supported_years():
            continue
        histories = await read_histories(session, records, year)
        if not histories:
            continue
        if bases or any(history.fica_repaid for history in histories.values()):
            household = await read_household_year(session, employer_id, year, bases, histories)
            liable = household.liable()
            standing = {employee: household.standing_of(employee) for employee in histories}
        else:
            liable = {}
            standing = dict(await read_standing_wages(session, histories, year))
        measured: set[UUID] = set()
        for employee, history in histories.items():
            if employee in measured:
                continue
            measured |= {employee, *(history.others.ids if history.others is not None else ())}
            after = history.measured_by(standing[employee], year, liable.get(employee, ALL_DUE))
            moved = after.year.owed != history.year.owed or after.year.owed_wages != history.year.owed_wages
            if moved:
                changed[employee, year] = after.year.owed
            # Each of the joined records may have this recorded.
            if moved or history.others is not None:
                await note_owed(session, employee, history, year, after.year)
    return changed


async def measure_people_anew(session: AsyncSession, records: Collection[UUID]) -> None:
    """Record what every year owes for the people with these records, after records were joined to or split from them.

    All employees of the household must be locked.
    """
    if not records:
        return
    payees = await read_payees(session, list(records))
    employer_id = await session.scalar(_EMPLOYER, {"employee": next(iter(payees))})
    assert employer_id is not None, "its employees are locked"
    bases = await threshold_bases(session, employer_id)
    for tax_year in await paid_years(session, payees):
        await measure_household(session, employer_id, tax_year, bases, payees.values())
