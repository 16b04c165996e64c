"""A PostgreSQL of one's own, as Debian has it: older than the embedded one, shared, replicated, and failing over."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import text

from hearthpay.clock import FixedClock
from hearthpay.database.catalog.differences import SchemaDifference
from hearthpay.database.catalog.inspection import inspect_schema
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.readiness import require_ready
from hearthpay.database.startup import Addresses, open_database
from tests.database.debian_server import NO_DEBIAN_SERVER, PROGRAMS, DebianServer
from tests.database.paying import findings, hire, new_client, week
from tests.database.test_statements import PLANNED, refused_as, statements_of_modules
from tests.worlds.commands import hearthpay_says

CLOCK = FixedClock(datetime(2026, 11, 20, 15, 0, tzinfo=UTC))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    if not PROGRAMS.exists():
        pytest.skip(NO_DEBIAN_SERVER)
    path = Path(tempfile.mkdtemp(prefix="hearthpay-debian-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def debian(folder: Path) -> Iterator[DebianServer]:
    server = DebianServer.make(folder / "primary")
    yield server
    server.remove()


@pytest.fixture(scope="module")
def migrated(debian: DebianServer) -> str:
    """The URL of an empty installation, which several tests look at."""
    asyncio.run(_migrate(url := debian.create_database("plain")))
    return url


async def test_two_installations_on_one_older_server_have_nothing_in_common(debian: DebianServer) -> None:
    first, second = debian.create_database("payroll"), debian.create_database("Other-Family")
    async with open_database(None, Addresses(first)) as one, open_database(None, Addresses(second)) as other:
        assert one.installation.roles.service == "payroll_service"
        for opened, name in ((one, "Smith"), (other, "Jones")):
            async with new_client(opened, CLOCK, name) as client:
                ids = await hire(client)
                for number in range(3):
                    answer = await client.post("/payroll/run", json=week(ids, number))
                    assert answer.status_code == 200, answer.text
                ytd = answer.json()["data"]["employees"][0]["ytd"]["gross_pay"]
                assert ytd == 3000
            assert await findings(opened, CLOCK) == []
            async with opened.as_worker(1) as worker, worker.transaction(None) as session:
                assert await session.scalar(text("SELECT count(*) FROM payrolls")) == 3
        with debian.connect() as postgres:
            for role in (one.installation.roles.service, one.installation.roles.worker):
                postgres.execute(f'ALTER ROLE "{role}" LOGIN')
        for role in (one.installation.roles.service, one.installation.roles.worker):
            debian.connect("payroll", role).close()
            with pytest.raises(psycopg.OperationalError, match="does not have CONNECT privilege"):
                debian.connect("Other-Family", role)
        with debian.connect("payroll", one.installation.roles.service) as service:
            for statement in (
                "CREATE TEMP TABLE t (id int)",
                "CREATE TABLE t (id int)",
                "SELECT * FROM installation",
            ):
                with pytest.raises(errors.InsufficientPrivilege):
                    service.execute(statement)


def test_ids_of_an_older_server_are_in_their_order_too(migrated: str) -> None:
    """One session's are in the order in which they were made, and all are UUIDs of version 7 of this moment."""
    with psycopg.connect(migrated) as connection:
        before = time.time()
        ids = [
            row[0] for row in connection.execute("SELECT new_id() FROM generate_series(1, 5000)").fetchall()
        ]
    assert ids == sorted(set(ids))
    assert {(one.version, one.variant) for one in ids} == {(7, "specified in RFC 4122")}
    assert before - 1 < (ids[0].int >> 80) / 1000 < time.time() + 1


def test_the_schema_of_an_older_server_is_the_one_of_the_newest(migrated: str) -> None:
    assert asyncio.run(_differences(migrated)) == ()


async def _differences(url: str) -> tuple[SchemaDifference, ...]:
    async with open_database(None, Addresses(url)) as opened, opened.database.transaction(None) as session:
        return (await inspect_schema(session)).differences


async def _migrate(url: str) -> None:
    async with open_database(None, Addresses(url)):
        pass


def test_every_statement_is_one_that_an_older_server_knows_too(migrated: str) -> None:
    with psycopg.connect(migrated, autocommit=True) as owner:
        refused = [
            (module, refusal, " ".join(statement.split())[:200])
            for module, statements in statements_of_modules().items()
            for statement in statements
            if statement.lstrip().upper().startswith(PLANNED)
            and (refusal := refused_as(owner, None, statement))
        ]
    assert not refused, "\n".join(map(str, refused))


