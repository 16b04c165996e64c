"""While somebody serves, a server that dies is back within moments, and stays away once the serving ends."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from itertools import pairwise

from sqlalchemy import text

from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer, EmbeddedServerError
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.supervisor import Supervisor
from tests.conditions import PATIENCE, until, wait_until


def kill(server: EmbeddedServer) -> int:
    pid = server.postmaster_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


async def answers(database: Database) -> bool:
    try:
        async with database.transaction(None) as session:
            return await session.scalar(text("SELECT 1")) == 1
    except DatabaseUnavailable:
        return False


async def test_a_server_that_dies_is_started_again(mortal: EmbeddedServer) -> None:
    database = Database(mortal.owner_url(), role=OWNER_ROLE)
    try:
        async with Supervisor(mortal):
            for _ in range(3):
                assert await answers(database)
                pid = kill(mortal)
                # A backend which has not yet noticed may take a statement or two and then be gone.
                await until(lambda: answers(database))
                await asyncio.to_thread(wait_until, lambda: mortal.postmaster_pid not in (None, pid))  # noqa: B023
                assert await answers(database)
    finally:
        await database.dispose()


async def test_when_the_serving_ends_so_does_the_watch(mortal: EmbeddedServer) -> None:
    async with Supervisor(mortal):
        kill(mortal)
        await asyncio.sleep(0.35)  # a restart may be under way now
    mortal.stop()
    await asyncio.sleep(0.5)
    assert not mortal.is_alive()


async def test_a_start_under_way_has_ended_before_the_watch_does(mortal: EmbeddedServer) -> None:
    """Or the server would come up behind whoever stops it: the block ends only once the started server is there."""
    began, may_go_on = threading.Event(), threading.Event()
    start = mortal.start

    def slow_start() -> None:
        began.set()
        assert may_go_on.wait(PATIENCE)
        start()

    mortal.start = slow_start  # type: ignore[method-assign]
    supervisor = Supervisor(mortal)
    await supervisor.__aenter__()
    kill(mortal)
    assert await asyncio.to_thread(began.wait, PATIENCE)
    leaving = asyncio.create_task(supervisor.__aexit__(None, None, None))
    done, _ = await asyncio.wait([leaving], timeout=0.5)
    assert not done, "the watch ended while the server was being started"
    may_go_on.set()
    await asyncio.wait_for(leaving, PATIENCE)
    assert mortal.is_alive()
    mortal.stop()
    await asyncio.sleep(0.5)
    assert not mortal.is_alive()


async def test_a_server_that_cannot_be_started_is_tried_again_at_growing_intervals(
    mortal: EmbeddedServer,
) -> None:
    times: list[float] = []
    thrice = threading.Event()

    def failing_start() -> None:
        times.append(time.monotonic())
        if len(times) == 3:
            thrice.set()
        raise EmbeddedServerError("no room")

    mortal.start = failing_start  # type: ignore[method-assign]
    async with Supervisor(mortal):
        kill(mortal)
        assert await asyncio.to_thread(thrice.wait, PATIENCE)
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses[0] >= 0.5
    assert pauses[1] >= 1.0
