"""Waiting for a condition, on a machine however busy: only what hangs is given up."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

PATIENCE: Final = 120.0
"""Seconds after which a test takes something as hanging. It says nothing about how fast anything is."""

_PAUSE: Final = 0.01


def wait_until(condition: Callable[[], object]) -> None:
    """Return once the condition holds. Raises TimeoutError if it never does."""
    given_up = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > given_up:
            raise TimeoutError
        time.sleep(_PAUSE)


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Return once the condition holds. Raises TimeoutError if it never does."""
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - what is watched has no event
            await asyncio.sleep(_PAUSE)
