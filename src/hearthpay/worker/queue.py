"""The queue of the worker: Procrastinate, in its own schema of our database.

Each duty has two kinds of job. The periodic one is queued at its times, once for all workers; it is tried again when
the database was out of reach. Where much is due it queues helping jobs, so that every idle worker takes part; only so
many of those wait at a time, and they are not tried again, as the next periodic job finds what they have left.

Jobs carry no data: what is due is in our own tables, so a lost job loses nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Final

import structlog
from procrastinate import App
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, JobAborted, UniqueViolation
from procrastinate.jobs import Job, Status
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.tasks import Task

from hearthpay.http.database_failures import sqlstate_of
from hearthpay.worker.connector import QueueAddress, QueueConnector
from hearthpay.worker.duty import Duty, Progress, Stopping, perform
from hearthpay.worker.outage import is_outage

QUEUE: Final = "hearthpay"

SHIFT_SECONDS: Final = 20.0
"""How long one job works before it queues another and lets more urgent ones pass."""

HELPERS: Final = 8
"""How many helping jobs of a duty wait at most; as soon as one is taken, another may be queued."""

MOST_ATTEMPTS: Final = 5
"""After two to the power of so many seconds the next minute's job has come, and does the same."""

KEEP_HOURS: Final = 30 * 24
"""How long the record of a job that failed is kept. Jobs that succeed leave none."""

_log = structlog.get_logger(__name__)


class Backoff(BaseRetryStrategy):
    """Tries again after an outage, each time after twice as long; at once when the worker was asked to stop."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Return when to try again, or None for a fault, which repeating does not mend."""
        if isinstance(exception, asyncio.CancelledError | JobAborted):
            return RetryDecision(retry_in={"seconds": 0})
        if not is_outage(exception) or job.attempts >= MOST_ATTEMPTS:
            return None
        seconds = 2 ** (job.attempts + 1)
        _log.warning(
            "job_postponed",
            job=job.task_name,
            seconds=seconds,
            attempts=job.attempts + 1,
            error=type(exception).__name__,
            sqlstate=sqlstate_of(exception),
        )
        return RetryDecision(retry_in={"seconds": seconds})


def open_queue(
    address: QueueAddress,
    duties: Sequence[Duty],
    *,
    stopping: asyncio.Event,
    concurrency: int,
    stalled_after: float,
) -> App:
    """Return the queue with the jobs of all duties, ready to be opened.

    `stopping` ends duties after the chunk in hand; a worker that has not been heard of for `stalled_after` seconds
    is dead, and its jobs are given to others.
    """
    app = App(connector=QueueConnector(address, concurrency + 2))
    for duty in [*duties, housekeeping(app, stalled_after=stalled_after)]:
        _register(app, duty, stopping)
    return app


def housekeeping(app: App, *, stalled_after: float) -> Duty:
    """Return the duty to keep the queue itself in order."""

    async def work(_stopping: Stopping) -> Progress:
        freed = await _free_stalled_jobs(app, stalled_after)
        await app.job_manager.prune_stalled_workers(stalled_after)
        await app.job_manager.delete_old_jobs(
            KEEP_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
        )
        return Progress(done=freed)

    return Duty("housekeeping", "Jobs of dead workers freed", work, priority=1)


def _register(app: App, duty: Duty, stopping: asyncio.Event) -> None:
    """Give the duty its two kinds of job."""
    name = f"hearthpay.{duty.name}"

    async def help_out() -> None:
        try:
            await _shift(duty, helping, stopping)
        except Exception as error:
            if not is_outage(error):
                raise
            _log.warning("help_ended_by_outage", duty=duty.name)

    helping = app.task(name=f"{name}.help", queue=QUEUE, priority=duty.priority)(help_out)

    async def at_its_time(timestamp: int) -> None:  # noqa: ARG001 - when it was queued for; the clock knows better
        await _shift(duty, helping, stopping)

    timed = app.task(name=name, queue=QUEUE, priority=duty.priority, retry=Backoff())(at_its_time)
    app.periodic(cron=duty.cron)(timed)


async def _shift(duty: Duty, helping: Task[Any, Any, Any], stopping: asyncio.Event) -> None:
    """Do the duty for a while; call for help after the first chunk if more is left than one worker should do."""
    called = False

    async def after_chunk(so_far: Progress) -> None:
        nonlocal called
        if not called and so_far.moved:
            called = True
            await _call_for_help(duty, helping, so_far.remaining)

    total = await perform(duty, stopping=stopping, within=SHIFT_SECONDS, after_chunk=after_chunk)
    if total.remaining and total.moved:
        await _call_for_help(
            duty, helping, total.remaining
        )  # so that what is left need not wait for its next time
    if total.moved:
        _log.info(
            "duty_done", duty=duty.name, done=total.done, failed=total.failed, remaining=total.remaining
        )


async def _call_for_help(duty: Duty, helping: Task[Any, Any, Any], remaining: int) -> None:
    """Queue as many helping jobs as the rest is worth, unless they wait already."""
    if duty.shared_by is None:
        return
    for number in range(min(math.ceil(remaining / duty.shared_by), HELPERS)):
        try:
            await helping.configure(queueing_lock=f"{helping.name}:{number}").defer_async()
        except AlreadyEnqueued:
            continue


async def _free_stalled_jobs(app: App, stalled_after: float) -> int:
    """Give the jobs of dead workers to the living; return how many."""
    freed = 0
    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=stalled_after):
        try:
            if job.attempts >= MOST_ATTEMPTS:
                _log.error("job_kills_its_workers", job=job.task_name, attempts=job.attempts)
                await app.job_manager.finish_job(job, Status.FAILED, delete_job=False)
            else:
                await app.job_manager.retry_job(job)
                freed += 1
        except UniqueViolation:  # the same help is queued already
            await app.job_manager.finish_job(job, Status.ABORTED, delete_job=True)
        except ConnectorException as error:
            if is_outage(error):
                raise
            _log.info("stalled_job_was_freed_by_another", job=job.task_name)
    return freed
