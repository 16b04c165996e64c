"""A duty of the worker: work in chunks that any number of processes may do at once.

A duty finds what is due and leaves nothing half done: each chunk is one or more whole transactions, and
repeating it changes nothing. So it doesn't matter who does it, how often, or who is killed while doing it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

EVERY_MINUTE: Final = "* * * * *"

FINISH_SECONDS: Final = 10.0
"""How long a chunk may continue once its worker is asked to stop: as long as a request in the web server."""

Stopping = Callable[[], bool]
"""Whether the worker has been told to stop; a chunk that can end early checks it between its transactions."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a duty has been done, in pieces such as payrolls."""

    done: int = 0
    failed: int = 0
    remaining: int = 0
    """How many are still due, at least: counting all may cost more than doing them."""

    def then(self, later: Progress) -> Progress:
        """Return the sum of this and what was done after it."""
        return Progress(self.done + later.done, self.failed + later.failed, later.remaining)

    @property
    def moved(self) -> bool:
        """Whether anything was done, successfully or not."""
        return bool(self.done or self.failed)


@dataclass(frozen=True, slots=True)
class Duty:
    """Recurring work."""

    name: str
    """The name of its jobs in the queue; renaming it leaves jobs behind that no worker knows."""
    title: str
    """What its pieces are, for people: "Payrolls fired"."""
    work: Callable[[Stopping], Awaitable[Progress]]
    """Does one chunk. An error ends the job, and is retried if the database was out of reach."""
    shared_by: int | None = None
    """How many pieces are worth another worker's help; None for a duty that doesn't benefit."""
    cron: str = EVERY_MINUTE
    """When a job of it is queued, whatever became of the previous one; six fields count in seconds."""
    priority: int = 0
    """Waiting jobs with the highest number go first."""


async def perform(
    duty: Duty,
    *,
    stopping: asyncio.Event,
    within: float | None = None,
    after_chunk: Callable[[Progress], Awaitable[None]] | None = None,
) -> Progress:
    """Do chunk after chunk until nothing is due that others don't have in hand; return the total.

    Ends after the current chunk once `stopping` is set or `within` seconds are over. `after_chunk` gets the sum so
    far after each chunk that leaves something. Raises what the duty raises.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    total = Progress()
    while True:
        chunk = await duty.work(stopping.is_set)
        total = total.then(chunk)
        if not chunk.remaining:
            return total
        if after_chunk is not None:
            await after_chunk(total)
        late = within is not None and loop.time() - began >= within
        if late or not chunk.moved or stopping.is_set():
            return total
