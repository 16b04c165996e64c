"""Draws papers in threads of their own, a few at a time: the event loop answers others meanwhile.

Nothing of the database is held while a paper is drawn.
"""

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

_AT_ONCE: Final = 2
"""The compiler draws one paper at a time; meanwhile the other thread prepares the next one or packs a file."""

_Drawn = TypeVar("_Drawn")


async def off_the_loop(draw: Callable[[], _Drawn]) -> _Drawn:
    """Return what ``draw`` returns, run in a thread once one of the few is free."""
    return await asyncio.get_running_loop().run_in_executor(_threads(), draw)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="hearthpay-papers")
