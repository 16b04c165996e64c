"""The ledger of a household's year as plain data: who was paid, by which paychecks, and prior wages."""

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final
from uuid import UUID

from hearthpay.documents.figures.figure import Part
from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import quarter_of, wages_by_line
from hearthpay.taxes.prior_wages import PriorLine
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.thresholds import liability_thresholds
from hearthpay.taxes.year import ALL_DUE, LiableFrom

SOCIAL_SECURITY: Final = "US-SS-EE"
MEDICARE: Final = "US-MED-EE"
ADDITIONAL_MEDICARE: Final = "US-ADDMED-EE"
FUTA: Final = "US-FUTA"
CREDIT_REDUCTION: Final = "US-FUTA-CR"

MAY_BE_PAID_FOR: Final = frozenset({SOCIAL_SECURITY, MEDICARE})
"""The employee's lines that a household may pay from its own funds without adding wages subject to these taxes."""


@dataclass(frozen=True, slots=True)
class BookedPaycheck:
    """A paycheck of the ledger with the dates of its payroll; it may be a reversal."""

    id: UUID
    payroll_id: UUID
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    pay_frequency: str
    paycheck: PaycheckRow
    reverses: UUID | None = None
    """The paycheck that this one reverses."""

    paid_for: frozenset[str] = frozenset()
    """Codes of the employee's lines that the household paid from its own funds: Social Security, Medicare."""

    def __post_init__(self) -> None:
        """Refuse what a household can't pay for an employee without taxing it: any line but the two."""
        if not self.paid_for <= MAY_BE_PAID_FOR:
            code = min(self.paid_for - MAY_BE_PAID_FOR)
            raise ValueError(f"{code} paid by the household is wages of every tax: it belongs in gross pay")

    @property
    def paid_for_cents(self) -> int:
        """How much of the employee's Social Security and Medicare the household paid."""
        return sum(line.amount for line in self.paycheck.lines if line.code in self.paid_for)

    def part(self, cents: int, what: str) -> Part:
        """Return an amount of this paycheck as part of a figure."""
        return Part(cents, what, self.id, self.payroll_id, self.pay_date)


@dataclass(frozen=True, slots=True)
class PriorEntry:
    """What another payroll of the same household paid an employee earlier in the year, as entered; cents."""

    id: UUID
    employee_id: UUID
    source: str
    as_of: datetime.date
    gross_pay: int
    lines: tuple[PriorLine, ...]
    net_pay: int
    employee_taxes: int
    employer_taxes: int

    def part(self, cents: int, what: str) -> Part:
        """Return an amount of this entry as part of a figure."""
        return Part(cents, what, self.id, None, self.as_of)


@dataclass(frozen=True, slots=True)
class Person:
    """An employee with all records: an employee who left and was added again is one person with one Form W-2."""

    id: UUID
    """The first record."""

    name: str
    work_state: str
    relationship: str = "none"
    records: frozenset[UUID] = frozenset()
    """The other records; most people have none."""

    lives_in: bool = False

    def has(self, record: UUID) -> bool:
        """Return whether a record is this person's."""
        return record == self.id or record in self.records


@dataclass(frozen=True, slots=True)
class HouseholdBooks:
    """A household's tax year: everyone who was paid, and the paychecks in posting order."""

    tax_year: int
    people: tuple[Person, ...]
    paychecks: tuple[BookedPaycheck, ...] = ()
    prior: tuple[PriorEntry, ...] = ()
    liable: Mapping[UUID, LiableFrom] = field(default_factory=dict)
    """The dates from which lines with a threshold are due, by the person's first record, from a household that
    charges them as paid (`HouseholdYear.liable`). Persons who aren't listed owe them from the first dollar."""

    def of(self, person: Person) -> "PersonBooks":
        """Return a person's standing paychecks, without reversed ones and reversals, and prior wages."""
        return self._of(person, self._standing())

    def everyone(self) -> Iterator["PersonBooks"]:
        """Yield the books of each person who was paid in the year."""
        standing = self._standing()
        for person in self.people:
            books = self._of(person, standing)
            if books.paychecks or books.prior:
                yield books

    def _of(
        self, person: Person, standing: Mapping[UUID, Sequence[tuple[int, BookedPaycheck]]]
    ) -> "PersonBooks":
        own = sorted(
            (each for record in {person.id, *person.records} for each in standing.get(record, ())),
            key=itemgetter(0),
        )
        return PersonBooks(
            self.tax_year,
            person,
            tuple(booked for _, booked in own),
            tuple(entry for entry in self.prior if person.has(entry.employee_id)),
            self.liable.get(person.id, ALL_DUE),
        )

    def _standing(self) -> dict[UUID, list[tuple[int, BookedPaycheck]]]:
        """Return the standing paychecks by record, each with its position in posting order."""
        undone = {booked.reverses for booked in self.paychecks}
        found: dict[UUID, list[tuple[int, BookedPaycheck]]] = {}
        for place, booked in enumerate(self.paychecks):
            if booked.reverses is None and booked.id not in undone:
                found.setdefault(booked.paycheck.employee_id, []).append((place, booked))
        return found


