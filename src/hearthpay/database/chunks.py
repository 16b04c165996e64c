"""Work done in chunks, several at a time: while one is calculated, the database works for another."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

AT_ONCE: Final = 2
"""Chunks at a time, each on a separate connection."""

Started = Callable[[], None]
"""Tells that a chunk has been claimed and that more may be due: the next one may begin."""


async def in_chunks(
    one: Callable[[Started], Awaitable[bool]],
    *,
    stopping: Callable[[], bool],
    at_once: int = AT_ONCE,
) -> None:
    """Call `one` for chunk after chunk until it returns False, up to `at_once` at a time.

    Chunks must not overlap: each claims its rows and skips those that another has claimed. Another one begins at the
    same time only after `one` has called its argument. None begins once `stopping` returns True or one has raised; the
    others are finished, then the first error is raised. If the caller is canceled, all are.
    """
    lanes: list[asyncio.Task[None]] = []
    failed = False

    async def lane() -> None:
        nonlocal failed
        try:
            while not failed and not stopping():
                if not await one(begin):
                    break
        except BaseException:
            failed = True
            raise

    def begin() -> None:
        open_lanes = sum(not each.done() for each in lanes)
        if open_lanes < at_once and not failed:
            lanes.append(asyncio.create_task(lane()))

    begin()
    try:
        while pending := [each for each in lanes if not each.done()]:
            await asyncio.wait(pending)
    except asyncio.CancelledError:
        for each in lanes:
            each.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)
        raise
    for each in lanes:
        each.result()
