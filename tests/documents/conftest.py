"""The application with a vault, its callers, and the same behind the operator's session."""

import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.security.key_ring import KeyRing
from tests.http.api import account, client, counts, household, new_account, new_key
from tests.worlds.keys import ring

__all__ = ["account", "client", "counts", "household", "new_account", "new_key", "ring"]


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    return create_app(database, clock, AppSettings(ring=ring, direct_deposit=True))
