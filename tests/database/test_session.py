"""Transactions: all or nothing, waiting out a restart, and honest about a connection that was lost."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.address import psycopg_url
from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database, Tenant
from tests.conftest import plain_url
from tests.database.household import Household

RENAME = text("UPDATE employers SET last_name = :name")


def last_name(owner: psycopg.Connection) -> str:
    row = owner.execute("SELECT last_name FROM employers").fetchone()
    assert row is not None
    return row[0]


async def cut(session: AsyncSession, owner: psycopg.Connection) -> None:
    """End the session's connection from the server's side, as an operator or a crash would."""
    pid = await session.scalar(text("SELECT pg_backend_pid()"))
    owner.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


async def test_a_block_that_ends_is_committed(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async with database.transaction(smiths.tenant) as session:
        await session.execute(RENAME, {"name": "Kept"})
        assert last_name(owner) == "Smith"
    assert last_name(owner) == "Kept"


async def test_a_block_that_raises_is_rolled_back(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async def change_my_mind() -> None:
        async with database.transaction(smiths.tenant) as session:
            await session.execute(RENAME, {"name": "Lost"})
            raise LookupError

    with pytest.raises(LookupError):
        await change_my_mind()
    assert last_name(owner) == "Smith"


async def test_a_cancelled_block_is_rolled_back_and_returns_its_connection(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async def linger() -> None:
        async with database.transaction(smiths.tenant) as session:
            await session.execute(RENAME, {"name": "Lost"})
            await session.execute(text("SELECT pg_sleep(60)"))

    for _ in range(30):  # more than the pool holds
        task = asyncio.create_task(linger())
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with database.transaction(smiths.tenant) as session:
        await session.execute(RENAME, {"name": "Next"})
    assert last_name(owner) == "Next"


async def test_the_statements_own_faults_are_not_outages(database: Database, smiths: Household) -> None:
    with pytest.raises(DBAPIError, match="division by zero"):
        async with database.transaction(smiths.tenant) as session:
            await session.execute(text("SELECT 1/0"))
    with pytest.raises(IntegrityError):
        async with database.transaction(smiths.tenant) as session:
            await session.execute(
                text("UPDATE employees SET status = 'gone'"),
            )


async def test_times_are_utc(database: Database) -> None:
    async with database.transaction(None) as session:
        now = await session.scalar(text("SELECT now()"))
        assert now.utcoffset() == datetime.now(UTC).utcoffset()
        assert await session.scalar(text("SHOW TimeZone")) == "UTC"


async def test_many_transactions_share_the_pool(database: Database, smiths: Household) -> None:
    async def visible(tenant: Tenant | None) -> int:
        async with database.transaction(tenant) as session:
            return await session.scalar(text("SELECT count(*) FROM employers, pg_sleep(0.01)")) or 0

    foreign = Tenant(uuid4(), sandbox=False)
    tenants = [smiths.tenant, None, foreign] * 50
    assert await asyncio.gather(*map(visible, tenants)) == [1, 0, 0] * 50


async def test_a_connection_cut_in_the_middle_is_an_outage_and_the_next_transaction_works(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async def lose_the_connection() -> None:
        async with database.transaction(smiths.tenant) as session:
            await session.execute(RENAME, {"name": "Lost"})
            await cut(session, owner)
            await session.execute(RENAME, {"name": "Lost again"})

    with pytest.raises(DatabaseUnavailable):
        await lose_the_connection()
    async with database.transaction(smiths.tenant) as session:
        assert await session.scalar(text("SELECT last_name FROM employers")) == "Smith"


async def test_a_connection_cut_before_the_commit_is_an_outage(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async def lose_the_connection() -> None:
        async with database.transaction(smiths.tenant) as session:
            await cut(session, owner)

    with pytest.raises(DatabaseUnavailable):
        await lose_the_connection()


async def test_the_callers_own_error_survives_a_connection_that_is_cut(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async def lose_the_connection() -> None:
        async with database.transaction(smiths.tenant) as session:
            await cut(session, owner)
            raise LookupError

    with pytest.raises(LookupError):
        await lose_the_connection()


async def test_a_transaction_waits_for_a_server_which_is_being_restarted(mortal: EmbeddedServer) -> None:
    database = Database(mortal.owner_url(), role=OWNER_ROLE)
    try:
        async with database.transaction(None) as session:
            await session.execute(text("CREATE TABLE marks (id int)"))
        assert mortal.postmaster_pid is not None
        os.kill(mortal.postmaster_pid, signal.SIGKILL)
        await asyncio.sleep(
            0.3
        )  # until its backends have noticed: they take a statement or two after its death

        async def revive() -> None:
            await asyncio.sleep(0.5)
            await asyncio.to_thread(mortal.start)

        async def mark(number: int) -> None:
            async with database.transaction(None) as session:
                await session.execute(text("INSERT INTO marks VALUES (:number)"), {"number": number})

        await asyncio.gather(revive(), *map(mark, range(20)))
        with psycopg.connect(plain_url(mortal.owner_url())) as connection:
            assert connection.execute("SELECT count(*) FROM marks").fetchone() == (20,)
    finally:
        await database.dispose()


async def test_a_server_that_stays_away_is_reported(
    mortal: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearthpay.database.session.RECONNECT_SECONDS", 0.5)
    database = Database(mortal.owner_url(), role=OWNER_ROLE)
    mortal.stop()
    try:
        with pytest.raises(DatabaseUnavailable):
            async with database.transaction(None):
                pass
    finally:
        await database.dispose()


@pytest.mark.parametrize(
    "url",
    ["postgres://u@h/d", "postgresql://u@h/d", "postgresql+psycopg://u@h/d", "postgresql+asyncpg://u@h/d"],
)
def test_every_postgresql_url_is_taken(url: str) -> None:
    assert psycopg_url(url).render_as_string() == "postgresql+psycopg://u@h/d"


def test_another_database_is_refused() -> None:
    with pytest.raises(ValueError, match="PostgreSQL"):
        psycopg_url("sqlite://")
