"""The one source of time: every other module asks a `Clock`, so that tests and sandboxes can move it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol
from zoneinfo import ZoneInfo

BUSINESS_TIME = ZoneInfo("America/New_York")
"""Payroll deadlines and the Federal Reserve's business days use US Eastern time."""


def end_of_day(day: datetime.date) -> datetime.datetime:
    """Return the instant at which a business day ends and the next begins, in UTC. Raises OverflowError for the last
    day.
    """
    following = day + datetime.timedelta(days=1)
    return datetime.datetime.combine(following, datetime.time.min, BUSINESS_TIME).astimezone(datetime.UTC)


class Clock(Protocol):
    """Returns the current instant and business day."""

    def now(self) -> datetime.datetime:
        """Return the current instant, timezone-aware, in UTC."""
        ...

    def today(self) -> datetime.date:
        """Return the current calendar day in US Eastern time."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime.datetime:
        """Return the current instant in UTC."""
        return datetime.datetime.now(datetime.UTC)

    def today(self) -> datetime.date:
        """Return the current calendar day in US Eastern time."""
        return self.now().astimezone(BUSINESS_TIME).date()


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, at: datetime.datetime) -> None:
        """Stand at `at`; raises ValueError for a datetime without a time zone."""
        if at.tzinfo is None or at.utcoffset() is None:
            raise ValueError("a clock needs a timezone-aware datetime")
        self._at = at.astimezone(datetime.UTC)

    def now(self) -> datetime.datetime:
        """Return the clock's instant, in UTC."""
        return self._at

    def today(self) -> datetime.date:
        """Return the clock's calendar day in US Eastern time."""
        return self._at.astimezone(BUSINESS_TIME).date()

    def advance(self, by: datetime.timedelta) -> None:
        """Move the clock by a span of real elapsed time; a negative span moves it back."""
        self._at += by


@dataclass(frozen=True, slots=True)
class HouseholdTime:
    """The instant of a sandbox household's clock; while it is `advancing`, nothing else may change the household."""

    at: datetime.datetime
    advancing: bool = False


@dataclass(slots=True)
class _Block:
    time: HouseholdTime | None


_BLOCK: ContextVar[_Block | None] = ContextVar("household_time", default=None)


@contextmanager
def household_time(time_: HouseholdTime | None = None) -> Iterator[None]:
    """Set every `HouseholdClock` to this time within the block; None leaves it at real time until it is set."""
    token = _BLOCK.set(_Block(time_))
    try:
        yield
    finally:
        _BLOCK.reset(token)


def set_household_time(time_: HouseholdTime | None) -> None:
    """Set the time for the rest of the current `household_time` block; does nothing without a block."""
    block = _BLOCK.get()
    if block is not None:
        block.time = time_


def current_household_time() -> HouseholdTime | None:
    """Return the time of the current block; None for real time."""
    block = _BLOCK.get()
    return None if block is None else block.time


class HouseholdClock:
    """The machine's clock, or that of the sandbox household of the current `household_time` block.

    What belongs to no household (sessions, keys, limits, idempotency) asks `real` instead.
    """

    def __init__(self, real: Clock) -> None:
        """Use `real` outside such blocks."""
        self.real = real

    def now(self) -> datetime.datetime:
        """Return the instant of the household's clock, or the current one, in UTC."""
        stands = current_household_time()
        return self.real.now() if stands is None else stands.at

    def today(self) -> datetime.date:
        """Return the calendar day in US Eastern time at that instant."""
        return self.now().astimezone(BUSINESS_TIME).date()


def real_clock(clock: Clock) -> Clock:
    """Return the clock that no household can move."""
    return clock.real if isinstance(clock, HouseholdClock) else clock
