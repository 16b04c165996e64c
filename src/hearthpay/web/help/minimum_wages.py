"""The page of minimum wages: those of states, cities and counties that are known, with dates and sources."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.labor_law.minimum_wages import (
    MinimumWage,
    federal_minimum_wage,
    governing_minimum_wage,
    minimum_wages_of,
)
from hearthpay.taxes.trace import Source

PATH: Final = "/help/minimum-wages"


@dataclass(frozen=True, slots=True)
class PlaceWage:
    """The minimum wage of a place on a day for a household's only employee who lives elsewhere; cents."""

    name: str
    cents: int
    since: datetime.date
    next_cents: int | None
    """The next figure that is known, if it is another; cents."""

    next_on: datetime.date | None
    """When that applies, or when the figure changes to one that isn't known here."""

    outdated: bool
    """Whether the figure has changed since, and the new one isn't known here."""

    employees: int
    """The number of employees from which it applies."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class StateWages:
    """One state in the list of all: what an hour costs there, and how many places have their own figure."""

    code: str
    name: str
    cents: int
    places: int


def states_on(day: datetime.date) -> list[StateWages]:
    """Return every state by name."""
    rows = [
        StateWages(
            code,
            name,
            governing_minimum_wage(code, (), day, lives_in=False, employees=1).cents,
            len(figures_of(code, day)) - 1,
        )
        for code, name in STATES.items()
    ]
    return sorted(rows, key=lambda row: row.name)


def figures_of(state: str, day: datetime.date) -> list[PlaceWage]:
    """Return a state's figure, first, and those of its places by name. Raises KeyError for an unknown state."""
    found = minimum_wages_of(state)
    governing = governing_minimum_wage(state, (), day, lives_in=False, employees=1)
    own = found.wages if governing in found.wages else (federal_minimum_wage(),)
    places = [
        _figure(place.name, place.wages, day) for place in sorted(found.places, key=lambda each: each.name)
    ]
    return [each for each in (_figure(STATES[state], own, day), *places) if each is not None]


def _figure(name: str, wages: Sequence[MinimumWage], day: datetime.date) -> PlaceWage | None:
    """Return the figure in force on a day with the next one; None if the first one is still to come."""
    in_force = [wage for wage in wages if wage.effective_from <= day]
    if not in_force:
        return None
    wage = in_force[-1]
    coming = next((each for each in wages if each.effective_from > day and each.cents != wage.cents), None)
    awaited = wage.awaited if coming is None else None
    return PlaceWage(
        name=name,
        cents=wage.cents,
        since=wage.effective_from,
        next_cents=None if coming is None else coming.cents,
        next_on=awaited if coming is None else coming.effective_from,
        outdated=wage.is_outdated(day),
        employees=wage.smallest_employer,
        sources=wage.sources,
    )


def facts_of(state: str, day: datetime.date) -> Mapping[str, object]:
    """Return what the page shows: of one state, or of all if ``state`` is none."""
    if state not in STATES:
        return {"states": states_on(day), "figures": None}
    return {"state_name": STATES[state], "figures": figures_of(state, day)}
