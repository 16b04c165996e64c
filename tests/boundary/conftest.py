"""The application and its callers, its OpenAPI document, and four worlds that must not know of each other."""

import psycopg
import pytest
from fastapi import FastAPI

from tests.boundary.worlds import World, build_worlds
from tests.http.api import NewAccount, app, client, new_account, new_key
from tests.openapi.document import Document

__all__ = ["app", "client", "new_account", "new_key"]


@pytest.fixture
def document(app: FastAPI) -> Document:
    return Document(app.openapi())


@pytest.fixture
async def worlds(new_account: NewAccount, owner_connection: psycopg.Connection) -> list[World]:
    """Two organizations, real and sandbox each."""
    return await build_worlds(new_account, owner_connection)
