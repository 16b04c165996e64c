"""What the paths and forms of a household share: years, days, ids, and problems of fields."""

import datetime
from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.rulebook import supported_years
from hearthpay.web.visitor import Visitor

YEARS_BACK: Final = 3
"""How many earlier years can be viewed."""

_DAY: Final = mark("Enter a date, like 11/20/2026.")
_AS_WRITTEN: Final = ("%Y-%m-%d", "%m/%d/%Y")
SAID_BY_SERVICES: Final = (
    mark("Fill in this field."),
    mark("The account numbers don't match. Enter both again."),
    mark("Choose checking or savings."),
    mark("That routing number isn't valid. Check all nine digits."),
    mark("Enter a valid account number."),
    mark("An EIN has nine digits."),
    mark("That EIN isn't valid. Check all nine digits."),
    mark("an agency's number has up to 40 letters, digits, spaces, hyphens, dots, slashes and #"),
    mark("Enter today's date or an earlier one."),
    mark("Enter an amount with at most 2 decimals, like 25.50."),
    mark("Enter an amount above 0."),
    mark("Use 1 to 500 printable characters."),
    mark("Enter a phone number with ten digits, like 415-555-0134."),
    mark("Enter the eight letters and digits the SSA assigned."),
    mark("Fill in this field."),
)
"""The services' sentences about a field of these pages."""


def years_of(today: datetime.date) -> tuple[int, ...]:
    """Return the years that can be viewed, the current one first: those with rules."""
    years = range(today.year, today.year - YEARS_BACK - 1, -1)
    return tuple(year for year in years if year in supported_years()) or (today.year,)


def year_in(visitor: Visitor, today: datetime.date) -> int:
    """Return the year from the query; the current one if it names none that can be viewed."""
    asked = visitor.request.query_params.get("year", "")
    return next((year for year in years_of(today) if str(year) == asked), today.year)


def year_field(form: Mapping[str, str], today: datetime.date) -> int:
    """Return the year from a form. Raises `not_found` for one that can't be viewed."""
    for year in years_of(today):
        if str(year) == form.get("year"):
            return year
    raise Refusal("not_found", mark("We have no records for that year."))


def day_field(form: Mapping[str, str], field: str) -> datetime.date:
    """Return the day of a form's field, as browsers send it or as people write it. Raises `validation_error`."""
    typed = form.get(field, "").strip()
    for written in _AS_WRITTEN:
        try:
            return datetime.datetime.strptime(typed, written).date()  # noqa: DTZ007 - a day has no time zone
        except ValueError:
            continue
    raise invalid(field, _DAY)


def id_in(visitor: Visitor, name: str) -> UUID:
    """Return the id from the path. Raises `not_found` for an invalid one."""
    try:
        return UUID(visitor.request.path_params[name])
    except ValueError:
        raise Refusal("not_found", mark("Nothing found with this name.")) from None


def field_errors(problems: Mapping[str, str], names: Callable[[str], str] = str) -> dict[str, str]:
    """Return problems under the names of the page's fields; those that concern no field go above the form."""
    return {names(field): message for field, message in problems.items()}
