"""When a household owes what depends on a wage threshold, from when to when: by what it paid, and by what it assumes.

A pure function of wages and employments, by the thresholds that payroll charges by (`hearthpay.taxes.liability`).
"""

import datetime
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from hearthpay.duties.household import FEDERAL, EmploymentSpell, HouseholdEmployee, Liability
from hearthpay.duties.periods import YEARS, Period
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import Guard, QuarterlyWages, first_days, guards_of, wages_by_line
from hearthpay.taxes.rulebook import rulebook_of, supported_years

_OF_FEDERAL_LAW: Final = frozenset({"fica", "futa"})
_NOTHING_PAID: Final = QuarterlyWages()


@dataclass(frozen=True, slots=True)
class WagesPaid:
    """A household's wages by calendar year, and the years for which it assumes that every threshold is crossed."""

    by_year: Mapping[int, QuarterlyWages]
    assumed_years: frozenset[int]


@functools.cache
def law_year(year: int, state: str) -> int:
    """Return the year whose state rules apply to a year: itself, else the nearest that has some."""
    nearest = sorted(supported_years(), key=lambda other: (abs(other - year), -other))
    # Reading a rulebook is slow, so read no more of them than needed.
    return next(other for other in nearest if state in rulebook_of(other).supported_states)


def liabilities_of(
    employees: Sequence[HouseholdEmployee], wages: WagesPaid, first_year: int, last_year: int
) -> tuple[Liability, ...]:
    """Return what is owed in these years, each liability within one year.

    Federal law requires nothing in a year in which nobody is employed; a state requires reports until it has closed
    the account, as long as the wages of the year before keep the household liable.
    """
    states = {spell.state for employee in employees for spell in employee.employments}
    states |= {code[:2] for quarters in wages.by_year.values() for code in quarters.codes} & STATES.keys()
    found: dict[Liability, None] = {}
    for year in range(first_year, last_year + 1):
        period = next(YEARS.periods(year))
        paid = year in wages.by_year or year - 1 in wages.by_year
        for state in sorted(states):
            if paid:
                found |= dict.fromkeys(_crossed(employees, wages, period, state))
            if year in wages.assumed_years:
                found |= dict.fromkeys(_assumed(employees, period, state))
    return tuple(found)


def _crossed(
    employees: Sequence[HouseholdEmployee], wages: WagesPaid, period: Period, state: str
) -> Iterator[Liability]:
    """Yield the liabilities from the wages paid, starting on the day from which the law taxes them."""
    law = law_year(period.year, state)
    days = first_days(
        law,
        (state,),
        [employee.id for employee in employees],
        wages.by_year.get(period.year, _NOTHING_PAID),
        wages.by_year.get(period.year - 1, _NOTHING_PAID),
    )
    anybody = any(_meets(spell, period) for employee in employees for spell in employee.employments)
    for guard in guards_of(law, state):
        federal = guard.threshold.liability in _OF_FEDERAL_LAW
        if not guard.codes or (federal and not anybody):
            continue
        # A threshold of all wages together has one day for everybody.
        for employee in employees if guard.threshold.per_employee else employees[:1]:
            since = days[employee.id][guard.codes[0]]
            if since is not None:
                yield _liability(guard, state, employee.id, since.replace(year=period.year), period.end)


def _assumed(employees: Sequence[HouseholdEmployee], period: Period, state: str) -> Iterator[Liability]:
    """Yield what is owed for employees if thresholds are assumed to be crossed; exempt relatives add nothing."""
    for employee in employees:
        for spell in employee.employments:
            if spell.state != state or not _meets(spell, period):
                continue
            law = law_year(period.year, state)
            since = max(spell.since, period.start)
            until = period.end if spell.until is None else min(spell.until, period.end)
            for guard in _guards_for(law, state, employee.relationship):
                yield _liability(guard, state, employee.id, since, until)


@functools.lru_cache(1024)
def _guards_for(law: int, state: str, relationship: str) -> tuple[Guard, ...]:
    """Return the thresholds with a line that is charged on the wages of an employee with this family tie."""
    subject = wages_by_line(law, state, relationship, 1)
    return tuple(guard for guard in guards_of(law, state) if any(subject.get(code) for code in guard.codes))


def _liability(
    guard: Guard, state: str, employee: UUID, since: datetime.date, until: datetime.date
) -> Liability:
    threshold = guard.threshold
    return Liability(
        jurisdiction=FEDERAL if threshold.liability in _OF_FEDERAL_LAW else state,
        name=threshold.liability,
        since=since,
        until=until,
        employee_id=employee if threshold.per_employee else None,
    )


def _meets(spell: EmploymentSpell, period: Period) -> bool:
    return period.meets(spell.since, spell.until)
