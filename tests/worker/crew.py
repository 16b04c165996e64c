"""A worker process with a test's own duties: `python -m tests.worker.crew OWNER_URL [NAME=VALUE …]`.

Its duty is to do chores, rows of a table, in chunks of one transaction that lasts a while. It notes each chore it has
done, and by which process, so that a chore that is done twice, or lost, shows. With `payday` it does the service's own
duties instead, at the instant that the setting names.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import psycopg
from sqlalchemy import text

from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.embedded import ROLES
from hearthpay.database.session import Database
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.security.key_ring import load_key_ring
from hearthpay.worker.connector import QueueAddress
from hearthpay.worker.duties import worker_duties
from hearthpay.worker.duty import Duty, Progress, Stopping
from hearthpay.worker.runner import Pulse, run_worker
from tests.worlds.commands import StartedProcess, start
from tests.worlds.originator import ORIGINATOR

ROOT = Path(__file__).parents[2]
EVERY_SECOND = "* * * * * */1"
NOW_AND_THEN = "* * * * * */5"

TABLES = """
DROP SCHEMA IF EXISTS crew CASCADE;
CREATE SCHEMA crew;
CREATE TABLE crew.chores (id int PRIMARY KEY, done boolean NOT NULL DEFAULT false);
CREATE TABLE crew.log (chore int NOT NULL, pid int NOT NULL);
CREATE TABLE crew.in_hand (pid int NOT NULL);
GRANT USAGE ON SCHEMA crew TO hearthpay_worker;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA crew TO hearthpay_worker;
"""
EMPTY_QUEUE = "TRUNCATE procrastinate.procrastinate_jobs, procrastinate.procrastinate_workers CASCADE"

CLAIM = text(
    "UPDATE crew.chores SET done = true WHERE id IN (SELECT id FROM crew.chores WHERE NOT done ORDER BY id "
    "LIMIT :chunk FOR UPDATE SKIP LOCKED) RETURNING id"
)


def chores_of(database: Database, chunk: int, seconds: float) -> Callable[[Stopping], object]:
    async def work(_stopping: Stopping) -> Progress:
        async with database.transaction(None) as session:
            claimed = list(await session.scalars(CLAIM, {"chunk": chunk}))
            if claimed:
                # Outside of the transaction, as the test wants to know that a chunk is in hand.
                async with database.transaction(None) as other:
                    await other.execute(text("INSERT INTO crew.in_hand VALUES (:pid)"), {"pid": os.getpid()})
                await session.execute(text("SELECT pg_sleep(:seconds)"), {"seconds": seconds})
                await session.execute(
                    text("INSERT INTO crew.log SELECT unnest(CAST(:ids AS int[])), :pid"),
                    {"ids": claimed, "pid": os.getpid()},
                )
        async with database.transaction(None) as session:
            remaining = await session.scalar(text("SELECT count(*) FROM crew.chores WHERE NOT done"))
        return Progress(done=len(claimed), remaining=remaining or 0)

    return work


async def poison(_stopping: Stopping) -> Progress:
    raise ValueError("a duty that always fails")


async def run(owner_url: str, settings: dict[str, str]) -> None:
    database = Database(owner_url, role=ROLES.worker, pool_size=4)
    chunk = int(settings.get("chunk", "5"))
    work = chores_of(database, chunk, float(settings.get("seconds", "0.1")))
    duties = [Duty("chores", "Chores", work, shared_by=chunk, cron=settings.get("cron", EVERY_SECOND))]
    if "payday" in settings:
        clock = FixedClock(datetime.fromisoformat(settings["payday"]))
        bank = Bank(ORIGINATOR, folder_gateway(Path(settings["outbox"])))
        service = worker_duties(database, load_key_ring(None, os.environ), bank, clock)
        duties = [replace(duty, cron=EVERY_SECOND) for duty in service]
    if "poison" in settings:
        duties.append(Duty("poison", "Poison", poison, cron=EVERY_SECOND, priority=5))
    stopping = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    print("at work", flush=True)
    await run_worker(
        QueueAddress(owner_url, ROLES.worker),
        duties,
        concurrency=int(settings.get("concurrency", "1")),
        stopping=stopping,
        pulse=Pulse(beat=0.3, stalled=1.5, poll=0.3, finish=float(settings.get("finish", "10"))),
    )
    print("stopped", flush=True)
    await database.dispose()


@contextmanager
def worker(owner_url: str, *, keys: str = "", **settings: object) -> Iterator[StartedProcess]:
    """Run this module; whatever is left of it is killed at the end of the block."""
    process = start(
        *(owner_url, *(f"{name}={value}" for name, value in settings.items())),
        module="tests.worker.crew",
        folder=ROOT,
        errors=2,
        environment={**os.environ, "HEARTHPAY_KEYS": keys},
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "at work\n"
            yield process
        finally:
            process.kill()


class Board:
    """The chores as the test sees them: the owner's connection, looked at again and again."""

    def __init__(self, owner_url: str) -> None:
        from tests.conftest import plain_url  # a worker's process needs nothing of pytest

        self.url = plain_url(owner_url)
        self._connection: psycopg.Connection | None = None
        self.ask(f"{EMPTY_QUEUE}; {TABLES}")

    def take_down(self) -> None:
        self.ask(f"{EMPTY_QUEUE}; DROP SCHEMA crew CASCADE")
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def ask(self, query: str) -> list[tuple[object, ...]]:
        """Send a query by the connection that is kept; a new one if that was lost."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self.url, autocommit=True)
        cursor = self._connection.execute(query)
        return cursor.fetchall() if cursor.description else []

    def add(self, first: int, last: int) -> None:
        self.ask(f"INSERT INTO crew.chores SELECT generate_series({first}, {last})")

    def done(self) -> list[int]:
        """Every chore that was done, as often as it was."""
        return [chore for (chore,) in self.ask("SELECT chore FROM crew.log ORDER BY chore")]

    def jobs(self) -> list[tuple[object, ...]]:
        return self.ask(
            "SELECT task_name, status::text, attempts FROM procrastinate.procrastinate_jobs ORDER BY id"
        )

    def workers(self) -> int:
        """How many workers have told the queue of themselves."""
        return len(self.ask("SELECT id FROM procrastinate.procrastinate_workers"))

    def wait_for(self, condition: Callable[[], object], within: float = 20) -> None:
        deadline = time.monotonic() + within
        while not condition():
            assert time.monotonic() < deadline, (self.jobs(), len(self.done()))
            time.sleep(0.05)

    def wait_for_chunk_in_hand(self) -> int:
        """Wait until a worker has a chunk in hand; returns its process number."""
        self.wait_for(lambda: self.ask("SELECT pid FROM crew.in_hand"))
        ((pid,), *_) = self.ask("SELECT pid FROM crew.in_hand")
        assert isinstance(pid, int)
        return pid


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], dict(setting.split("=", 1) for setting in sys.argv[2:])))
