"""When a household becomes liable: its wages, quarter by quarter, against the thresholds of federal and state law.

The engine itself assumes that lines are due (`hearthpay.taxes.year.LiableFrom`); to pay only what the law requires,
check here first.
"""

import datetime
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from uuid import UUID

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.thresholds import LiabilityThreshold, liability_thresholds
from hearthpay.taxes.year import LiableFrom

QUARTERS = (1, 2, 3, 4)


def quarter_of(day: datetime.date) -> int:
    """Return the calendar quarter of a day, 1 to 4."""
    return (day.month + 2) // 3


class Guard(NamedTuple):
    """A threshold, and the lines that depend on it."""

    threshold: LiabilityThreshold
    codes: tuple[str, ...]


_Counted = Callable[[tuple[str, ...], int], int]
"""The wages of a quarter that count toward a threshold with these lines, in cents."""


@functools.cache
def guards_of(tax_year: int, state: str) -> tuple[Guard, ...]:
    """Return the thresholds of a year for a work state, federal ones included, each with the lines that depend on it.

    Raises `TaxInputError` for a year or a state without rules.
    """
    rulebook = rulebook_of(tax_year)
    lines = (*rulebook.contributions, *rulebook.state(state).contributions)
    guards = []
    for threshold in liability_thresholds(state, tax_year):
        codes = dict.fromkeys(line.code for line in lines if line.liability == threshold.liability)
        guards.append(Guard(threshold, tuple(codes)))
    return tuple(guards)


def guarded_codes(tax_year: int, states: Iterable[str]) -> frozenset[str]:
    """Return the lines with a threshold in the given states."""
    return frozenset(code for state in states for guard in guards_of(tax_year, state) for code in guard.codes)


@dataclass(slots=True)
class QuarterlyWages:
    """Wages of a year by person, quarter and line, in cents: those that are subject to the line, due or not.

    Only `add` changes them.
    """

    cents: dict[UUID, dict[tuple[int, str], int]] = field(default_factory=dict)
    """By person, since a person's are looked up together: by quarter and line."""

    _together: dict[tuple[int, str], int] | None = field(default=None, init=False, repr=False, compare=False)

    def add(self, person: UUID, day: datetime.date, wages: Mapping[str, int]) -> None:
        """Count wages paid on a day, given by line."""
        if not wages:
            return
        quarter = quarter_of(day)
        own = self.cents.setdefault(person, {})
        for code, amount in wages.items():
            own[quarter, code] = own.get((quarter, code), 0) + amount
        self._together = None

    @property
    def codes(self) -> frozenset[str]:
        """The lines under which anybody has wages."""
        return frozenset(code for own in self.cents.values() for _, code in own)

    def of(self, codes: tuple[str, ...], quarter: int, person: UUID | None) -> int:
        """Return the wages of a quarter that count toward a threshold, for one person or for all together.

        If several lines have this threshold, the largest line's wages count: relatives may be exempt from one.
        """
        wages = self.together() if person is None else self.cents.get(person, {})
        return max(wages.get((quarter, code), 0) for code in codes)

    def together(self) -> Mapping[tuple[int, str], int]:
        """Return the wages of everybody by quarter and line, in cents."""
        if self._together is None:
            found: dict[tuple[int, str], int] = {}
            for own in self.cents.values():
                for place, amount in own.items():
                    found[place] = found.get(place, 0) + amount
            self._together = found
        return self._together


def first_days(
    tax_year: int,
    states: Iterable[str],
    persons: Iterable[UUID],
    wages: QuarterlyWages,
    last_year: QuarterlyWages,
) -> dict[UUID, LiableFrom]:
    """Return, for each person, the pay date from which each guarded line is due.

    ``states`` are those in which anyone worked. A household is liable from the first dollar of the year, or of the
    quarter that reaches the threshold, depending on the state; and from New Year's on if last year's wages reached
    it.
    """
    liable: dict[UUID, dict[str, datetime.date | None]] = {person: {} for person in persons}
    of_all = (_counted(wages.together()), _counted(last_year.together()))
    for state in sorted(set(states) & STATES.keys()):
        for guard in guards_of(tax_year, state):
            if not guard.codes:
                continue
            if guard.threshold.per_employee:
                for person, days in liable.items():
                    own = (partial(wages.of, person=person), partial(last_year.of, person=person))
                    days |= dict.fromkeys(guard.codes, _first_day(guard, tax_year, *own))
            else:
                first = _first_day(guard, tax_year, *of_all)
                for days in liable.values():
                    days |= dict.fromkeys(guard.codes, first)
    return dict(liable)


def _counted(together: Mapping[tuple[int, str], int]) -> _Counted:
    return lambda codes, quarter: max(together.get((quarter, code), 0) for code in codes)


def _first_day(guard: Guard, tax_year: int, wages: _Counted, last_year: _Counted) -> datetime.date | None:
    threshold = guard.threshold
    new_year = datetime.date(tax_year, 1, 1)
    if threshold.period == "year":
        paid = sum(wages(guard.codes, quarter) for quarter in QUARTERS)
        return new_year if paid >= threshold.cents else None
    if threshold.next_year_too and any(
        last_year(guard.codes, quarter) >= threshold.cents for quarter in QUARTERS
    ):
        return new_year
    for quarter in QUARTERS:
        if wages(guard.codes, quarter) >= threshold.cents:
            if threshold.reaches_back_to == "year":
                return new_year
            return datetime.date(tax_year, 3 * quarter - 2, 1)
    return None


def wages_by_line(
    tax_year: int,
    work_state: str,
    relationship: str,
    gross: int,
    entered_wages: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Return which of a payment's wages count for the lines with a threshold, in cents by line.

    Relatives whom the law exempts from a line don't count for it. ``entered_wages`` are wages by line from another
    report; a line missing from it counts all wages, unless the report covers other states.
    """
    wages = dict(entered_wages or {})
    rulebook = rulebook_of(tax_year)
    guarded = guarded_codes(tax_year, (work_state,))
    states = {code[:2] for code in wages} & STATES.keys()
    for line in (*rulebook.contributions, *rulebook.state(work_state).contributions):
        elsewhere = states and work_state not in states and line.code.startswith(work_state)
        if line.code in guarded and line.code not in wages and not line.wage_floor and not elsewhere:
            wages[line.code] = 0 if relationship in line.exempt_relationships else gross
    return wages
