"""The application and its callers, its OpenAPI document, and the application behind a real socket."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import uvicorn
from fastapi import FastAPI

from tests.http.api import account, app, client, household, new_account, new_key
from tests.openapi.document import Document, document_of

__all__ = ["account", "app", "client", "household", "new_account", "new_key"]


@pytest.fixture
def document(app: FastAPI) -> Document:
    return document_of(app)


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """Where the application is served while the test runs."""
    config = uvicorn.Config(
        app, port=0, log_level="error", access_log=False, lifespan="off", server_header=False
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn offers no event to wait for
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    await serving
