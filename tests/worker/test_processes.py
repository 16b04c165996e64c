"""Worker processes: they share the work, do nothing twice, and neither a kill nor an outage loses any of it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.supervisor import Supervisor
from tests.database.conftest import data_dir, mortal
from tests.worker.crew import NOW_AND_THEN, Board, worker

__all__ = ["data_dir", "mortal"]


@pytest.fixture
def board(server: EmbeddedServer) -> Iterator[Board]:
    board = Board(server.owner_url())
    yield board
    board.take_down()


def test_two_workers_share_the_work_and_do_nothing_twice(server: EmbeddedServer, board: Board) -> None:
    with (
        worker(server.owner_url(), cron=NOW_AND_THEN) as first,
        worker(server.owner_url(), cron=NOW_AND_THEN) as second,
    ):
        board.wait_for(lambda: board.workers() == 2)
        board.add(1, 100)
        board.wait_for(lambda: len(board.done()) >= 100)
    assert board.done() == list(range(1, 101))
    shares = dict(board.ask("SELECT pid, count(*) FROM crew.log GROUP BY pid"))
    assert set(shares) == {first.pid, second.pid}
    assert all(isinstance(share, int) and share >= 20 for share in shares.values())  # not one chunk by chance


def test_told_to_stop_it_finishes_the_chunk_in_hand(server: EmbeddedServer, board: Board) -> None:
    board.add(1, 20)
    with worker(server.owner_url(), seconds=1) as process:
        board.wait_for_chunk_in_hand()
        assert board.done() == []
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
        assert process.stdout is not None
        assert process.stdout.read().endswith("stopped\n")
    assert board.done() == [1, 2, 3, 4, 5]
    assert not [status for _, status, _ in board.jobs() if status == "doing"]
    assert board.workers() == 0


def test_a_chunk_that_takes_too_long_is_rolled_back_and_left_to_others(
    server: EmbeddedServer, board: Board
) -> None:
    board.add(1, 10)
    with worker(server.owner_url(), seconds=60, finish=0.3) as process:
        board.wait_for_chunk_in_hand()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0  # the chunk would take a minute
    assert board.done() == []
    released = [(status, attempts) for name, status, attempts in board.jobs() if name == "hearthpay.chores"]
    assert ("todo", 1) in released
    assert "doing" not in dict(released)
    with worker(server.owner_url()):
        board.wait_for(lambda: len(board.done()) >= 10)
    assert board.done() == list(range(1, 11))


def test_what_a_killed_worker_had_in_hand_another_does(server: EmbeddedServer, board: Board) -> None:
    board.add(1, 30)
    with worker(server.owner_url(), seconds=4):  # so long does PostgreSQL itself not notice the death
        os.kill(board.wait_for_chunk_in_hand(), signal.SIGKILL)
        assert ("hearthpay.chores", "doing", 0) in board.jobs()
        with worker(server.owner_url()) as heir:
            board.wait_for(lambda: len(board.done()) >= 30)
    assert board.done() == list(range(1, 31))
    assert board.ask("SELECT DISTINCT pid FROM crew.log") == [(heir.pid,)]


def test_a_poisonous_duty_is_reported_and_blocks_nobody(server: EmbeddedServer, board: Board) -> None:
    with worker(server.owner_url(), poison=1):
        board.wait_for(lambda: ("hearthpay.poison", "failed", 1) in board.jobs())
        board.add(1, 10)
        board.wait_for(lambda: len(board.done()) >= 10)
    assert board.done() == list(range(1, 11))
    assert not [
        status for name, status, _ in board.jobs() if name == "hearthpay.chores" and status == "failed"
    ]


async def test_it_survives_a_crash_of_the_database(mortal: EmbeddedServer) -> None:
    board = Board(mortal.owner_url())
    board.add(1, 20)
    async with Supervisor(mortal):
        with worker(mortal.owner_url(), seconds=1) as process:
            for round_ in range(2):
                await asyncio.to_thread(board.wait_for_chunk_in_hand)
                pid = mortal.postmaster_pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
                board.hang_up()  # its own process may answer for a moment still
                await asyncio.to_thread(wait_until_it_answers, board)
                board.ask("DELETE FROM crew.in_hand")
                board.add(100 * (round_ + 1), 100 * (round_ + 1) + 9)
            await asyncio.to_thread(board.wait_for, lambda: len(board.done()) >= 40, 60)
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 15) == 0
    assert board.done() == [*range(1, 21), *range(100, 110), *range(200, 210)]
    board.hang_up()


def wait_until_it_answers(board: Board) -> None:
    deadline = time.monotonic() + 120  # recovery reads the log again, on a busy machine for long
    while True:
        try:
            board.ask("SELECT 1")
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        else:
            return
