"""A duty is done chunk by chunk until nothing is due, time is over, or the worker is to stop."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import psycopg
import pytest
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job
from sqlalchemy.exc import IntegrityError, OperationalError

from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.worker.duty import Duty, Progress, Stopping, perform
from hearthpay.worker.outage import is_outage
from hearthpay.worker.queue import MOST_ATTEMPTS, Backoff


class Pile:
    """Work of which each chunk does two pieces."""

    def __init__(self, pieces: int, *, seconds: float = 0) -> None:
        self.pieces = pieces
        self.seconds = seconds
        self.chunks = 0
        self.duty = Duty("pile", "Pieces", self.work)

    async def work(self, _stopping: Stopping) -> Progress:
        self.chunks += 1
        await asyncio.sleep(self.seconds)
        taken = min(2, self.pieces)
        self.pieces -= taken
        return Progress(done=taken - 1, failed=1, remaining=self.pieces) if taken else Progress()


async def test_it_goes_on_until_nothing_is_due() -> None:
    pile = Pile(6)
    told: list[Progress] = []

    async def tell(so_far: Progress) -> None:
        told.append(so_far)

    assert await perform(pile.duty, stopping=asyncio.Event(), after_chunk=tell) == Progress(3, 3, 0)
    assert told == [Progress(1, 1, 4), Progress(2, 2, 2)]


async def test_it_ends_after_the_chunk_in_hand_when_told_to_stop() -> None:
    pile = Pile(6, seconds=0.05)
    stopping = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, stopping.set)
    assert await perform(pile.duty, stopping=stopping) == Progress(1, 1, 4)


async def test_it_ends_when_its_time_is_over() -> None:
    pile = Pile(6)
    assert await perform(pile.duty, stopping=asyncio.Event(), within=0) == Progress(1, 1, 4)


async def test_what_others_have_in_hand_is_left_to_them() -> None:
    chunks = 0

    async def others_have_it(_stopping: Stopping) -> Progress:
        nonlocal chunks
        chunks += 1
        return Progress(remaining=7)

    duty = Duty("theirs", "Pieces", others_have_it)
    assert await perform(duty, stopping=asyncio.Event()) == Progress(remaining=7)
    assert chunks == 1


def caused_by(cause: BaseException) -> ConnectorException:
    error = ConnectorException()
    error.__cause__ = cause
    return error


def raised_from(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (DatabaseUnavailable("gone"), True),
        (psycopg.OperationalError("gone"), True),
        (caused_by(psycopg.errors.AdminShutdown("gone")), True),
        (ConnectionRefusedError(), True),
        (raised_from(OperationalError("x", None, ValueError()), psycopg.errors.DeadlockDetected()), True),
        (raised_from(IntegrityError("x", None, ValueError()), psycopg.errors.UniqueViolation()), False),
        (caused_by(psycopg.errors.RaiseException("no such job")), False),
        (ValueError("a fault"), False),
        (ConnectorException(), False),
    ],
)
def test_an_outage_is_told_from_a_fault(error: Exception, passes: bool) -> None:
    assert is_outage(error) is passes
    decision = Backoff().get_retry_decision(exception=error, job=job(attempts=0))
    assert (decision is not None) is passes


def test_each_attempt_waits_twice_as_long_until_it_is_given_up() -> None:
    pauses = []
    for attempts in range(MOST_ATTEMPTS + 1):
        decision = Backoff().get_retry_decision(exception=DatabaseUnavailable(), job=job(attempts))
        if decision is None:
            break
        assert decision.retry_at is not None
        pauses.append(decision.retry_at.timestamp())
    waits = [later - earlier for earlier, later in pairwise(pauses)]
    assert [round(wait) for wait in waits] == [2, 4, 8, 16]
    assert len(pauses) == MOST_ATTEMPTS


def job(attempts: int) -> Job:
    return Job(
        id=1,
        queue="hearthpay",
        lock=None,
        queueing_lock=None,
        task_name="pile",
        attempts=attempts,
        task_kwargs={},
    )
