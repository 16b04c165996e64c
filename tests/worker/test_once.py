"""`--once` does everything that is due, tells of it as it goes, and says whether all went well."""

from __future__ import annotations

import asyncio
import os
import subprocess
from base64 import b64encode
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from hearthpay.database.embedded import ROLES, EmbeddedServer
from hearthpay.worker.connector import QueueAddress
from hearthpay.worker.duty import Duty, Progress, Stopping
from hearthpay.worker.runner import run_once
from tests.conftest import plain_url
from tests.database.household import NOW, add_household, add_organization
from tests.worlds.commands import hearthpay_says


class Told:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str) -> None:
        self.lines.append(line)


async def once(server: EmbeddedServer, *duties: Duty) -> tuple[bool, list[str]]:
    told = Told()
    good = await run_once(
        QueueAddress(server.owner_url(), ROLES.worker), duties, stopping=asyncio.Event(), tell=told
    )
    assert told.lines.pop() == "Jobs of dead workers freed: 0"
    return good, told.lines


async def test_what_takes_longer_than_a_second_shows_how_far_it_is(server: EmbeddedServer) -> None:
    chunks = iter([Progress(done=40, remaining=60), Progress(done=59, failed=1)])

    async def slow(_stopping: Stopping) -> Progress:
        await asyncio.sleep(0.8)
        return next(chunks)

    good, lines = await once(server, Duty("slow", "Payrolls fired", slow))
    assert lines == ["Payrolls fired: 40, 60 or more to go …", "Payrolls fired: 99, 1 failed"]
    assert not good


async def test_a_duty_that_fails_does_not_keep_the_next_from_being_done(server: EmbeddedServer) -> None:
    async def broken(_stopping: Stopping) -> Progress:
        raise ValueError("Rosa Diaz earns 28.50")

    async def sound(_stopping: Stopping) -> Progress:
        return Progress(done=3)

    good, lines = await once(server, Duty("broken", "Broken", broken), Duty("sound", "Sound", sound))
    assert lines == ["Broken: failed (ValueError); 0 before", "Sound: 3"]
    assert not good


async def test_what_other_workers_have_in_hand_is_no_failure(server: EmbeddedServer) -> None:
    async def theirs(_stopping: Stopping) -> Progress:
        return Progress(remaining=2)

    good, lines = await once(server, Duty("theirs", "Payrolls fired", theirs))
    assert lines == ["Payrolls fired: 0, 2 or more left to other workers or to later"]
    assert good


async def test_told_to_stop_it_leaves_the_rest(server: EmbeddedServer) -> None:
    stopping = asyncio.Event()
    told = Told()

    async def stopped_meanwhile(_stopping: Stopping) -> Progress:
        stopping.set()
        return Progress(done=1, remaining=9)

    duties = [Duty("first", "First", stopped_meanwhile), Duty("second", "Second", stopped_meanwhile)]
    assert not await run_once(
        QueueAddress(server.owner_url(), ROLES.worker), duties, stopping=stopping, tell=told
    )
    assert told.lines == [
        "First: 1, 9 or more left to other workers or to later",
        "Stopped before everything was done.",
    ]


@pytest.fixture
def old_key(owner_connection: psycopg.Connection, empty_tables: None) -> None:
    household = add_household(owner_connection, add_organization(owner_connection, "Smith"))
    owner_connection.execute(
        "UPDATE idempotency_keys SET path = '/api/v1/employees', created_at = %s WHERE organization_id = %s",
        (NOW - timedelta(days=31), household.organization_id),
    )
    # The household's payment has been called off: it would rightly be reported, as no bank is configured here.
    owner_connection.execute("UPDATE bank_entries SET status = 'cancelled'")
    owner_connection.execute("DELETE FROM documents")
    owner_connection.execute(
        "DELETE FROM autopilot_errands"
    )  # it tells of an enrollment that nobody described
    owner_connection.execute(
        "UPDATE autopilot_enrollments SET generate_at = %s", (NOW + timedelta(days=365),)
    )
    owner_connection.execute("DELETE FROM vault")  # a worker refuses to start without the key of its number


def run_command(server: EmbeddedServer, **environment: str) -> subprocess.CompletedProcess[str]:
    asked = ("worker", "--once", "--data-dir", server.data_dir)
    return hearthpay_says(*asked, environment={**os.environ, **environment}, timeout=120, at=NOW)


def test_the_command_does_what_is_due(
    server: EmbeddedServer, owner_connection: psycopg.Connection, old_key: None
) -> None:
    finished = run_command(server)
    assert finished.returncode == 0, finished.stderr
    assert "Payrolls fired: 0\n" in finished.stdout
    assert "Steps of the bank day: 0\n" in finished.stdout
    assert "Invitations and idempotency keys expired: 1\n" in finished.stdout
    assert owner_connection.execute("SELECT count(*) FROM idempotency_keys").fetchone() == (0,)
    assert server.is_alive()


def test_the_command_works_on_a_database_that_is_given(server: EmbeddedServer, old_key: None) -> None:
    finished = run_command(
        server,
        DATABASE_URL=plain_url(server.owner_url()),
        HEARTHPAY_KEYS=f"k1:{b64encode(os.urandom(32)).decode()}",
    )
    assert finished.returncode == 0, finished.stderr
    assert "Invitations and idempotency keys expired: 1\n" in finished.stdout


def test_the_command_ends_with_one_where_something_failed(
    server: EmbeddedServer, owner_connection: psycopg.Connection, old_key: None
) -> None:
    owner_connection.execute("REVOKE DELETE ON idempotency_keys FROM hearthpay_worker")
    try:
        finished = run_command(server)
    finally:
        owner_connection.execute("GRANT DELETE ON idempotency_keys TO hearthpay_worker")
    assert finished.returncode == 1
    assert (
        "Invitations and idempotency keys expired: failed (ProgrammingError); 0 before\n" in finished.stdout
    )
    assert "Payrolls fired: 0\n" in finished.stdout


def test_a_bank_that_is_set_up_wrongly_is_said_plainly(server: EmbeddedServer, tmp_path: Path) -> None:
    finished = run_command(server, HEARTHPAY_BANK=str(tmp_path / "missing.toml"))
    assert finished.returncode == 2
    assert "hearthpay: HEARTHPAY_BANK" in finished.stderr
    assert "Traceback" not in finished.stderr
