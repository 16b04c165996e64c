"""The application behind the real server, over a real socket."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from hearthpay.server import running
from tests.http.api import MARIA, Account


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with running(app, "127.0.0.1", 0) as (address, _):
        yield address


async def test_a_client_that_sends_too_much_gets_to_read_why(address: str, account: Account) -> None:
    """Over a socket a server that answers too early cuts the client off before it has read the answer."""

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 100_000

    async with httpx.AsyncClient(base_url=address, headers=account.live.headers()) as client:
        for content in (b" " * 10_000_000, endless()):
            response = await client.post("/api/v1/employers", content=content)
            assert response.status_code == 413
            assert response.json()["error"]["details"][0]["field"] == "body"
        response = await client.post("/api/v1/employers", json=MARIA)
        assert response.status_code == 201


async def test_a_stranger_that_sends_too_much_is_told_to_show_a_key(address: str, account: Account) -> None:
    async with httpx.AsyncClient(base_url=address) as client:
        for _ in range(3):
            response = await client.post("/api/v1/employers", content=b" " * 10_000_000)
            assert response.status_code == 401
