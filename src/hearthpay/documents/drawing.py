"""Draws papers in threads of their own, a few at a time: the event loop answers others meanwhile.

Nothing of the database is held while a paper is drawn.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread

_AT_ONCE: Final = 2
"""The compiler draws one page at a time; a second thread prepares the next paper or packs a file."""

_Drawn = TypeVar("_Drawn")
_LIMITERS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.CapacityLimiter]] = WeakKeyDictionary()


async def off_the_loop(draw: Callable[[], _Drawn]) -> _Drawn:
    """Return what ``draw`` returns, run in a thread once one of the few is free."""
    loop = asyncio.get_running_loop()
    limiter = _LIMITERS.get(loop)
    if limiter is None:
        limiter = _LIMITERS[loop] = anyio.CapacityLimiter(_AT_ONCE)
    return await anyio.to_thread.run_sync(draw, limiter=limiter)
