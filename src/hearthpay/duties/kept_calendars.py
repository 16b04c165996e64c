"""The calendars that were calculated last, for as long as everything that they follow from is the same.

A calendar follows from what was read of a household alone, and people ask for the same one again and again: their home
page, its taxes and its deadlines all show parts of it. What was read is compared with what a kept calendar was
calculated from, value by value, so none is ever out of date.
"""

import datetime
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import class_mapper

from hearthpay.database.base import Base
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import Household
from hearthpay.duties.records import DutyFacts, LedgerOfYears, household_of
from hearthpay.duties.settlement import SettledCalendar, settled_calendar
from hearthpay.duties.thresholds_crossed import WagesPaid
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer

MOST_KEPT: Final = 32
"""Households whose calendars one process keeps; some hundred kilobytes each, if they have many employees."""

MOST_SPANS: Final = 4
"""Calendars of different days that are kept of one household: requests of the API name any days."""

_Columns = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class KnownHousehold:
    """The facts of a household, with the calendars that were calculated from them."""

    household: Household
    wages: WagesPaid
    """What counts for thresholds, of the years of the household's facts and the year before."""

    _calendars: dict[
        tuple[datetime.date, datetime.date], tuple[tuple[CalendarItem, ...], SettledCalendar]
    ] = field(default_factory=dict)

    def calendar(
        self, first: datetime.date, last: datetime.date, further: tuple[CalendarItem, ...]
    ) -> SettledCalendar:
        """Return what `settled_calendar` returns, its items by due date; raises what that raises."""
        kept = self._calendars.get((first, last))
        if kept is not None and kept[0] == further:
            return kept[1]
        settled = settled_calendar(self.household, first, last, further)
        in_order = tuple(sorted(settled.items, key=lambda item: (item.due, item.key)))
        calendar = SettledCalendar(in_order, settled.unplaced)
        self._calendars[first, last] = (further, calendar)
        if len(self._calendars) > MOST_SPANS:
            del self._calendars[next(iter(self._calendars))]
        return calendar


@dataclass(frozen=True, slots=True)
class _Read:
    """Everything that the facts of a household follow from."""

    columns: Sequence[_Columns]
    ledger: LedgerOfYears
    facts: DutyFacts


_known: Final[OrderedDict[object, tuple[_Read, KnownHousehold]]] = OrderedDict()


def known_household(
    employer: Employer,
    records: Sequence[Employee],
    ledger: LedgerOfYears,
    facts: DutyFacts,
    *,
    today: datetime.date,
    years: range,
) -> KnownHousehold:
    """Return the facts that `household_of` returns, kept ones if all of its arguments are the same as then."""
    columns = _columns_of((employer, *records))
    if columns is None:
        return KnownHousehold(*household_of(employer, records, ledger, facts, today=today, years=years))
    key = (employer.id, today, years)
    read = _Read(columns, ledger, facts)
    kept = _known.get(key)
    if kept is not None and kept[0] == read:
        _known.move_to_end(key)
        return kept[1]
    # The values of JSON columns could be changed in place, by the transaction that read them.
    read = _Read(deepcopy(columns), ledger, facts)
    known = KnownHousehold(*household_of(employer, records, ledger, facts, today=today, years=years))
    _known[key] = (read, known)
    _known.move_to_end(key)
    if len(_known) > MOST_KEPT:
        _known.popitem(last=False)
    return known


def _columns_of(rows: Sequence[Base]) -> list[_Columns] | None:
    """Return the values of the rows' columns, None if a column would have to be read first."""
    try:
        return [tuple(row.__dict__[name] for name in _NAMES[type(row)]) for row in rows]
    except KeyError:
        return None


_NAMES: Final[Mapping[type[Base], Sequence[str]]] = {
    table: tuple(column.key for column in class_mapper(table).column_attrs) for table in (Employer, Employee)
}
