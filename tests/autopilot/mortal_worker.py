"""A worker process that dies where it is told to: `python -m tests.autopilot.mortal_worker OWNER_URL`.

Each line of its input is an order, `WORK INSTANT POINT`. It is done by a fork, a process of its own that is killed with
SIGKILL just before the POINT-th statement that it would send; whoever has less to say ends by itself. The answer is the
process's end: `killed`, or `done`.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.clock import FixedClock
from hearthpay.database.embedded import ROLES
from hearthpay.database.session import Database
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.payday.firing import fire_due
from hearthpay.security.key_ring import load_key_ring
from hearthpay.worker.household_time import advance_clocks
from tests.worker.crew import ROOT
from tests.worlds.commands import StartedProcess, start


async def work(owner_url: str, what: str, now: datetime) -> None:
    """Do one kind of work, one payroll in each transaction, so that there is something between them."""
    database = Database(owner_url, role=ROLES.worker, pool_size=1)
    clock = FixedClock(now)
    if what == "generation":
        await generate_due(database, clock, direct_deposit_enabled=True, chunk=1)
    elif what == "firing":
        await fire_due(database, clock, chunk=1)
    elif what == "clocks":
        ring = load_key_ring(None, os.environ)
        notifications = NotificationSettings(sends=True)
        await advance_clocks(
            database, ring, clock, notifications, lambda: False, slice_seconds=3600, instants=10_000
        )
    else:
        ring = load_key_ring(None, os.environ)
        await run_outbox_tasks(database, ring, clock, NotificationSettings(sends=True), chunk=1)
    await database.dispose()


def die_before(point: int) -> None:
    """Kill this process, as the operating system would, before it sends its point-th statement."""
    sent = 0

    def count(*_: Any) -> None:
        nonlocal sent
        sent += 1
        if sent >= point:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", count)


def main(owner_url: str) -> None:
    assert threading.active_count() == 1, "a process of several threads cannot be forked"
    gc.freeze()
    print("at work", flush=True)
    for line in sys.stdin:
        what, now, point = line.split()
        child = os.fork()
        if child == 0:
            die_before(int(point))
            asyncio.run(work(owner_url, what, datetime.fromisoformat(now)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        ends = {-signal.SIGKILL: "killed", 0: "done"}
        print(ends.get(os.waitstatus_to_exitcode(status), "failed"), flush=True)


@dataclass
class MortalWorkers:
    """The process as the test speaks with it."""

    process: StartedProcess

    def work(self, what: str, now: datetime, point: int) -> bool:
        """Let one work; return whether it was killed before it was done."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(what, now.isoformat(), point, file=self.process.stdin, flush=True)
        ended = self.process.stdout.readline().strip()
        assert ended in ("killed", "done"), ended
        return ended == "killed"


@contextmanager
def mortal_workers(owner_url: str, keys: str) -> Iterator[MortalWorkers]:
    """Run this module with the installation's keys; it is gone at the end of the block."""
    process = start(
        owner_url,
        module="tests.autopilot.mortal_worker",
        asked=True,
        folder=ROOT,
        errors=2,
        environment={**os.environ, "HEARTHPAY_KEYS": keys},
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "at work\n"
            yield MortalWorkers(process)
        finally:
            process.kill()


if __name__ == "__main__":
    main(sys.argv[1])
