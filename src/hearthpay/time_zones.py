"""The time zones of households: the usual one of each state, and the one in which times are shown now.

Deadlines and business days are counted in US Eastern time (`hearthpay.clock`). What a person reads is in the time of
the household: a page or an email sets it once (`set_shown_time_zone`, `shown_in`), and every time that is worded
after that is in it. Outside, it is Eastern time.
"""

import datetime
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from hearthpay.clock import BUSINESS_TIME

TimeZone = Literal[
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Phoenix",
    "America/Los_Angeles",
    "America/Anchorage",
    "Pacific/Honolulu",
]
"""The zones that a household can have, by their IANA names, from east to west."""

TIME_ZONES: Final[tuple[TimeZone, ...]] = get_args(TimeZone)
TABLE: Final = Path(__file__).with_suffix(".toml")


class StateTime(NamedTuple):
    """The usual time zone of a state, and where in it another one holds (in English); None: nowhere."""

    zone: TimeZone
    note: str | None


def time_zone_of(state: str, chosen: str | None) -> ZoneInfo:
    """Return the zone of a household: the one that it chose, or the usual one of its state.

    A state that the table doesn't have, and a zone that this computer doesn't know, give Eastern time.
    """
    known = state_times().get(state)
    name = chosen or (None if known is None else known.zone)
    return ZoneInfo(name) if name in TIME_ZONES else BUSINESS_TIME


@cache
def state_times() -> Mapping[str, StateTime]:
    """Return the usual time zones by state."""
    read = tomllib.loads(TABLE.read_text("utf-8"))["states"]
    return {state: StateTime(entry["zone"], entry.get("note")) for state, entry in read.items()}


class _Block:
    """The zone of a block, which may be set within it."""

    def __init__(self, zone: ZoneInfo | None) -> None:
        self.zone = zone


_BLOCK: ContextVar[_Block | None] = ContextVar("shown_time_zone", default=None)


@contextmanager
def shown_in(zone: ZoneInfo | None = None) -> Iterator[None]:
    """Show times in this zone within the block; None leaves it at Eastern time until it is set."""
    token = _BLOCK.set(_Block(zone))
    try:
        yield
    finally:
        _BLOCK.reset(token)


def set_shown_time_zone(zone: ZoneInfo) -> None:
    """Show times in this zone for the rest of the current `shown_in` block; does nothing without a block."""
    block = _BLOCK.get()
    if block is not None:
        block.zone = zone


def shown_time_zone() -> ZoneInfo:
    """Return the zone in which times are shown now."""
    block = _BLOCK.get()
    return BUSINESS_TIME if block is None or block.zone is None else block.zone


def day_there(zone: ZoneInfo, now: datetime.datetime) -> datetime.date:
    """Return the calendar day in a zone at the instant."""
    return now.astimezone(zone).date()
