"""The periods that duties cover, and when a duty for a period is due."""

import calendar
import datetime
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hearthpay.duties.office_days import Offices, add_office_days

MONTHS: Final = 12
MONTH_END: Final = 31
"""The last day of a month, whatever its length."""


@dataclass(frozen=True, slots=True)
class Period:
    """Whole months of one year; ``label`` is their permanent name, and part of the ids of what is due for them."""

    label: str
    year: int
    first_month: int
    last_month: int

    @property
    def start(self) -> datetime.date:
        """The first day."""
        return datetime.date(self.year, self.first_month, 1)

    @property
    def end(self) -> datetime.date:
        """The last day."""
        return day_of_month(self.year, self.last_month, 31)

    @property
    def months(self) -> range:
        """The numbers of its months, see `month_number`."""
        return range(month_number(self.year, self.first_month), month_number(self.year, self.last_month) + 1)

    def covers(self, year: int, month: int) -> bool:
        """Return whether the month is in the period."""
        return year == self.year and self.first_month <= month <= self.last_month

    def meets(self, since: datetime.date, until: datetime.date | None) -> bool:
        """Return whether the time from ``since`` to ``until``, both included, has a day in the period."""
        return since <= self.end and (until is None or until >= self.start)


@dataclass(frozen=True, slots=True)
class CoveredDays:
    """What is due for a time: whole months of one year, or if ``of_paydays`` the paydays that lie in it."""

    first: datetime.date
    last: datetime.date
    of_paydays: bool = False


@dataclass(frozen=True, slots=True)
class Partition:
    """How a year is divided into periods: the months in which one ends, and the word for one (none for a whole
    year).
    """

    ends: tuple[int, ...]
    word: str

    def periods(self, year: int) -> Iterator[Period]:
        """Return the periods of a year in order."""
        first = 1
        for number, last in enumerate(self.ends, 1):
            yield Period(f"{year}-{self.word}{number}" if self.word else f"{year}", year, first, last)
            first = last + 1


YEARS: Final = Partition((12,), "")
HALF_YEARS: Final = Partition((6, 12), "H")
QUARTERS: Final = Partition((3, 6, 9, 12), "Q")
MONTHLY: Final = Partition(tuple(range(1, MONTHS + 1)), "M")


@dataclass(frozen=True, slots=True)
class Paydays:
    """Each payday separately, or together all paydays up to one of the days of the month, or to a day of the week."""

    ends: tuple[int, ...] = ()
    """The days of the month up to which paydays are paid together; 31 is the last. Empty if none are."""

    weekday: int | None = None
    """The day of the week (0: Monday) up to which paydays are paid together; None if they aren't."""

    reached: int | None = None
    """In cents: only a part in which the quarter's unpaid total reaches this amount is paid; None for each part."""

    reached_lines: tuple[str, ...] = ()
    """Codes of the lines that count toward ``reached``; empty if all lines of the duty do."""

    def part_of(self, day: datetime.date) -> tuple[datetime.date, datetime.date]:
        """Return the first and last day of the part to which a payday belongs."""
        if self.ends:
            end = next(end for end in self.ends if day.day <= end)
            first = max((earlier for earlier in self.ends if earlier < end), default=0) + 1
            return day.replace(day=first), day_of_month(day.year, day.month, end)
        if self.weekday is not None:
            last = day + datetime.timedelta(days=(self.weekday - day.weekday()) % 7)
            return last - datetime.timedelta(days=6), last
        return day, day


@dataclass(frozen=True, slots=True)
class AfterPeriod:
    """A day of the month that is ``months`` after the last month of the period."""

    months: int
    day: int

    def date(self, period: Period) -> datetime.date:
        """Return the day on which it is due, before it moves."""
        month = period.last_month - 1 + self.months
        return day_of_month(period.year + month // MONTHS, month % MONTHS + 1, self.day)


@dataclass(frozen=True, slots=True)
class DayOfYear:
    """A day of the year that is ``years`` after the period's, or before it if negative."""

    years: int
    month: int
    day: int

    def date(self, period: Period) -> datetime.date:
        """Return the day on which it is due, before it moves."""
        return day_of_month(period.year + self.years, self.month, self.day)


@dataclass(frozen=True, slots=True)
class AfterHire:
    """A number of days after the first day of work: calendar days, or office days."""

    days: int
    office_days: bool

    def date(self, hired_on: datetime.date, offices: Offices) -> datetime.date:
        """Return the day on which it is due, before it moves."""
        if self.office_days:
            return add_office_days(hired_on, self.days, offices)
        return hired_on + datetime.timedelta(days=self.days)


@dataclass(frozen=True, slots=True)
class AfterPayday:
    """A number of days after the end of a part of `Paydays`: office days, or any days.

    ``midweek``: by the Wednesday after paydays from Wednesday to Friday, by the Friday after the others (semiweekly
    deposits, 26 CFR 31.6302-1). ``on_days``: for each end of a month's parts, the next such day of the month after
    it.
    """

    days: int = 0
    office_days: bool = True
    midweek: bool = False
    on_days: tuple[tuple[int, int], ...] = ()

    def date(self, day: datetime.date, offices: Offices) -> datetime.date:
        """Return the day on which it is due, before it moves."""
        if self.midweek:
            wednesday_to_friday = day.weekday() in (2, 3, 4)
            return day + datetime.timedelta(
                days=((2 if wednesday_to_friday else 4) - day.weekday() - 1) % 7 + 1
            )
        if self.on_days:
            named = next(on for end, on in self.on_days if day.day <= end)
            due = day_of_month(day.year, day.month, named)
            return (
                due
                if due > day
                else day_of_month(day.year + day.month // MONTHS, day.month % MONTHS + 1, named)
            )
        if self.office_days:
            return add_office_days(day, self.days, offices)
        return day + datetime.timedelta(days=self.days)


def month_number(year: int, month: int) -> int:
    """Return the number of a month, which is one more than that of the month before it."""
    return year * MONTHS + month


@functools.lru_cache(4096)
def day_of_month(year: int, month: int, day: int) -> datetime.date:
    """Return a day of a month; one beyond the month's end becomes its last day."""
    return datetime.date(year, month, min(day, calendar.monthrange(year, month)[1]))
