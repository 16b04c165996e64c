"""Payday with worker processes: each payroll is fired once, its money collected once, in one file."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.worker.duties import worker_duties
from hearthpay.worker.duty import Progress, perform
from tests.http.api import data
from tests.lifecycle.test_firing import schedule
from tests.worker.crew import EMPTY_QUEUE, Board, worker
from tests.worlds.town import Family, Town, rows

PAYROLLS = 10


@pytest.fixture
async def payrolls(family: Family, town: Town) -> list[str]:
    """Payrolls that are due when the clock strikes three in New York on Friday, 27 November."""
    ids = await schedule(family, town, PAYROLLS)
    town.go_to("2026-11-27", 15)
    return ids


@pytest.mark.completeness
async def test_the_duties_of_one_worker(
    town: Town, payrolls: list[str], owner_connection: psycopg.Connection
) -> None:
    duties = worker_duties(town.worker, town.ring, town.bank, town.clock)
    done = {duty.name: await perform(duty, stopping=asyncio.Event()) for duty in duties}
    assert done == {
        "fire_due_payrolls": Progress(done=PAYROLLS),
        "bank_day": Progress(done=1),  # the file
        "expire": Progress(done=0),
        "send_mail": Progress(done=0),
        "autopilot": Progress(done=0),
        "alerts": Progress(done=1),  # keys and accounts
        "news": Progress(done=1),  # a household that was looked at
        "connect_accounts": Progress(done=0),
        "advance_clocks": Progress(done=0),
        "settle_years": Progress(done=0),
        "awaited_rules": Progress(done=0),
        "make_packages": Progress(done=0),
        "household_dues": Progress(done=1),
        "number_endings": Progress(done=0),
    }
    assert rows(owner_connection, "SELECT DISTINCT status FROM payrolls") == [("pending_funding",)]


async def test_told_to_stop_before_it_began_nothing_is_fired(town: Town, payrolls: list[str]) -> None:
    stopping = asyncio.Event()
    stopping.set()
    fire, *_ = worker_duties(town.worker, town.ring, town.bank, town.clock)
    assert await perform(fire, stopping=stopping) == Progress(remaining=PAYROLLS)


async def test_two_processes_fire_each_payroll_once_and_send_one_file(
    town: Town,
    family: Family,
    payrolls: list[str],
    server: EmbeddedServer,
    owner_connection: psycopg.Connection,
) -> None:
    board = Board(server.owner_url())
    settings = {
        "keys": town.ring.newest.entry(),
        "payday": town.clock.now().isoformat(),
        "outbox": str(town.outbox),
    }

    def work() -> None:
        with worker(board.url, **settings), worker(board.url, **settings):
            board.wait_for(lambda: board.ask("SELECT id FROM bank_files WHERE status = 'delivered'"))
            board.wait_for(lambda: board.workers() == 2)
            time.sleep(2.2)  # another round or two, for what must not be done twice

    try:
        await asyncio.to_thread(work)
        assert [job for job in board.jobs() if job[1] == "failed"] == []
    finally:
        board.take_down()
    steps = rows(owner_connection, "SELECT payroll_id::text, to_status FROM payroll_transitions")
    assert Counter(steps) == Counter(
        (each, status) for each in payrolls for status in ("scheduled", "firing", "pending_funding")
    )
    assert rows(
        owner_connection,
        "SELECT kind, status, count(*), count(DISTINCT payroll_id) FROM bank_entries GROUP BY 1, 2",
    ) == [("debit", "sent", PAYROLLS, PAYROLLS)]
    assert rows(owner_connection, "SELECT entries, status FROM bank_files") == [(PAYROLLS, "delivered")]
    assert data(await family.caller.get(f"/payroll/{payrolls[0]}"))["status"] == "pending_funding"
    owner_connection.execute(EMPTY_QUEUE)
