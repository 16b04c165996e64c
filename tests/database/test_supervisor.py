"""While somebody serves, a server that dies is back within moments, and stays away once the serving ends."""

from __future__ import annotations

import asyncio
import os
import signal
import time

from sqlalchemy import text

from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.supervisor import Supervisor


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
                began = time.monotonic()
                # A backend which has not yet noticed may take a statement or two and then be gone.
                while not await answers(database):
                    assert time.monotonic() - began < 5
                while mortal.postmaster_pid in (None, pid):
                    assert time.monotonic() - began < 5
                    await asyncio.sleep(0.02)
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
