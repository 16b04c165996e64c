"""A household's progress toward a year's wage thresholds: what has counted, and what is owed once they are crossed.

For display; payroll charges by the same thresholds and the same wages (`hearthpay.taxes.liability`).
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_CALENDAR, allow
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.kept_calendars import KnownHousehold
from hearthpay.duties.records import LedgerOfYears, quarterly_wages
from hearthpay.duties.service import read_employees
from hearthpay.duties.thresholds_crossed import law_year
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.threshold_basis import ASSUME_CROSSED, basis_of
from hearthpay.payroll.ledger.months import read_household_months, read_wages_from_before
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.liability import QUARTERS, Guard, QuarterlyWages, first_days, guards_of
from hearthpay.taxes.thresholds import LiabilityThreshold

_OF_FEDERAL_LAW: Final = frozenset({"fica", "futa"})


@dataclass(frozen=True, slots=True)
class ThresholdProgress:
    """One threshold, and the wages that count toward it; all amounts are cents."""

    jurisdiction: str
    threshold: LiabilityThreshold
    codes: tuple[str, ...]
    """The lines that depend on it."""

    name: str | None
    """The employee whose wages count separately; None if the wages of all employees count together."""

    quarters: tuple[int, ...]
    people: tuple[tuple[str, tuple[int, ...]], ...]
    """If all count together: each employee's wages by quarter."""

    since: datetime.date | None
    """The first pay date from which the lines are due by the wages paid; None until the threshold is reached."""

    by_last_year: bool
    """Whether last year's wages reached it."""

    @property
    def counted(self) -> int:
        """The wages to compare with it: of the year, or of the highest quarter."""
        return sum(self.quarters) if self.threshold.period == "year" else max(self.quarters)


@dataclass(frozen=True, slots=True)
class HouseholdThresholds:
    """All thresholds of a year that concern a household."""

    year: int
    assumed: bool
    """Whether the household pays taxes that depend on a threshold from the first dollar."""

    standings: tuple[ThresholdProgress, ...]


async def read_threshold_progress(
    session: AsyncSession,
    actor: Actor,
    employer: Employer,
    year: int,
    records: Sequence[Employee] | None = None,
    known: KnownHousehold | None = None,
) -> HouseholdThresholds:
    """Return the household's progress in a year, by the wages paid so far; federal law first, then by state.

    ``records`` are all its employees by id, and ``known`` what `known_household_of` returns for a calendar that
    includes the year, where they are read already. Raises what `allow` raises.
    """
    allow(actor, READ_CALENDAR, employer.id)
    if records is None:
        records = await read_employees(session, employer.id)
    persons = {record.id: record.person_id or record.id for record in records}
    if known is None:
        spanned = {"first_year": year - 1, "last_year": year}
        ledger = LedgerOfYears(
            months=(await read_household_months(session, employer.id, **spanned))[0],
            wages=[],
            places=[],
            before=await read_wages_from_before(session, employer.id, **spanned),
        )
        wages: Mapping[int, QuarterlyWages] = quarterly_wages(records, persons, ledger)
    else:
        wages = known.wages.by_year
    paid, last_year = wages.get(year, QuarterlyWages()), wages.get(year - 1, QuarterlyWages())
    names = {persons[record.id]: record.name for record in records}
    here = {persons[record.id] for record in records if record.status == "active"}
    here |= paid.cents.keys()
    states = {record.work_state for record in records if record.status == "active"} or {employer.state}
    states |= {code[:2] for code in paid.codes} & STATES.keys()
    progress = _Progress(year, {person: names[person] for person in here}, paid, last_year)
    return HouseholdThresholds(
        year,
        basis_of(employer.threshold_bases, year) == ASSUME_CROSSED,
        tuple(
            standing
            for jurisdiction, guard, state in _guards(year, sorted(states))
            for standing in progress.standings(jurisdiction, guard, state)
        ),
    )


def _guards(year: int, states: list[str]) -> list[tuple[str, Guard, str]]:
    """Return each threshold once, with a state whose law defines it."""
    found: dict[tuple[str, str], tuple[str, Guard, str]] = {}
    for state in states:
        for guard in guards_of(law_year(year, state), state):
            if guard.codes:
                name = guard.threshold.liability
                jurisdiction = FEDERAL if name in _OF_FEDERAL_LAW else state
                found.setdefault((jurisdiction, name), (jurisdiction, guard, state))
    return sorted(found.values(), key=lambda each: each[0] != FEDERAL)


class _Progress:
    """A year's wages, grouped by person once because they are needed repeatedly."""

    def __init__(
        self, year: int, names: Mapping[UUID, str], paid: QuarterlyWages, last_year: QuarterlyWages
    ) -> None:
        self.year = year
        self.names = dict(sorted(names.items(), key=lambda each: (each[1], each[0])))
        self.paid, self.last_year = paid, last_year
        self.own, self.own_last = _parted(paid), _parted(last_year)

    def standings(self, jurisdiction: str, guard: Guard, state: str) -> list[ThresholdProgress]:
        """Return the household's progress: one standing, or one for each employee whose wages count separately."""
        by_person = {person: self._quarters(guard, person) for person in self.names}
        if not guard.threshold.per_employee:
            together = tuple(self.paid.of(guard.codes, quarter, None) for quarter in QUARTERS)
            people = tuple((self.names[each], cents) for each, cents in by_person.items() if any(cents))
            whose = next(iter(self.names), None)
            since = self._since(guard, state, whose, self.paid, self.last_year)
            return [self._standing(jurisdiction, guard, None, together, people, since)]
        return [
            self._standing(
                jurisdiction,
                guard,
                name,
                by_person[person],
                (),
                self._since(
                    guard,
                    state,
                    person,
                    self.own.get(person, QuarterlyWages()),
                    self.own_last.get(person, QuarterlyWages()),
                ),
            )
            for person, name in self.names.items()
        ]

    def _quarters(self, guard: Guard, person: UUID) -> tuple[int, ...]:
        own = self.own.get(person)
        return tuple(0 if own is None else own.of(guard.codes, quarter, person) for quarter in QUARTERS)

    def _since(
        self, guard: Guard, state: str, person: UUID | None, paid: QuarterlyWages, before: QuarterlyWages
    ) -> datetime.date | None:
        if person is None:
            return None
        law = law_year(self.year, state)
        day = first_days(law, (state,), [person], paid, before)[person][guard.codes[0]]
        return None if day is None else day.replace(year=self.year)

    def _standing(
        self,
        jurisdiction: str,
        guard: Guard,
        name: str | None,
        quarters: tuple[int, ...],
        people: tuple[tuple[str, tuple[int, ...]], ...],
        since: datetime.date | None,
    ) -> ThresholdProgress:
        threshold = guard.threshold
        counted = sum(quarters) if threshold.period == "year" else max(quarters)
        by_last_year = since is not None and counted < threshold.cents
        return ThresholdProgress(
            jurisdiction, threshold, guard.codes, name, quarters, people, since, by_last_year
        )


def _parted(wages: QuarterlyWages) -> dict[UUID, QuarterlyWages]:
    return {person: QuarterlyWages({person: own}) for person, own in wages.cents.items()}
