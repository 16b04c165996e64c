"""Failed attempts to authenticate, counted by the client's address and by the beginning of the key.

After a burst the lookups of a network go one at a time in each process, so that its guesses hold at most one
connection to the database; a malformed key gets its waiting time without a lookup. The throttle slows the lookup but
never changes the result: a valid key is accepted, seen before or not, so a stranger with the same address locks
nobody out. The beginning of a key (its kind and four characters) groups the attempts of many addresses. Since the
key's owner shares it with guessers, it never blocks a lookup: only a failed attempt has to wait.

Failures are counted for all processes together, and only failures are: a valid key asks no other server.
"""

import asyncio
import contextlib
import datetime
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from typing import Final
from weakref import WeakValueDictionary

from hearthpay.access.throttle import AttemptLimit, AttemptStore, Tally, Throttle, tally
from hearthpay.clock import Clock
from hearthpay.http.connection_limits import network_of

BURST: Final = 100
"""Failures in a row before further ones must wait; one is forgiven every second."""
_LIMIT: Final = AttemptLimit(BURST, datetime.timedelta(seconds=1))
GUESSED_LINKS: Final = 20
"""Wrong addresses of calendars in a row, before further ones must wait; one is forgiven every ten seconds.
They are subscribed to, not typed, so few are wrong by mistake.
"""
_LINK_LIMIT: Final = AttemptLimit(GUESSED_LINKS, datetime.timedelta(seconds=10))
_PREFIX: Final = len("hp_live_") + 4
_REMEMBERED: Final = 10_000


class FailedAttempts:
    """The failures of the last minutes."""

    def __init__(self, clock: Clock, stores: Sequence[AttemptStore] = ()) -> None:
        self._throttle = Throttle(clock, stores, remembered=_REMEMBERED)
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
        """Return the seconds that a failing attempt must wait; 0 if it is looked up at once, else in its `turn`.

        It is what this process knows: after a failure it knows what all have counted.
        """
        if address is None or (key_hash is not None and key_hash in self._good):
            return 0
        return self._throttle.wait([_of_network(address)])

    def wait_for_link(self, address: str | None, token_hash: bytes | None) -> int:
        """Do the same for the address of a calendar: guesses of each network are counted apart from keys."""
        if token_hash is not None and token_hash in self._good:
            return 0
        return self._throttle.wait([_links_of_network(address)])

    async def link_failed(self, address: str | None, token_hash: bytes | None) -> int:
        """Count a wrong address of a calendar; return the seconds to wait, 0 while there are few."""
        if token_hash is not None:
            self._good.pop(token_hash, None)
        return await self._throttle.admit([_links_of_network(address)])

    async def failed(self, address: str | None, presented: str, key_hash: bytes | None) -> int:
        """Count a failure; return the seconds to wait before the next attempt, 0 while there are few."""
        if key_hash is not None:
            self._good.pop(key_hash, None)
        tallies = [tally("key", presented[:_PREFIX], _LIMIT)]
        if address is not None:
            tallies.append(_of_network(address))
        # An attempt that is refused isn't counted, so asking again doesn't prolong the wait.
        return await self._throttle.admit(tallies)

    def succeeded(self, key_hash: bytes) -> None:
        """Remember a key as valid."""
        self._good[key_hash] = None
        if len(self._good) > _REMEMBERED:
            self._good.popitem(last=False)


def _links_of_network(address: str | None) -> Tally:
    return tally("link", "" if address is None else network_of(address), _LINK_LIMIT)


def _of_network(address: str) -> Tally:
    return tally("network", network_of(address), _LIMIT)
