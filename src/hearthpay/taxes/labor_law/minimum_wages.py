"""Reads the minimum wages of household work and selects the one that applies to an hour."""

import datetime
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, cast

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.place_names import plain_name
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

Covers = Literal["all", "live_out", "live_in"]
COVERS: tuple[Covers, ...] = ("all", "live_out", "live_in")

FEDERAL_LAW = "federal law"

WageLaw = Literal["own", "federal", "none", "excludes_household"]
_WAGE_LAWS: tuple[WageLaw, ...] = ("own", "federal", "none", "excludes_household")

_FILE = Path(__file__).parents[1].joinpath("rules", "minimum_wages.toml")


class MinimumWage(NamedTuple):
    """The lowest hourly pay allowed from a day on. ``law`` names its source: Federal law, California, Denver."""

    law: str
    cents: int
    effective_from: datetime.date
    covers: Covers
    smallest_employer: int
    """The number of employees from which it applies."""

    sources: tuple[Source, ...]
    confidence: Confidence
    awaited: datetime.date | None
    """The day of the next change whose figure isn't known; from then on this figure is only a lower limit."""

    def is_outdated(self, day: datetime.date) -> bool:
        """Return whether the law has changed the figure by a day, and the new one isn't known here."""
        return self.awaited is not None and self.awaited <= day

    def likely_cents(self, day: datetime.date) -> int:
        """Return the cents that the figure may have reached by a day, by the usual steps since `awaited`."""
        if self.awaited is None or day < self.awaited:
            return self.cents
        years = day.year - self.awaited.year - ((day.month, day.day) < (self.awaited.month, self.awaited.day))
        return self.cents + -(-self.cents * usual_step_percent() * (years + 1) // 100)


class PlaceWages(NamedTuple):
    """The minimum wages of a place within a state, oldest first; ``keys`` are the names that select it.

    ``zips`` are the first digits of the ZIP codes within it. If it ``replaces_state``, its figure applies in place of
    the state's, though it is lower. ``rule`` says in words what the figures don't; often empty.
    """

    name: str
    keys: frozenset[str]
    zips: tuple[str, ...]
    replaces_state: bool
    rule: str
    wages: tuple[MinimumWage, ...]

    def has(self, names: frozenset[str]) -> bool:
        """Return whether one of the plain names, or ZIP codes, is of this place."""
        return bool(names & self.keys) or any(
            name.isdigit() and name.startswith(self.zips) for name in names if self.zips
        )


class StateMinimumWages(NamedTuple):
    """The minimum wages of a state, oldest first; none if federal law applies, for the reason given by ``law``."""

    state: str
    law: WageLaw
    rule: str
    wages: tuple[MinimumWage, ...]
    places: tuple[PlaceWages, ...]
    sources: tuple[Source, ...]
    confidence: Confidence


def covers(rule: Covers, *, lives_in: bool) -> bool:
    """Return whether a rule applies to someone who does, or doesn't, live in the household."""
    return rule == "all" or (rule == "live_in") == lives_in


def federal_minimum_wage() -> MinimumWage:
    """Return the federal minimum wage (29 U.S.C. 206), unchanged since 2009."""
    return _load().federal


def usual_step_percent() -> int:
    """Return by how much of itself a figure usually rises a year; a limit for warnings, not a forecast."""
    return _load().usual_step_percent


def minimum_wages_of(state: str) -> StateMinimumWages:
    """Return the minimum wages of a state (upper case); raises KeyError for an unknown one."""
    return _load().states[state]


def governing_minimum_wage(
    state: str, localities: Sequence[str], day: datetime.date, *, lives_in: bool, employees: int
) -> MinimumWage:
    """Return the highest minimum wage that applies to a household of that many employees on a day.

    ``localities`` are names and ZIP codes of places where the work is done; one without its own figure changes
    nothing. Of equal figures the place's is named before the state's, and that before the federal one. Raises
    KeyError for an unknown state.
    """
    return _governing(_applicable(state, tuple(localities), day, lives_in, employees))


def awaited_minimum_wage(
    state: str, localities: Sequence[str], day: datetime.date, *, lives_in: bool, employees: int
) -> MinimumWage | None:
    """Return the figure that the law has changed by a day and that may now be the highest; arguments as above.

    The new figure isn't known here: the old one may be below the state's by then. None if all figures are known, or
    those that aren't are too low to matter.
    """
    applicable = _applicable(state, tuple(localities), day, lives_in, employees)
    likely = max(applicable, key=lambda wage: wage.likely_cents(day))
    return likely if likely.likely_cents(day) > _governing(applicable).cents else None


def places_with_more(state: str, cents: int, day: datetime.date) -> int:
    """Return how many places of a state have a higher minimum wage than these cents for a household's only employee."""
    return sum(
        any(wage.cents > cents and wage.smallest_employer == 1 for wage in wages[-1:])
        for place in minimum_wages_of(state).places
        if (wages := [wage for wage in place.wages if wage.effective_from <= day])
    )


def _governing(applicable: Sequence[MinimumWage]) -> MinimumWage:
    governing = applicable[0]
    for wage in applicable[1:]:
        if wage.cents >= governing.cents:
            governing = wage
    return governing


@functools.lru_cache(maxsize=256)
def _applicable(
    state: str, localities: tuple[str, ...], day: datetime.date, lives_in: bool, employees: int
) -> tuple[MinimumWage, ...]:
    """Return the figures in force for a household on a day: the federal one, then the state's, then the places'."""
    found = minimum_wages_of(state)
    names = frozenset(plain_name(name) for name in localities)
    places = [place for place in found.places if place.has(names)]
    replaced = any(place.replaces_state for place in places)
    applicable = [federal_minimum_wage()]
    for wages in ([] if replaced else [found.wages]) + [place.wages for place in places]:
        in_force = [wage for wage in wages if wage.effective_from <= day]
        if not in_force:
            continue
        wage = in_force[-1]
        if employees >= wage.smallest_employer and covers(wage.covers, lives_in=lives_in):
            applicable.append(wage)
    return tuple(applicable)


def _read_wages(table: RuleTable, law: str, awaited: datetime.date | None) -> tuple[MinimumWage, ...]:
    wages = []
    for entry in table.tables("wage"):
        wages.append(_read_wage(entry, law, awaited))
        entry.close()
    if not wages:
        raise table.error("wage", "is missing")
    for before, after in itertools.pairwise(wages):
        if before.effective_from >= after.effective_from:
            raise table.error("wage", f"days must ascend, {after.effective_from} does not")
        if awaited is not None and after.effective_from >= awaited and after.cents != before.cents:
            raise table.error("awaited", f"is past: the figure of {after.effective_from} is known")
    return tuple(wages)


def _read_wage(entry: RuleTable, law: str, awaited: datetime.date | None) -> MinimumWage:
    return MinimumWage(
        law=law,
        cents=entry.cents("amount"),
        effective_from=entry.date("effective_from"),
        covers=cast("Covers", entry.choice("covers", COVERS, default="all")),
        smallest_employer=entry.integer("smallest_employer") if entry.has("smallest_employer") else 1,
        sources=entry.sources(),
        confidence=entry.confidence(),
        awaited=awaited,
    )


def _read_place(entry: RuleTable) -> PlaceWages:
    name = entry.text("name")
    place = PlaceWages(
        name,
        frozenset(plain_name(each) for each in (name, *entry.texts("localities"))),
        tuple(entry.texts("zips")),
        entry.flag("replaces_state", default=False),
        entry.text("rule", default=""),
        _read_wages(entry, name, entry.optional_date("awaited")),
    )
    entry.close()
    return place


def _read_state(entry: RuleTable) -> StateMinimumWages:
    code = entry.choice("state", tuple(STATES))
    law = cast("WageLaw", entry.choice("law", _WAGE_LAWS))
    own = law == "own"
    state = StateMinimumWages(
        state=code,
        law=law,
        rule=entry.text("rule"),
        wages=_read_wages(entry, STATES[code], entry.optional_date("awaited")) if own else (),
        places=tuple(_read_place(place) for place in entry.tables("place")) if own else (),
        sources=entry.sources(),
        confidence=entry.confidence(),
    )
    entry.close()
    return state


class MinimumWages(NamedTuple):
    """All minimum wages: the federal one, and each state's with its places."""

    usual_step_percent: int
    federal: MinimumWage
    states: dict[str, StateMinimumWages]


def read_minimum_wages(table: RuleTable) -> MinimumWages:
    """Return all minimum wages; raises `RuleError` for a mistake or a missing state."""
    step = table.integer("usual_step_percent")
    entry = table.table("federal")
    federal = _read_wage(entry, FEDERAL_LAW, None)
    entry.close()
    states: dict[str, StateMinimumWages] = {}
    for row in table.tables("state"):
        state = _read_state(row)
        if state.state in states:
            raise row.error("state", f"{state.state} stands here twice")
        states[state.state] = state
    table.close()
    if missing := STATES.keys() - states.keys():
        raise table.error("state", f"{min(missing)} is missing")
    return MinimumWages(step, federal, states)


@functools.cache
def _load() -> MinimumWages:
    return read_minimum_wages(RuleTable.load(_FILE))
