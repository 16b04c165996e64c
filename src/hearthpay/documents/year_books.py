"""A household's tax year from the database, as the plain data that the figures are calculated from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.documents.figures.books import BookedPaycheck, HouseholdBooks, Person, PriorEntry
from hearthpay.employees.models import Employee
from hearthpay.payroll.ledger.paychecks import PostedInYear, read_year
from hearthpay.payroll.years.household_year import read_liable
from hearthpay.payroll.years.prior_wages import read_prior_year
from hearthpay.taxes.rulebook import supported_years

_UNDER_WAY: Final = frozenset({"firing", "pending_funding", "processing"})


@dataclass(frozen=True, slots=True)
class YearOnRecord:
    """A household's year: its books, everybody's records, and the payrolls whose money is still in transit."""

    books: HouseholdBooks
    records: dict[UUID, tuple[Employee, ...]]
    """All records of each person, oldest first, by the first record."""

    statuses: dict[UUID, str]
    """The status of each payroll of the year."""

    def latest(self, person: UUID) -> Employee:
        """Return the last record of a person, which has the latest details."""
        return self.records[person][-1]

    def person_of(self, record: UUID) -> Person | None:
        """Return the person that a record belongs to; None for an unknown record."""
        return next((person for person in self.books.people if person.has(record)), None)

    @property
    def under_way(self) -> int:
        """How many payrolls of the year are paid by deposits that haven't arrived yet."""
        return sum(status in _UNDER_WAY for status in self.statuses.values())


async def read_year_on_record(session: AsyncSession, employer_id: UUID, tax_year: int) -> YearOnRecord:
    """Return a household's tax year from the ledger, as one transaction sees it.

    It counts what the ledger counts: what was posted, less what was reversed, and prior wages in force. What the
    household paid of an employee's share, and hours of sick leave, are in no table and are not invented.
    """
    employees = (
        await session.scalars(
            select(Employee).where(Employee.employer_id == employer_id).order_by(Employee.id)
        )
    ).all()
    known = tax_year in supported_years()
    posted = await read_year(session, employer_id, tax_year) if known else []
    prior = await read_prior_year(session, employer_id, tax_year) if known else []
    liable = await read_liable(session, employer_id, tax_year) if known else {}
    records = _by_person(employees)
    books = HouseholdBooks(
        tax_year,
        tuple(_person(first, own) for first, own in records.items()),
        tuple(_booked(each) for each in posted),
        tuple(PriorEntry(*each) for each in prior),
        {first: liable[first] for first in records if first in liable},
    )
    return YearOnRecord(books, records, {each.payroll_id: each.status for each in posted})


def _by_person(employees: Iterable[Employee]) -> dict[UUID, tuple[Employee, ...]]:
    found: dict[UUID, tuple[Employee, ...]] = {}
    for employee in employees:
        first = employee.person_id or employee.id
        found[first] = (*found.get(first, ()), employee)
    return found


def _person(first: UUID, records: Sequence[Employee]) -> Person:
    latest = records[-1]
    return Person(
        first,
        latest.name,
        latest.work_state,
        latest.relationship,
        frozenset(record.id for record in records) - {first},
        latest.lives_in,
    )


def _booked(posted: PostedInYear) -> BookedPaycheck:
    return BookedPaycheck(
        posted.id,
        posted.payroll_id,
        posted.pay_date,
        posted.period_start,
        posted.period_end,
        posted.pay_frequency,
        posted.paycheck,
        posted.reverses,
    )
