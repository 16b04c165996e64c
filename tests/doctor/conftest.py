"""The books, kept once for all tests of the doctor; each test damages them in a transaction that is rolled back."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest_asyncio

from hearthpay.database.session import Database
from tests.doctor.books import Books, keep_books
from tests.worlds.tables import EMPTYING


@pytest_asyncio.fixture(scope="package")
async def books(
    owner_connection: psycopg.Connection, service_pool: Database, owner_pool: Database, worker_pool: Database
) -> AsyncIterator[Books]:
    await asyncio.to_thread(owner_connection.execute, EMPTYING)
    kept = await keep_books(service_pool, owner_pool, worker_pool)
    yield kept
    await kept.client.aclose()
