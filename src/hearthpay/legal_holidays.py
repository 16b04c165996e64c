"""Legal holidays of banks and offices in the United States: a table for the current years, and a library for others.

The library (`holidays`) loads the calendars of all countries, which takes longer than most commands run. Its results
for FIRST_YEAR to LAST_YEAR are in `legal_holidays.toml`, made by `python -m tests.legal_holidays`; a test compares
the two.
"""

import datetime
import tomllib
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

HolidayCalendar = Literal["federal_reserve", "federal", "dc"]
"""The Reserve Banks' (Federal Reserve Bank Services, Holiday Schedules); federal offices' (5 U.S.C. 6103); and all of
the District of Columbia's, which the IRS observes (26 U.S.C. 7503)."""

CALENDARS: Final[tuple[HolidayCalendar, ...]] = get_args(HolidayCalendar)
FIRST_YEAR: Final = 2020
LAST_YEAR: Final = 2040

TABLE: Final = Path(__file__).with_suffix(".toml")


@cache
def holidays_of(calendar: HolidayCalendar, year: int) -> frozenset[datetime.date]:
    """Return the days of the year on which these are closed, or would be if that weekday were a working day."""
    if FIRST_YEAR <= year <= LAST_YEAR:
        return frozenset(_table()[calendar][str(year)])
    return computed(calendar, year)


def computed(calendar: HolidayCalendar, year: int) -> frozenset[datetime.date]:
    """Return the library's holidays for the year."""
    from holidays import country_holidays, financial_holidays

    if calendar == "federal_reserve":
        return frozenset(financial_holidays("XFED", years=year))
    return frozenset(country_holidays("US", subdiv="DC" if calendar == "dc" else None, years=year))


@cache
def _table() -> dict[str, dict[str, list[datetime.date]]]:
    return tomllib.loads(TABLE.read_text("utf-8"))
