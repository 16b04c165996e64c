"""The days on which the agencies that receive a return are open, and how a due date moves to one.

Offices close on the Friday before a holiday that falls on a Saturday; the banks of the Federal Reserve do not
(`hearthpay.banking.calendar`), so the two calendars differ.
"""

import datetime
from typing import Final, Literal

from hearthpay.legal_holidays import holidays_of

Offices = Literal["federal", "dc"]
"""Whose holidays count: federal offices' (5 U.S.C. 6103), or all legal holidays of the District of Columbia, which
the IRS observes (26 U.S.C. 7503)."""

_DAY: Final = datetime.timedelta(days=1)
_SATURDAY: Final = 5


def is_office_day(day: datetime.date, offices: Offices) -> bool:
    """Return whether the offices are open on this day."""
    return day.weekday() < _SATURDAY and day not in holidays_of(offices, day.year)


def office_day_on_or_after(day: datetime.date, offices: Offices) -> datetime.date:
    """Return the day itself if the offices are open, else the next day on which they are."""
    while not is_office_day(day, offices):
        day += _DAY
    return day


def add_office_days(day: datetime.date, count: int, offices: Offices) -> datetime.date:
    """Return the `count`-th office day after the day; the day itself doesn't count."""
    for _ in range(count):
        day = office_day_on_or_after(day + _DAY, offices)
    return day
