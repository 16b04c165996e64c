"""Servers of the operator's own whose owner inherits the acting roles: seen whole, backed up, restored, moved."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from hearthpay.clock import FixedClock
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.migrations import migrate
from hearthpay.database.startup import Addresses, open_database
from tests.backup.conftest import Installation, ask, cli
from tests.conftest import plain_url
from tests.database.debian_server import NO_DEBIAN_SERVER, PROGRAMS, DebianServer
from tests.database.paying import hire, new_client, week
from tests.worlds.tables import EMPTIED

CLOCK = FixedClock(datetime(2026, 11, 20, 15, 0, tzinfo=UTC))
PAYROLLS = 3


@pytest.fixture(scope="module")
def debian() -> Iterator[DebianServer]:
    if not PROGRAMS.exists():
        pytest.skip(NO_DEBIAN_SERVER)
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-debian-"))
    folder.chmod(0o755)
    server = DebianServer.make(folder / "server")
    yield server
    server.remove()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def newer(installation: Installation) -> Iterator[Callable[[str], str]]:
    """Databases on the embedded server's PostgreSQL, of an ordinary login that was granted its roles to inherit."""
    server = installation.server.owner_url()
    made: list[str] = []

    def create(name: str) -> str:
        with psycopg.connect(plain_url(server), autocommit=True) as superuser:
            if not made:
                superuser.execute("CREATE ROLE landlord LOGIN CREATEROLE PASSWORD 'wonderland'")
            for part in ("service", "worker"):
                superuser.execute(f"CREATE ROLE {name}_{part} NOINHERIT".encode())
                superuser.execute(f"GRANT {name}_{part} TO landlord WITH INHERIT TRUE, SET TRUE".encode())
            superuser.execute(f"CREATE DATABASE {name} OWNER landlord".encode())
        made.append(name)
        return server.replace("hearthpay_owner@/hearthpay", f"landlord:wonderland@/{name}")

    yield create
    with psycopg.connect(plain_url(server), autocommit=True) as superuser:
        for name in made:
            superuser.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
        for name in made:
            superuser.execute(f"DROP ROLE {name}_service, {name}_worker".encode())
        if made:
            superuser.execute("DROP ROLE landlord")


@pytest.fixture(params=["15", "newer"])
def create(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Makes an empty database on a server where the owner inherits the acting roles; returns its URL."""
    if request.param == "15":
        server: DebianServer = request.getfixturevalue("debian")
        return server.create_database
    newer: Callable[[str], str] = request.getfixturevalue("newer")
    return newer


async def _pay(url: str) -> None:
    async with open_database(None, Addresses(url)) as opened, new_client(opened, CLOCK, "Lopez") as client:
        ids = await hire(client)
        for number in range(PAYROLLS):
            answer = await client.post("/payroll/run", json=week(ids, number))
            assert answer.status_code == 200, answer.text


async def _seen_by_the_worker(url: str) -> int:
    async with (
        open_database(None, Addresses(url)) as opened,
        opened.as_worker(1) as worker,
        worker.transaction(None) as session,
    ):
        return int(await session.scalar(text("SELECT count(*) FROM payrolls")) or 0)


def test_while_real_money_is_held_the_owner_sees_it_and_backs_it_up(
    create: Callable[[str], str], place: Path
) -> None:
    """Only the worker is kept from it: what is listed, copied and restored is whole."""
    old, new = create("held_old"), create("held_new")
    asyncio.run(_pay(old))
    assert asyncio.run(_seen_by_the_worker(old)) == PAYROLLS

    held = cli("hold-after-restore", "--taken-at", "2026-11-20T15:00:00Z", DATABASE_URL=old)
    assert held.returncode == 0, held.stderr
    assert asyncio.run(_seen_by_the_worker(old)) == 0
    assert ask(old, "SELECT count(*)::int FROM payrolls") == [(PAYROLLS,)]
    doctor = cli("doctor", DATABASE_URL=old)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr

    made = cli("backup", place / "store", "--no-drill", DATABASE_URL=old)  # it is restored below
    assert made.returncode == 0, made.stderr
    assert f"{PAYROLLS} payrolls" in made.stdout
    restored = cli("restore", place / "store", DATABASE_URL=new)
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert ask(new, "SELECT count(*)::int FROM payrolls") == [(PAYROLLS,)]
    assert asyncio.run(_seen_by_the_worker(new)) == 0
    doctor = cli("doctor", DATABASE_URL=new)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


@pytest.mark.parametrize(
    ("create", "options"),
    [("15", ()), ("newer", ("--no-drill",)), pytest.param("newer", (), marks=pytest.mark.long)],
    indirect=["create"],
    ids=["15", "newer", "newer, drilled"],
)
def test_an_older_schema_that_hides_rows_from_its_owner_makes_no_backup(
    create: Callable[[str], str], options: tuple[str, ...], place: Path
) -> None:
    """A backup before an upgrade is one of the schema before it, unless the owner would not see all of it."""
    url = create("older_untried" if options else "older")
    migrate(url, revision="0044")
    whole = cli("backup", place / "whole", *options, DATABASE_URL=url)
    assert whole.returncode == 0, whole.stderr
    with psycopg.connect(plain_url(url), autocommit=True) as owner:
        owner.execute(
            "INSERT INTO restorations (id, backup, taken_at, restored_at) VALUES (gen_random_uuid(), 'b', now(), now())"
        )
    refused = cli("backup", place / "store", DATABASE_URL=url)
    assert (refused.returncode, "`hearthpay migrate`" in refused.stderr) == (2, True), refused.stderr
    migrate(url)
    made = cli("backup", place / "store", "--no-drill", DATABASE_URL=url)
    assert made.returncode == 0, made.stderr


@pytest.mark.long
def test_a_payday_moves_to_an_own_server_and_back(
    debian: DebianServer, installation: Installation, logical: Path, place: Path
) -> None:
    """From the embedded server to an older one of the operator's, and from there to a new one: nothing is lost."""
    hosted = debian.create_database("hosted")
    moved = cli("restore", logical, "--keys", installation.keys, DATABASE_URL=hosted)
    assert moved.returncode == 0, moved.stdout + moved.stderr
    _nothing_is_lost(installation.server.owner_url(), hosted)
    keys = installation.ring.newest.entry()
    doctor = cli("doctor", DATABASE_URL=hosted, HEARTHPAY_KEYS=keys)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr

    made = cli("backup", place / "store", DATABASE_URL=hosted, HEARTHPAY_KEYS=keys)
    assert made.returncode == 0, made.stderr
    back = cli("restore", place / "store", "--data-dir", place / "new", "--keys", installation.keys)
    assert back.returncode == 0, back.stdout + back.stderr
    server = EmbeddedServer(place / "new")
    server.start()
    try:
        _nothing_is_lost(hosted, server.owner_url())
    finally:
        server.stop()
    doctor = cli("doctor", "--data-dir", place / "new")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


def _nothing_is_lost(old: str, new: str) -> None:
    """Every row of every table is the same, but for what the installation is called and that it was restored."""
    for table in EMPTIED:
        if table == "restorations":
            continue
        columns = [
            name
            for (name,) in ask(
                old,
                "SELECT attname::text FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped "
                f"AND attrelid = '{table}'::regclass ORDER BY attname",
            )
        ]
        chosen = f"(SELECT {', '.join(columns)} FROM {table})"
        digest = f"SELECT count(*)::int, md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM {chosen} t"
        assert ask(old, digest) == ask(new, digest), table
    sequences = "SELECT sequencename::text, last_value FROM pg_sequences ORDER BY 1"
    assert ask(old, sequences) == ask(new, sequences)
