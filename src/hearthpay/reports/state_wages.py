"""A state's wages in a quarter or a year, by employee and by tax: pure sums of the ledger, in cents.

Subject wages are those that a tax applies to, taxable wages those that it taxes; excess wages are the difference.
They are above the wage base, or were paid before a threshold was reached. A tax that corrects earlier quarters has
taxed more than its own quarter's wages: then the excess is negative.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rulebook import rulebook_for

PRIOR_LEFT_OUT: Final = (
    "{amount} that another payroll paid these employees in {year} is left out: whoever paid it reported it. It counts "
    "towards the wage bases."
)
BELOW_ZERO: Final = (
    "Where excess wages are below zero, a tax on wages of earlier quarters was made up for in this one: after a void, "
    "or once a threshold was reached. Ask the agency whether it wants those quarters' reports amended instead."
)


class WagesOfLine(NamedTuple):
    """One tax with the wages it is based on."""

    code: str
    name: str
    payer: str
    agency: str
    category: str
    subject: int
    taxable: int
    amount: int

    @property
    def excess(self) -> int:
        """Subject wages that aren't taxed."""
        return self.subject - self.taxable

    def plus(self, other: "WagesOfLine") -> "WagesOfLine":
        """Return the sum of both, under this one's name."""
        return self._replace(
            subject=self.subject + other.subject,
            taxable=self.taxable + other.taxable,
            amount=self.amount + other.amount,
        )


class ReportedPerson(NamedTuple):
    """Someone on record; an employee who left and was rehired has several records but is one person."""

    id: UUID
    """The person's first record."""

    first_name: str
    last_name: str
    last_four: str | None
    """The last four digits of the Social Security number or ITIN; None if none was entered."""


@dataclass(frozen=True, slots=True)
class PersonsWages:
    """What one person earned in the state, and the state's taxes on it, by code."""

    person: ReportedPerson
    gross: int
    lines: tuple[WagesOfLine, ...]

    def line(self, code: str) -> WagesOfLine | None:
        """Return a tax by its code."""
        return next((line for line in self.lines if line.code == code), None)


@dataclass(frozen=True, slots=True)
class StateWageDetail:
    """The wages of one state in a quarter, or in the year if there is no quarter."""

    state: str
    year: int
    quarter: int | None
    unemployment_line: str
    """Code of the unemployment tax whose wages the state's report requires."""

    people: tuple[PersonsWages, ...]
    prior_gross: int
    """Wages that other payrolls paid these people in the year; not included."""

    @property
    def gross(self) -> int:
        """All gross wages."""
        return sum(each.gross for each in self.people)

    @property
    def lines(self) -> tuple[WagesOfLine, ...]:
        """All taxes of all people, by code."""
        return _together(line for each in self.people for line in each.lines)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the person filing should know about these figures."""
        return tuple(words.format(**gaps) for words, gaps in self.remark_parts)

    @property
    def remark_parts(self) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """The words of each remark, and the values of its placeholders."""
        found: list[tuple[str, Mapping[str, object]]] = []
        if self.prior_gross:
            gaps = {"amount": f"{from_cents(self.prior_gross):,}", "year": self.year}
            found.append((PRIOR_LEFT_OUT, gaps))
        if any(line.excess < 0 for each in self.people for line in each.lines):
            found.append((BELOW_ZERO, {}))
        return tuple(found)


class EarnedInQuarter(NamedTuple):
    """Gross wages of one record in one quarter, for work in the state."""

    employee_id: UUID
    quarter: int
    cents: int


class TaxedInQuarter(NamedTuple):
    """One tax of the state on one record's wages in one quarter."""

    employee_id: UUID
    quarter: int
    line: WagesOfLine


def unemployment_line(state: str, year: int) -> str:
    """Return the code of the household's unemployment tax in a state, on whose wages the state's report is based.

    Raises `TaxInputError` naming ``year`` for a year without rules.
    """
    return next(
        line.code
        for line in rulebook_for(datetime.date(year, 1, 1), "year").state(state).contributions
        if line.category == "state_unemployment" and line.payer == "employer" and line.assigned_rate
    )


def state_wages(
    state: str,
    year: int,
    quarter: int | None,
    *,
    people: Mapping[UUID, ReportedPerson],
    earned: Iterable[EarnedInQuarter],
    taxed: Iterable[TaxedInQuarter],
    prior_gross: Mapping[UUID, int],
) -> StateWageDetail:
    """Add up a quarter, or the year, by person; ``people`` maps each record to its person.

    People who neither earned anything there nor were charged any tax of the state are left out. Raises
    `TaxInputError` for a year without rules.
    """
    gross: dict[UUID, int] = {}
    lines: dict[UUID, list[WagesOfLine]] = {}
    by_id = {person.id: person for person in people.values()}
    for each in earned:
        if quarter in (None, each.quarter):
            person = people[each.employee_id].id
            gross[person] = gross.get(person, 0) + each.cents
    for tax in taxed:
        if quarter in (None, tax.quarter):
            lines.setdefault(people[tax.employee_id].id, []).append(tax.line)
    found = (
        PersonsWages(by_id[person], gross.get(person, 0), _together(lines.get(person, ())))
        for person in gross.keys() | lines.keys()
    )
    shown = sorted(
        (each for each in found if each.gross or each.lines),
        key=lambda each: (each.person.last_name, each.person.first_name, each.person.id),
    )
    listed = {each.person.id for each in shown}
    return StateWageDetail(
        state,
        year,
        quarter,
        unemployment_line(state, year),
        tuple(shown),
        sum(cents for record, cents in prior_gross.items() if people[record].id in listed),
    )


def _together(lines: Iterable[WagesOfLine]) -> tuple[WagesOfLine, ...]:
    """Add up by code; lines that total zero after a reversal are left out."""
    sums: dict[str, WagesOfLine] = {}
    for line in lines:
        so_far = sums.get(line.code)
        sums[line.code] = line if so_far is None else so_far.plus(line)
    found: Sequence[WagesOfLine] = [sums[code] for code in sorted(sums)]
    return tuple(line for line in found if line.subject or line.taxable or line.amount)
