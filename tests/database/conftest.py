"""Fixtures of the database floor: households of two organizations, and servers of their own to kill."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.conftest import plain_url
from tests.database.household import Household, add_household, add_organization
from tests.worlds.installations import install
from tests.worlds.made_in_turn import MadeInTurn
from tests.worlds.snapshots import MadeOnce, Snapshots, snapshots

__all__ = ["snapshots"]


@pytest.fixture(scope="session")
def made_once(snapshots: Snapshots) -> MadeOnce:
    return MadeOnce(snapshots)


@pytest.fixture
def made_in_turn(made_once: MadeOnce) -> MadeInTurn:
    """The same households for all modules."""
    return MadeInTurn(made_once, "households of the schema")


@pytest.fixture
def owner(owner_connection: psycopg.Connection, empty_tables: None) -> psycopg.Connection:
    """The owner's plain connection to the empty database."""
    return owner_connection


@pytest.fixture
def service(server: EmbeddedServer, empty_tables: None) -> Iterator[psycopg.Connection]:
    """A plain connection of the service's role, as an attacker inside the service would have it."""
    with psycopg.connect(plain_url(server.service_url()), autocommit=True) as connection:
        yield connection


@pytest.fixture
def smiths(owner: psycopg.Connection, made_in_turn: MadeInTurn) -> Household:
    """A real household of the first organization."""
    return made_in_turn.get_blocking("smiths", lambda: add_household(owner, add_organization(owner, "Smith")))


@pytest.fixture
def joneses(owner: psycopg.Connection, made_in_turn: MadeInTurn) -> Household:
    """A real household of another organization."""
    return made_in_turn.get_blocking(
        "joneses", lambda: add_household(owner, add_organization(owner, "Jones"))
    )


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """An empty data directory; a server left running in it is stopped."""
    path = Path(tempfile.mkdtemp(prefix="hearthpay-test-"))
    try:
        yield path
    finally:
        last = EmbeddedServer(path)
        if last.postmaster_pid is not None:
            last.start()
            last.stop()
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def mortal(data_dir: Path) -> Iterator[EmbeddedServer]:
    """A started server with an installation, which the test may kill."""
    embedded = install(data_dir)
    embedded.start()
    yield embedded
    embedded.stop()
