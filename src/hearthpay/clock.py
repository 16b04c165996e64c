"""The one source of time: every other module asks a `Clock`, so tests and sandboxes can travel."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

BUSINESS_TIME = ZoneInfo("America/New_York")
"""Payroll deadlines and the Federal Reserve's banking days are kept in US Eastern time."""


def end_of_day(day: date) -> datetime:
    """Return the instant at which a business day ends and the next begins, in UTC. Raises OverflowError for the last
    day.
    """
    following = day + timedelta(days=1)
    return datetime.combine(following, time.min, BUSINESS_TIME).astimezone(UTC)


class Clock(Protocol):
    """Tells the instant and the business day."""

    def now(self) -> datetime:
        """Return the current instant, timezone-aware, in UTC."""
        ...

    def today(self) -> date:
        """Return the current calendar day in US Eastern time."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current instant in UTC."""
        return datetime.now(UTC)

    def today(self) -> date:
        """Return the current calendar day in US Eastern time."""
        return self.now().astimezone(BUSINESS_TIME).date()


class FixedClock:
    """A clock which stands still until it is told to move."""

    def __init__(self, at: datetime) -> None:
        """Stand at `at`; a datetime without a timezone raises ValueError, as it names no instant."""
        if at.tzinfo is None or at.utcoffset() is None:
            raise ValueError("a clock needs a timezone-aware datetime")
        self._at = at.astimezone(UTC)

    def now(self) -> datetime:
        """Return the instant at which the clock stands, in UTC."""
        return self._at

    def today(self) -> date:
        """Return the calendar day in US Eastern time at which the clock stands."""
        return self._at.astimezone(BUSINESS_TIME).date()

    def advance(self, by: timedelta) -> None:
        """Move the clock by a span of real elapsed time; a negative span moves it back."""
        self._at += by
