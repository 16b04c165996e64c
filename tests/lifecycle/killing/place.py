"""Where a killed town lives: the database's directory, the bank's folders, and the time, for all of its processes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from hearthpay.clock import BUSINESS_TIME, SystemClock


@dataclass(frozen=True, slots=True)
class Place:
    """The directories; nothing but the database's own files may lie in its directory."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def bank(self) -> Path:
        return self.root / "bank"

    @property
    def time(self) -> Path:
        return self.root / "time"

    @property
    def outbox(self) -> Path:
        return self.bank / "outbox"

    @property
    def inbox(self) -> Path:
        return self.bank / "inbox"


class TravellingClock:
    """Goes as the machine's clock does, ahead of it or behind it by what a file says: one time for all processes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._machine = SystemClock()

    def now(self) -> datetime:
        return self._machine.now() + timedelta(seconds=float(self._file.read_text()))

    def today(self) -> date:
        return self.now().astimezone(BUSINESS_TIME).date()

    def go_to(self, instant: datetime) -> None:
        """Make it this time, for everybody at once."""
        ahead = (instant - self._machine.now()).total_seconds()
        draft = self._file.with_suffix(".draft")
        draft.write_text(repr(ahead))
        draft.replace(self._file)
