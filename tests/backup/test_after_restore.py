"""What was restored is older than the world: nobody is paid a second time for it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from benchmarks.payday_data import Payday, make_payday

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.restorations import HELD, LOST_TRACES
from hearthpay.security.key_ring import KEY_FILE, KeyRing, open_key_file
from hearthpay.worker.duty import Progress
from tests.backup.conftest import ask, back_up, cli, keep_bank_day, made_place
from tests.conftest import plain_url
from tests.worlds.installations import install

HOUSEHOLDS = 3
STATUSES = "SELECT status, count(*)::int FROM payrolls GROUP BY status ORDER BY status"


class Past:
    """An installation whose payday was sent to the bank after its backup, and which was then lost."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.bank = place / "bank"
        self.lost = install(place / "lost")
        self.ring: KeyRing
        self.payday: Payday
        self.backup: Path

    def happen(self) -> None:
        self.lost.start()
        try:
            self.ring = open_key_file(self.place / "lost" / KEY_FILE)
            self.payday = asyncio.run(
                make_payday(self.lost.owner_url(), self.lost.service_url(), self.ring, households=HOUSEHOLDS)
            )
            self.backup = back_up(self.place / "store", self.lost.data_dir, "--no-drill")
            done, sent = self.work(self.lost)
            assert done["fire_due_payrolls"].done == HOUSEHOLDS
            assert sent == ("hearthpay-20260915.ach",)
        finally:
            self.lost.stop()

    def work(self, server: EmbeddedServer, *, days: int = 0) -> tuple[dict[str, Progress], tuple[str, ...]]:
        return asyncio.run(
            keep_bank_day(server, self.ring, self.bank, self.payday.due_at + timedelta(days=days))
        )


@pytest.fixture(scope="module")
def past() -> Iterator[Past]:
    place = made_place()
    past = Past(place)
    past.happen()
    yield past
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def restored(past: Past) -> Iterator[EmbeddedServer]:
    """The same for all the tests that follow, in their order: the last one lets real money go on."""
    target = past.place / "restored"
    result = cli("restore", past.backup, "--data-dir", target, "--keys", past.lost.data_dir / KEY_FILE)
    # The payday lies before the time of the backup: that it was overdue is told, and stops nothing.
    assert result.returncode == 1, result.stderr
    assert result.stdout.count("WRONG   overdue") == HOUSEHOLDS
    assert "Real payrolls and bank files wait" in result.stdout
    server = EmbeddedServer(target)
    server.start()
    yield server
    server.stop()


def test_what_was_paid_since_the_backup_is_not_paid_again(past: Past, restored: EmbeddedServer) -> None:
    waiting = past.bank / "inbox" / "returns.ach"
    waiting.write_bytes(b"whatever it says, nobody here knows of it")
    assert ask(restored.owner_url(), STATUSES) == [("scheduled", HOUSEHOLDS)]
    for days in (0, 1, 3):
        done, sent = past.work(restored, days=days)
        assert done["fire_due_payrolls"] == Progress()
        assert done["bank_day"] == Progress(failed=1)
        assert sent == ("hearthpay-20260915.ach",)
    assert ask(restored.owner_url(), STATUSES) == [("scheduled", HOUSEHOLDS)]
    assert ask(restored.owner_url(), "SELECT FROM bank_entries") == []
    assert waiting.exists()  # a return of what is not known here must not be taken in either
    assert ask(restored.owner_url(), "SELECT FROM bank_intake") == []
    waiting.unlink()


def test_the_worker_says_why_it_waits(past: Past, restored: EmbeddedServer) -> None:
    at = past.payday.due_at + timedelta(days=10)  # another day than those of which the problem was told
    once = cli("worker", "--once", "--data-dir", restored.data_dir, at=at)
    assert once.returncode == 1
    assert HELD in once.stderr
    assert ask(restored.owner_url(), STATUSES) == [("scheduled", HOUSEHOLDS)]


