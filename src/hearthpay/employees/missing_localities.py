"""Whether a local tax may be owed where an employee works or lives, at a place nobody chose but an address names."""

import datetime
import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from hearthpay.employees.certificates import federal_certificate, state_entries
from hearthpay.employees.models import Employee
from hearthpay.taxes import PaycheckInput, TaxInputError, rulebook_for
from hearthpay.taxes.assumptions import assumptions_of
from hearthpay.taxes.local import LocalTax
from hearthpay.taxes.messages import Message
from hearthpay.taxes.place_names import plain_name

_UNCHOSEN: Final = frozenset(
    {"county_not_chosen", "county_rate_assumed", "municipality_not_chosen", "city_not_chosen"}
)
_COUNTIES: Final = Path(__file__).with_name("cities_of_counties.toml")
_ANY_WAGES: Final = Decimal(1_000)


@dataclass(frozen=True, slots=True)
class UnchosenPlace:
    """An open question about an employee's place: the assumption made, and the taxes that addresses point to."""

    code: str
    message: str
    coded_message: Message
    suggested: tuple[str, ...]
    """Names of local taxes of the cities in question; empty if no address shows any."""


def unchosen_place(record: Employee, cities: Sequence[str | None], on: datetime.date) -> UnchosenPlace | None:
    """Return what is open about the place of an employee's local taxes; None if it is settled, or there are none.

    ``cities`` are those of the household's and the employee's addresses. Nothing is open if the engine refuses the
    record as it is.
    """
    request = PaycheckInput(
        pay_date=on,
        pay_frequency=record.pay_frequency,
        regular_wages=_ANY_WAGES,
        work_state=record.work_state,
        residence_state=record.residence_state,
        localities=tuple(record.localities),
        federal=federal_certificate(record.federal_withholding),
        state=state_entries(record.state_withholding),
    )
    try:
        found = [each for each in assumptions_of(request) if each.code in _UNCHOSEN]
        taxes = rulebook_for(on).state(record.work_state).local_taxes
    except TaxInputError:
        return None
    if not found:
        return None
    suggested: dict[str, None] = {}
    for city in cities:
        if city:
            named = taxes.named(county_of(record.work_state, city) or city)
            if isinstance(named, LocalTax):
                suggested[named.name] = None
    return UnchosenPlace(*found[0], tuple(suggested))


def county_of(state: str, city: str) -> str | None:
    """Return the county of a city, if the tax there is the county's and the city is known here."""
    counties: Mapping[str, str] = _counties().get(state, {})
    return next((county for name, county in counties.items() if plain_name(name) == plain_name(city)), None)


@functools.cache
def _counties() -> Mapping[str, Any]:
    return tomllib.loads(_COUNTIES.read_text("utf-8"))
