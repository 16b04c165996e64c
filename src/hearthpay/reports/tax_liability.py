"""What a household owes which agency for a range of pay dates: pure sums of the ledger's lines, by month, in cents.

Taxes withheld from employees count like the household's own: it pays both. Liability follows the pay date; when it
must be paid, and in which return, is a separate matter.
"""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hearthpay.taxes.agencies import agencies


class LineInMonth(NamedTuple):
    """The amount of one tax in a month, whose first day is ``month``."""

    month: datetime.date
    agency: str
    code: str
    name: str
    payer: str
    category: str
    amount: int


@dataclass(frozen=True, slots=True)
class LineLiability:
    """One tax: its cents for each month of the range."""

    code: str
    name: str
    payer: str
    category: str
    months: tuple[int, ...]

    @property
    def total(self) -> int:
        """The total for the whole range."""
        return sum(self.months)


@dataclass(frozen=True, slots=True)
class AgencyLiability:
    """All taxes of one agency, by code."""

    agency: str
    """The agency's name on the lines of paychecks."""

    full_name: str
    site: str | None
    lines: tuple[LineLiability, ...]
    paid: int = 0
    """What the household recorded as paid of it, for periods that begin in the span."""

    month_count: int = 0

    @property
    def months(self) -> tuple[int, ...]:
        """What it is owed for each month."""
        if not self.lines:
            return (0,) * self.month_count
        return tuple(sum(cents) for cents in zip(*(line.months for line in self.lines), strict=True))

    @property
    def total(self) -> int:
        """The amount owed to the agency for the whole range."""
        return sum(line.total for line in self.lines)

    @property
    def open(self) -> int:
        """What is held for it, or owed to it by the household, and not yet paid; below zero: too much was paid."""
        return self.total - self.paid


@dataclass(frozen=True, slots=True)
class TaxLiability:
    """The amounts owed to each agency for pay dates from the first to the last day."""

    first: datetime.date
    last: datetime.date
    months: tuple[datetime.date, ...]
    """The first days of the calendar months that the range covers."""

    agencies: tuple[AgencyLiability, ...]

    def of_payer(self, payer: str) -> int:
        """Return the part that the employees pay, or the household."""
        return sum(line.total for each in self.agencies for line in each.lines if line.payer == payer)

    @property
    def by_month(self) -> tuple[int, ...]:
        """The amounts owed to all agencies for each month."""
        return tuple(
            sum(each.months[position] for each in self.agencies) for position in range(len(self.months))
        )

    @property
    def total(self) -> int:
        """The amount owed to all agencies for the whole range."""
        return sum(each.total for each in self.agencies)

    @property
    def paid(self) -> int:
        """What the household recorded as paid of it."""
        return sum(each.paid for each in self.agencies)

    @property
    def open(self) -> int:
        """What is not yet paid of it."""
        return self.total - self.paid


def months_of(first: datetime.date, last: datetime.date) -> tuple[datetime.date, ...]:
    """Return the first days of the calendar months from that of ``first`` to that of ``last``."""
    from_month, to_month = first.year * 12 + first.month - 1, last.year * 12 + last.month - 1
    return tuple(datetime.date(month // 12, month % 12 + 1, 1) for month in range(from_month, to_month + 1))


def tax_liability(
    first: datetime.date,
    last: datetime.date,
    taxed: Iterable[LineInMonth],
    paid: Mapping[str, int] | None = None,
) -> TaxLiability:
    """Add up by agency, line and month; the IRS first, the others by name. ``taxed`` has no month out of the span.

    ``paid`` is what was paid of it, by the agency's name.
    """
    months = months_of(first, last)
    place = {month: position for position, month in enumerate(months)}
    cents: dict[tuple[str, str], list[int]] = {}
    about: dict[tuple[str, str], LineInMonth] = {}
    for each in taxed:
        key = (each.agency, each.code)
        about.setdefault(key, each)
        cents.setdefault(key, [0] * len(months))[place[each.month]] += each.amount
    lines: dict[str, list[LineLiability]] = {}
    for agency, code in sorted(cents):
        line = about[agency, code]
        lines.setdefault(agency, []).append(
            LineLiability(code, line.name, line.payer, line.category, tuple(cents[agency, code]))
        )
    paid = paid or {}
    for agency in paid:
        lines.setdefault(agency, [])
    known = {each.name: each for each in agencies().values()}
    found = []
    for name in sorted(lines, key=lambda name: (known[name].state != "US" if name in known else True, name)):
        listed = known.get(name)
        found.append(
            AgencyLiability(
                name,
                name if listed is None else listed.full_name,
                None if listed is None else listed.site,
                tuple(lines[name]),
                paid.get(name, 0),
                len(months),
            )
        )
    return TaxLiability(first, last, months, tuple(found))
