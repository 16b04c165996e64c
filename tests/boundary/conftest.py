"""The application and its callers, its OpenAPI document, and four worlds that must not know of each other."""

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from tests.boundary.worlds import KeptWorlds, World
from tests.http.api import NewAccount, client, new_account, new_key
from tests.openapi.document import Document, document_of
from tests.worlds.snapshots import Snapshots, snapshots

__all__ = ["client", "new_account", "new_key", "snapshots"]


@pytest.fixture(scope="session")
def kept_worlds(snapshots: Snapshots) -> KeptWorlds:
    return KeptWorlds(snapshots)


@pytest.fixture
def app(database: Database, clock: FixedClock, kept_worlds: KeptWorlds) -> FastAPI:
    """With the keys that the numbers of the kept worlds are sealed by."""
    return create_app(database, clock, AppSettings(ring=kept_worlds.ring))


@pytest.fixture
def document(app: FastAPI) -> Document:
    return document_of(app)


@pytest.fixture
async def worlds(
    kept_worlds: KeptWorlds,
    client: httpx.AsyncClient,
    new_account: NewAccount,
    owner_connection: psycopg.Connection,
) -> list[World]:
    """Two organizations, real and sandbox each."""
    return await kept_worlds.open(client, new_account, owner_connection)
