"""What a test leaves running may still hold locks: the next one's empty tables wait for it, and let it end."""

import asyncio
from uuid import uuid4

import psycopg
from sqlalchemy import text

from hearthpay.database.session import Database
from tests.conditions import PATIENCE

_left: list[asyncio.Task[None]] = []


async def test_something_is_left_in_the_middle_of_its_transaction(
    database: Database, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    organization = uuid4()
    owner_connection.execute("INSERT INTO organizations (id, name) VALUES (%s, 'A')", (organization,))
    locked = asyncio.Event()

    async def write() -> None:
        async with owner_database.transaction(None) as session:
            await session.execute(text("UPDATE organizations SET name = 'B'"))
            locked.set()
            await asyncio.sleep(0.05)

    _left.append(asyncio.create_task(write()))
    await locked.wait()


async def test_the_next_one_begins_with_empty_tables(
    database: Database, owner_connection: psycopg.Connection
) -> None:
    await asyncio.wait_for(
        _left[0], PATIENCE
    )  # its locks were let go; that they were, it may hear a moment later
    assert owner_connection.execute("SELECT count(*) FROM organizations").fetchone() == (0,)
