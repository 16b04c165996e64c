"""Fixtures of the bank: a key ring, and the owner's plain connection to the empty database."""

from __future__ import annotations

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.security.key_ring import KeyRing
from tests.banking.world import World
from tests.http.api import account, app, client, new_account, new_key
from tests.worlds.keys import ring

__all__ = ["account", "app", "client", "new_account", "new_key", "ring"]


@pytest.fixture
def owner(owner_connection: psycopg.Connection, empty_tables: None) -> psycopg.Connection:
    return owner_connection


@pytest.fixture
def world(
    owner: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> World:
    return World(owner, owner_database, worker_database, ring, clock)
