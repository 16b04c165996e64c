"""Progress for people: silent for a second, then a line per second."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

Tell = Callable[[str], None]
"""Shows one line of progress."""

_SECONDS: Final = 1.0
_MEGABYTE: Final = 1_000_000


class Pace:
    """Reports the progress of one piece of work at a readable rate."""

    def __init__(self, tell: Tell, what: str) -> None:
        """`what` begins each line."""
        self._send: Final = tell
        self._what: Final = what
        self._next = time.monotonic() + _SECONDS

    def note(self, done: int | Callable[[], int], total: int | None = None) -> None:
        """Report how many bytes are done, and of how many, if it is time; costly totals are only computed then."""
        if self._due():
            self._send(f"{self._what}: {megabytes(done if isinstance(done, int) else done(), total)} …")

    def say(self, what: str) -> None:
        """Report the current step if it is time."""
        if self._due():
            self._send(f"{self._what} {what} …")

    def _due(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _SECONDS
        return True


def megabytes(size: int, total: int | None = None) -> str:
    """Return the number of bytes, and the total, in readable form."""
    return (
        f"{size / _MEGABYTE:,.1f} MB" if total is None else f"{size / _MEGABYTE:,.1f} of {megabytes(total)}"
    )
