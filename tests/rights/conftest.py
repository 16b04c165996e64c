"""The world, made once for all tests of rights; each test damages it in a transaction that is rolled back."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest_asyncio

from hearthpay.database.session import Database
from tests.doctor.books import keep_books
from tests.rights.world import Household, let_people_in
from tests.worlds.tables import EMPTYING


@pytest_asyncio.fixture(scope="package")
async def world(
    owner_connection: psycopg.Connection, service_pool: Database, owner_pool: Database, worker_pool: Database
) -> AsyncIterator[Household]:
    await asyncio.to_thread(owner_connection.execute, EMPTYING)
    books = await keep_books(service_pool, owner_pool, worker_pool)
    made = await let_people_in(books, owner_connection)
    yield made
    await books.client.aclose()
    await made.dance.program.aclose()
    await made.dance.browser.client.aclose()
