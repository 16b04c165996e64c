"""Connections keep their prepared statements, and the one that was used last is used next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from sqlalchemy import TextClause, text
from sqlalchemy.exc import DBAPIError

from hearthpay.database.connection import PREPARED_MOST
from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.session import Database

# The driver prepares a statement when it is sent for the sixth time.
_OFTEN = 6
_ASKED = text("SELECT 17 AS asked")
_PREPARED = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE :pattern")


@pytest.fixture
async def one(server: EmbeddedServer) -> AsyncIterator[Database]:
    database = Database(server.owner_url(), role=OWNER_ROLE, pool_size=1)
    yield database
    await database.dispose()


@pytest.fixture
def table(owner_connection: psycopg.Connection) -> Iterator[str]:
    owner_connection.execute("CREATE TABLE widening (number integer)")
    yield "widening"
    owner_connection.execute("DROP TABLE widening")


async def ask(database: Database, statement: TextClause = _ASKED, times: int = _OFTEN) -> None:
    for _ in range(times):
        async with database.transaction(None) as session:
            await session.execute(statement)


class _RefusedError(Exception):
    """What a request is refused with, after statements that succeeded."""


async def refuse(database: Database, statement: TextClause) -> None:
    async with database.transaction(None) as session:
        await session.execute(statement)
        raise _RefusedError


async def prepared(database: Database, pattern: str = "%17 AS asked%") -> int:
    async with database.transaction(None) as session:
        return int(await session.scalar(_PREPARED, {"pattern": pattern}) or 0)


async def test_a_refused_request_leaves_statements_prepared(one: Database) -> None:
    await ask(one)
    with pytest.raises(_RefusedError):
        await refuse(one, _ASKED)
    assert await prepared(one) == 1


async def test_a_rollback_undoes_what_was_written(one: Database, table: str) -> None:
    with pytest.raises(_RefusedError):
        await refuse(one, text("INSERT INTO widening VALUES (1)"))
    async with one.transaction(None) as session:
        assert await session.scalar(text("SELECT count(*) FROM widening")) == 0


async def test_a_failed_statement_drops_what_was_prepared(one: Database) -> None:
    await ask(one)
    with pytest.raises(DBAPIError):
        async with one.transaction(None) as session:
            await session.execute(text("SELECT 1 / 0"))
    assert await prepared(one) == 0


async def test_a_changed_table_fails_a_prepared_statement_at_most_once(
    one: Database, table: str, owner_connection: psycopg.Connection
) -> None:
    everything = text("SELECT * FROM widening")
    await ask(one, everything)
    owner_connection.execute("ALTER TABLE widening ALTER number TYPE bigint")
    with pytest.raises(DBAPIError, match="cached plan must not change"):
        await ask(one, everything, 1)
    await ask(one, everything)


async def test_more_than_a_hundred_statements_stay_prepared(one: Database) -> None:
    statements = [text(f"SELECT {number} AS numbered") for number in range(150)]
    assert len(statements) < PREPARED_MOST
    for _ in range(_OFTEN):
        async with one.transaction(None) as session:
            for each in statements:
                await session.execute(each)
    assert await prepared(one, "%AS numbered%") == len(statements)


async def test_the_connection_used_last_is_used_next(server: EmbeddedServer) -> None:
    database = Database(server.owner_url(), role=OWNER_ROLE, pool_size=3)
    backend = text("SELECT pg_backend_pid()")

    async def hold(release: asyncio.Event, number: int) -> None:
        async with database.transaction(None) as session:
            await session.execute(backend)
            release.set() if number == 2 else await release.wait()

    try:
        release = asyncio.Event()
        await asyncio.gather(*(hold(release, number) for number in range(3)))
        used = set()
        for _ in range(4):
            async with database.transaction(None) as session:
                used.add(await session.scalar(backend))
        assert len(used) == 1
    finally:
        await database.dispose()