@pytest.fixture
def newer_schema(migrated: str) -> Iterator[str]:
    """The URL of an installation that a newer program has migrated."""
    with psycopg.connect(migrated, autocommit=True) as owner:
        [(own,)] = owner.execute("SELECT version_num FROM alembic_version").fetchall()
        owner.execute("UPDATE alembic_version SET version_num = '9999'")
        yield migrated
        owner.execute("UPDATE alembic_version SET version_num = %s", (own,))


def test_what_keeps_the_service_from_a_server_is_said_in_a_line(
    debian: DebianServer, newer_schema: str
) -> None:
    with debian.connect() as postgres:
        postgres.execute("CREATE ROLE tenant LOGIN")
        postgres.execute(
            "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        postgres.execute("CREATE DATABASE strange")
    here = f"127.0.0.1:{debian.port}"
    cases = {
        newer_schema: "older than the database's schema",
        f"postgresql://tenant@{here}/strange": "the login tenant may not make what is missing",
        f"postgresql://postgres@{here}/latin": "needs a database in UTF8",
        f"postgresql://landlord@{here}/nowhere": 'database "nowhere" does not exist',
        "postgresql://landlord:s3cret@127.0.0.1:1/payroll": "Connection refused",
        "postgresql://landlord:s3cret@127.0.0.1:1,127.0.0.1:2/payroll": "Connection refused",
        "postgresql://landlord:s3cret@127.0.0.1:port/payroll": "this is no database URL",
        "mysql://landlord:s3cret@127.0.0.1/payroll": "needs a PostgreSQL URL",
    }
    for address, told in cases.items():
        finished = _hearthpay("migrate", address)
        assert finished.returncode != 0
        assert told in finished.stderr, (address, finished.stderr)
        assert finished.stderr.startswith("hearthpay: ")
        assert "Traceback" not in finished.stderr
        assert "s3cret" not in finished.stderr + finished.stdout


def _hearthpay(command: str, url: str, **more: str) -> subprocess.CompletedProcess[str]:
    return hearthpay_says(command, environment={**os.environ, "DATABASE_URL": url, **more}, timeout=120)


@pytest.mark.long
async def test_a_replica_that_is_promoted_takes_over(folder: Path) -> None:
    """The URL names both servers. Between the end of the one and the rise of the other: 503, and nothing half done."""
    primary = DebianServer.make(folder / "first")
    url = primary.create_database("payroll")
    standby = primary.replica(folder / "second")
    both = (
        f"postgresql://landlord@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/payroll"
        "?target_session_attrs=read-write"
    )
    assert url.endswith("/payroll")
    try:
        async with (
            open_database(None, Addresses(both)) as opened,
            new_client(opened, CLOCK, "Smith") as client,
        ):
            ids = await hire(client)
            seen: list[int] = []
            paid = 0
            for number in range(12):
                if number == 4:
                    await asyncio.to_thread(primary.stop)
                if number == 6:
                    await asyncio.to_thread(standby.promote)
                answer = await client.post(
                    "/payroll/run", json=week(ids, paid), headers={"Idempotency-Key": f"week {paid}"}
                )
                seen.append(answer.status_code)
                if answer.status_code == 200:
                    paid += 1
                else:
                    assert (answer.status_code, "Retry-After" in answer.headers) == (503, True), answer.text
            assert seen[:4] == [200] * 4
            assert seen[4:6] == [503] * 2
            assert seen[-1] == 200
            await require_ready(opened.database)
            async with opened.as_operator() as operator, operator.transaction(None) as session:
                assert await session.scalar(text("SELECT count(*) FROM payrolls")) == paid
            assert await findings(opened, CLOCK) == []
    finally:
        primary.remove()
        standby.remove()


async def test_a_replica_alone_is_not_ready(folder: Path) -> None:
    """A demoted primary: reading works, so nothing but a write shows it."""
    primary = DebianServer.make(folder / "third")
    url = primary.create_database("payroll")
    try:
        async with (
            open_database(None, Addresses(url)) as opened,
            new_client(opened, CLOCK, "Smith") as client,
        ):
            ids = await hire(client)
            await opened.database.dispose()
            primary.stop("fast")
            (primary.data / "standby.signal").touch()
            os.chown(primary.data / "standby.signal", primary.data.stat().st_uid, -1)
            primary.start()
            with pytest.raises(DatabaseUnavailable, match=r"takes no writes|recovering"):
                await require_ready(opened.database)
            answer = await client.post("/payroll/run", json=week(ids, 0))
            assert (answer.status_code, "Retry-After" in answer.headers) == (503, True), answer.text
            listed = await client.get("/employees", params={"employer_id": ids["employer_id"]})
            assert listed.status_code == 200
    finally:
        primary.remove()
