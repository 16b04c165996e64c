"""Failed attempts to authenticate, counted by the client's address and by the beginning of the key.

After a burst the lookups of a network go one at a time, so that its guesses hold at most one connection to the
database; a malformed key is told to wait without a lookup. The throttle slows the lookup but never changes the
result: a valid key is accepted, seen before or not, so a stranger with the same address locks nobody out. The
beginning of a key (its kind and four characters) groups the attempts of many addresses. Since the key's owner shares
it with guessers, it never blocks a lookup: only a failed attempt is told to wait.
"""

import asyncio
import contextlib
import datetime
import math
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from hearthpay.clock import Clock
from hearthpay.http.connection_limits import network_of

BURST: Final = 100
"""Failures in a row before further ones must wait; one is forgiven every second."""
_PREFIX: Final = len("hp_live_") + 4
_REMEMBERED: Final = 10_000


@dataclass(slots=True)
class _Record:
    """How many failures aren't forgiven yet, as of a moment."""

    failures: float
    at: datetime.datetime


class FailedAttempts:
    """The failures of the last minutes; bounded, in this process's memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._records: OrderedDict[str, _Record] = OrderedDict()
        self._good: OrderedDict[bytes, None] = OrderedDict()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def turn(self, address: str | None, due: int) -> AsyncIterator[None]:
        """Wait for a lookup's turn: none if nothing is ``due``, else after the other lookups of its network."""
        if not due or address is None:
            yield
            return
        async with self._turns.setdefault(network_of(address), asyncio.Lock()):
            yield

    def wait(self, address: str | None, key_hash: bytes | None) -> int:
        """Return the seconds that a failing attempt must wait; 0 if it is looked up at once, else in its `turn`."""
        if address is None or (key_hash is not None and key_hash in self._good):
            return 0
        return self._due(network_of(address))

    def failed(self, address: str | None, presented: str, key_hash: bytes | None) -> int:
        """Count a failure; return the seconds to wait before the next attempt, 0 while there are few."""
        if key_hash is not None:
            self._good.pop(key_hash, None)
        names = [f"key {presented[:_PREFIX]}"]
        if address is not None:
            names.append(network_of(address))
        due = max(self._due(name) for name in names)
        if not due:  # who is told to wait is not pushed further back for asking again
            for name in names:
                self._count(name)
        return due

    def succeeded(self, key_hash: bytes) -> None:
        """Remember a key as valid."""
        self._good[key_hash] = None
        if len(self._good) > _REMEMBERED:
            self._good.popitem(last=False)

    def _due(self, name: str) -> int:
        record = self._records.get(name)
        if record is None:
            return 0
        return max(0, math.ceil(self._now(record) - BURST + 1))

    def _count(self, name: str) -> None:
        record = self._records.pop(name, None)
        failures = 1.0 if record is None else self._now(record) + 1
        self._records[name] = _Record(failures, self._clock.now())
        if len(self._records) > _REMEMBERED:
            self._records.popitem(last=False)

    def _now(self, record: _Record) -> float:
        passed = (self._clock.now() - record.at).total_seconds()
        return max(0.0, record.failures - max(0.0, passed))
