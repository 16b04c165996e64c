"""Runs the worker: once, or until it is asked to stop, whatever happens to the database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from hearthpay.worker.connector import QueueAddress
from hearthpay.worker.duty import FINISH_SECONDS, Duty, Progress, perform
from hearthpay.worker.outage import is_outage
from hearthpay.worker.queue import QUEUE, housekeeping, open_queue

_SHORTEST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pulse:
    """How workers know of each other, in seconds. All of one database must agree."""

    beat: float = 10.0
    """A living worker is heard of so often."""
    stalled: float = 30.0
    """One that has not been heard of for so long is dead."""
    poll: float = 5.0
    """How often the queue is looked at without a notification, which may get lost."""
    finish: float = FINISH_SECONDS
    """How long the chunks in hand may take once the worker is asked to stop; then they are rolled back."""


async def run_worker(
    address: QueueAddress,
    duties: Sequence[Duty],
    *,
    concurrency: int,
    stopping: asyncio.Event,
    pulse: Pulse = Pulse(),
) -> None:
    """Do the duties as they come due, `concurrency` jobs at a time, until `stopping` is set.

    Then the chunks in hand are finished within `pulse.finish` or rolled back, and their jobs left to other workers. A
    database that goes away is waited for.
    """
    logging.getLogger("procrastinate").setLevel(logging.WARNING)  # it tells of every job, every minute
    loop = asyncio.get_running_loop()
    pause = _SHORTEST_PAUSE
    while not stopping.is_set():
        began = loop.time()
        await _run_until_trouble(address, duties, concurrency, stopping, pulse)
        if stopping.is_set():
            return
        if loop.time() - began > _LONGEST_PAUSE:
            pause = _SHORTEST_PAUSE
        _log.warning("worker_begins_again", seconds=pause)
        try:
            await asyncio.wait_for(stopping.wait(), pause)
        except TimeoutError:
            pause = min(pause * 2, _LONGEST_PAUSE)


async def _run_until_trouble(
    address: QueueAddress, duties: Sequence[Duty], concurrency: int, stopping: asyncio.Event, pulse: Pulse
) -> None:
    """Work off the queue until told to stop; return, too, when the queue could not be reached."""
    app = open_queue(address, duties, stopping=stopping, concurrency=concurrency, stalled_after=pulse.stalled)

    async def work() -> None:
        try:
            await app.open_async()
            await app.run_worker_async(
                queues=[QUEUE],
                concurrency=concurrency,
                fetch_job_polling_interval=pulse.poll,
                shutdown_graceful_timeout=pulse.finish,
                delete_jobs="successful",
                install_signal_handlers=False,
                listen_notify=address.can_listen,
                update_heartbeat_interval=pulse.beat,
                stalled_worker_timeout=pulse.stalled,
            )
        finally:
            await app.close_async()

    working = asyncio.create_task(work(), name="hearthpay-worker")
    waiting = asyncio.create_task(stopping.wait(), name="hearthpay-worker-stop")
    try:
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        working.cancel()  # which Procrastinate takes for the wish to stop in good order
        (outcome,) = await asyncio.gather(working, return_exceptions=True)
    if isinstance(outcome, Exception):
        if is_outage(outcome):
            _log.warning("queue_out_of_reach", reason=type(outcome).__name__)
        else:
            _log.error("queue_failed", exc_info=outcome)


async def run_once(
    address: QueueAddress,
    duties: Sequence[Duty],
    *,
    stopping: asyncio.Event,
    tell: Callable[[str], None],
    pulse: Pulse = Pulse(),
) -> bool:
    """Do all that is due now, one duty after the other; return whether everything succeeded.

    `tell` is given a line for each duty, and one a second while it lasts. A duty that fails does not keep the next
    from being done.
    """
    app = open_queue(address, duties, stopping=stopping, concurrency=1, stalled_after=pulse.stalled)
    good = True
    async with app.open_async():
        for duty in [*duties, housekeeping(app, stalled_after=pulse.stalled)]:
            if stopping.is_set():
                tell("Stopped before everything was done.")
                return False
            good &= await _perform_telling(duty, stopping, tell)
    return good


async def _perform_telling(duty: Duty, stopping: asyncio.Event, tell: Callable[[str], None]) -> bool:
    """Do one duty to its end, and tell of it; return whether nothing failed."""
    so_far = Progress()

    async def after_chunk(total: Progress) -> None:
        nonlocal so_far
        so_far = total

    doing = asyncio.create_task(perform(duty, stopping=stopping, after_chunk=after_chunk))
    try:
        while not (await asyncio.wait({doing}, timeout=1))[0]:
            rest = f", {so_far.remaining} or more to go" if so_far.remaining else ""
            tell(f"{duty.title}: {_counted(so_far)}{rest} …")
        total = doing.result()
    except Exception as error:  # noqa: BLE001 - whatever it is, the other duties are to be done
        _log.error("duty_failed", duty=duty.name, exc_info=error)
        tell(f"{duty.title}: failed ({type(error).__name__}); {_counted(so_far)} before")
        return False
    finally:
        doing.cancel()
    left = f", {total.remaining} or more left to other workers or to later" if total.remaining else ""
    tell(f"{duty.title}: {_counted(total)}{left}")
    return not total.failed


def _counted(progress: Progress) -> str:
    return f"{progress.done}, {progress.failed} failed" if progress.failed else f"{progress.done}"
