"""A queue for hashing passwords: a few threads, with waiting clients served in turn.

A hash takes tens of milliseconds on purpose. However many passwords one network sends at once, a client from another
network waits only for those in progress and for one of each client ahead of it, not for all of them.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

THREADS: Final = 2
_POOL: Final = ThreadPoolExecutor(THREADS, "hearthpay-password")
_Result = TypeVar("_Result")


class HashingQueue:
    """The running hashes, and the waiting ones by client."""

    def __init__(self) -> None:
        self._under_way = 0
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def run(self, client: str, work: Callable[[], _Result]) -> _Result:
        """Do the work in a thread once it is the client's turn, and return its result."""
        if self._under_way < THREADS:
            self._under_way += 1
        else:
            await self._wait(client)
        try:
            return await asyncio.get_running_loop().run_in_executor(_POOL, work)
        finally:
            self._hand_over()

    async def _wait(self, client: str) -> None:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._hand_over()
            raise

    def _hand_over(self) -> None:
        """Give the turn to the first waiting hash of the next client, which then moves to the end of the queue."""
        while self._queues:
            client, row = self._queues.popitem(last=False)
            while row:
                next_one = row.popleft()
                if not next_one.done():
                    if row:
                        self._queues[client] = row
                    next_one.set_result(None)
                    return
        self._under_way -= 1


_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, HashingQueue]] = WeakKeyDictionary()


def hashing_queue() -> HashingQueue:
    """Return the hashing queue of the running event loop."""
    return _TURNS.setdefault(asyncio.get_running_loop(), HashingQueue())