def test_sandboxes_go_on(past: Past, restored: EmbeddedServer) -> None:
    """One of the households is made a sandbox: its payroll fires, alone."""
    with psycopg.connect(plain_url(restored.owner_url())) as connection:
        connection.execute("SET session_replication_role = replica")
        home = past.payday.households[0].employer_id
        for (table,) in connection.execute(
            "SELECT table_name FROM information_schema.columns JOIN information_schema.tables "
            "USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE' "
            "AND column_name = 'sandbox' AND table_name <> 'idempotency_keys'"
        ).fetchall():
            column = "id" if table == "employers" else "employer_id"
            connection.execute(f"UPDATE {table} SET sandbox = true WHERE {column} = %s".encode(), (home,))
    done, sent = past.work(restored)
    assert done["fire_due_payrolls"] == Progress(done=1)
    assert ask(restored.owner_url(), STATUSES) == [("pending_funding", 1), ("scheduled", HOUSEHOLDS - 1)]
    assert sent == ("hearthpay-20260915.ach",)


def test_a_person_lets_it_go_on(past: Past, restored: EmbeddedServer) -> None:
    with psycopg.connect(plain_url(restored.owner_url())) as connection:
        connection.execute("INSERT INTO bank_trace_numbers VALUES ('12104288', 9500000)")
    where = ("--data-dir", restored.data_dir)
    listed = cli("resume-after-restore", *where)
    assert listed.returncode == 1
    assert past.backup.name in listed.stdout
    _, unpaid, paid = (household.payroll_id for household in past.payday.households)
    for payroll_id in (unpaid, paid):
        assert f"payroll {payroll_id}  scheduled" in listed.stdout
    assert past.work(restored)[0]["fire_due_payrolls"] == Progress()

    # The operator has seen at the bank that one of them was paid, and voids it.
    with psycopg.connect(plain_url(restored.owner_url())) as connection:
        connection.execute("UPDATE payrolls SET status = 'voided' WHERE id = %s", (paid,))
    resumed = cli("resume-after-restore", "--payrolls-checked", *where)
    assert resumed.returncode == 0, resumed.stderr
    assert "go on" in resumed.stdout
    assert "Nothing waits" in cli("resume-after-restore", *where).stdout
    assert ask(restored.owner_url(), "SELECT last_used FROM bank_trace_numbers") == [
        ((9_500_000 + LOST_TRACES) % 10_000_000,)
    ]

    done, sent = past.work(restored, days=1)
    assert done["fire_due_payrolls"] == Progress(done=1)
    assert sent == ("hearthpay-20260915.ach", "hearthpay-20260916.ach")
    assert ask(restored.owner_url(), STATUSES) == [("pending_funding", 2), ("voided", 1)]


@pytest.mark.long
def test_what_is_in_a_file_that_may_have_gone_out_is_not_sent(past: Past) -> None:
    """A backup between the making of a file and its delivery: built, and nobody knows whether it was delivered."""
    lost = past.lost
    lost.start()
    try:
        with psycopg.connect(plain_url(lost.owner_url())) as connection:
            connection.execute("UPDATE bank_files SET status = 'built', delivered_at = NULL")
        backup = back_up(past.place / "store", lost.data_dir)
    finally:
        lost.stop()
    target = past.place / "restored in between"
    result = cli("restore", backup, "--data-dir", target, "--keys", lost.data_dir / KEY_FILE)
    assert result.returncode == 0, result.stderr
    server = EmbeddedServer(target)
    server.start()
    try:
        (past.bank / "outbox" / "hearthpay-20260915.ach").unlink()  # the bank has taken it
        shutil.rmtree(past.bank / "sent")
        assert "hearthpay-20260915.ach" not in past.work(server, days=10)[1]
        assert ask(server.owner_url(), "SELECT status FROM bank_files") == [("built",)]
        assert ask(server.owner_url(), "SELECT DISTINCT status FROM bank_entries") == [("sent",)]
        listed = cli("resume-after-restore", "--data-dir", target)
        assert "file hearthpay-20260915.ach waits to be delivered" in listed.stdout
    finally:
        server.stop()


def test_a_database_restored_by_other_means_is_held_by_hand(past: Past) -> None:
    where = ("--data-dir", past.lost.data_dir)
    moment = datetime(2026, 9, 14, tzinfo=UTC).isoformat()
    held = cli("hold-after-restore", "--taken-at", moment, *where)
    assert held.returncode == 0, held.stderr
    past.lost.start()
    try:
        assert past.work(past.lost, days=10)[0]["bank_day"] == Progress(failed=1)
        assert ask(past.lost.owner_url(), STATUSES) == [("pending_funding", HOUSEHOLDS)]
        assert cli("resume-after-restore", "--payrolls-checked", *where).returncode == 0
        assert past.work(past.lost, days=10)[0]["bank_day"].done > 0
    finally:
        past.lost.stop()