@dataclass(frozen=True, slots=True)
class PersonBooks:
    """One person's year, without what was reversed."""

    tax_year: int
    person: Person
    paychecks: tuple[BookedPaycheck, ...]
    prior: tuple[PriorEntry, ...]
    liable: LiableFrom = field(default_factory=lambda: ALL_DUE)

    def lines(self) -> Iterator[tuple[BookedPaycheck, LineRow]]:
        """Go through all lines of the paychecks."""
        for booked in self.paychecks:
            for line in booked.paycheck.lines:
                yield booked, line

    def told(self) -> Iterator[tuple[PriorEntry, PriorLine]]:
        """Go through all lines of the prior wages."""
        for entry in self.prior:
            for line in entry.lines:
                yield entry, line

    def gross_pay(self) -> list[Part]:
        """Return all wages paid."""
        ours = [booked.part(booked.paycheck.gross_pay, "gross_pay") for booked in self.paychecks]
        return ours + [entry.part(entry.gross_pay, "gross_pay") for entry in self.prior]

    def paid_for(self) -> list[Part]:
        """Return the employee's Social Security and Medicare that the household paid from its own funds."""
        return [
            booked.part(line.amount, f"{line.code} amount, paid by the household")
            for booked, line in self.lines()
            if line.code in booked.paid_for
        ]

    def amounts(self, codes: Collection[str]) -> list[Part]:
        """Return the tax of these lines."""
        ours = [
            booked.part(line.amount, f"{line.code} amount")
            for booked, line in self.lines()
            if line.code in codes
        ]
        return ours + [
            entry.part(line.amount, f"{line.code} amount")
            for entry, line in self.told()
            if line.code in codes
        ]

    def taxable(self, code: str) -> list[Part]:
        """Return the wages that paychecks and prior wages taxed by a line."""
        what = f"{code} taxable_wages"
        ours = [booked.part(line.taxable_wages, what) for booked, line in self.lines() if line.code == code]
        return ours + [
            entry.part(line.taxable_wages, what) for entry, line in self.told() if line.code == code
        ]

    def subject(self, code: str) -> list[Part]:
        """Return the wages subject to a line with a threshold, taxed or not; prior wages that don't say count in
        full.
        """
        what = f"{code} subject_wages"
        ours = [booked.part(line.subject_wages, what) for booked, line in self.lines() if line.code == code]
        return ours + [entry.part(self._subject_of(entry).get(code, 0), what) for entry in self.prior]

    def demanded(self, law: Contribution) -> list[Part]:
        """Return the year's wages that the law taxes by a line: those taxed, and those still missing.

        What a void or a late payroll left open is corrected with the next paycheck; if none follows, the year's
        documents state what the law requires.
        """
        taxed = self.taxable(law.code)
        subject = sum(part.cents for part in self.subject(law.ytd_code))
        missing = law.due(subject) - sum(part.cents for part in taxed)
        return [
            *taxed,
            Part(missing, f"{law.code}: wages of the year that no row taxes, or too many of them"),
        ]

    @property
    def fica_wages(self) -> int:
        """The cents that count toward the threshold of Social Security and Medicare."""
        return max(sum(part.cents for part in self.subject(code)) for code in (SOCIAL_SECURITY, MEDICARE))

    @property
    def fica_threshold(self) -> int:
        """The cents of cash wages in the year from which Social Security and Medicare are due."""
        return liability_thresholds(self.person.work_state, self.tax_year)[0].cents

    @property
    def owes_fica(self) -> bool:
        """Whether the year's wages have reached the threshold, so that all of them are subject to the two taxes."""
        return self.fica_wages >= self.fica_threshold

    def futa_wages(self) -> list[tuple[datetime.date, str, int]]:
        """Return each payment's wages subject to FUTA, in cents, with day and state of work, by day."""
        ours = [
            (booked.pay_date, booked.paycheck.work_state, line.subject_wages)
            for booked, line in self.lines()
            if line.code == FUTA and line.subject_wages
        ]
        entered_wages = [
            (entry.as_of, self.state_of(entry), self._subject_of(entry).get(FUTA, 0)) for entry in self.prior
        ]
        return sorted(ours + entered_wages, key=lambda paid: paid[0])

    def state_of(self, entry: PriorEntry) -> str:
        """Return the state where prior wages were earned: the one their lines name, otherwise that of the paycheck
        closest in time.
        """
        states = sorted({line.code[:2] for line in entry.lines} & STATES.keys())
        if len(states) == 1:
            return states[0]
        nearest = min(
            self.paychecks, key=lambda booked: abs((booked.pay_date - entry.as_of).days), default=None
        )
        return self.person.work_state if nearest is None else nearest.paycheck.work_state

    def _subject_of(self, entry: PriorEntry) -> dict[str, int]:
        subject_wages = {line.code: line.subject_wages for line in entry.lines}
        return wages_by_line(
            self.tax_year, self.state_of(entry), self.person.relationship, entry.gross_pay, subject_wages
        )


def futa_quarters(books: HouseholdBooks) -> dict[int, int]:
    """Return the cash wages in cents paid to all employees in each calendar quarter, as FUTA counts them."""
    quarters = dict.fromkeys((1, 2, 3, 4), 0)
    for person in books.everyone():
        for day, _, cents in person.futa_wages():
            quarters[quarter_of(day)] += cents
    return quarters


def federal_line(code: str, tax_year: int) -> Contribution:
    """Return a federal contribution of a year; raises `TaxInputError` for a year without rules."""
    return next(line for line in rulebook_of(tax_year).contributions if line.code == code)
