"""The application of an installation with a bank and a vault, its callers, and the same behind a real socket."""

import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.security.key_ring import KeyRing
from tests.http.api import client, counts, new_account, new_key
from tests.openapi.conftest import address
from tests.worlds.keys import ring
from tests.worlds.made_in_turn import account, household, made_in_turn
from tests.worlds.snapshots import MadeOnce, Snapshots, snapshots
from tests.worlds.town import family, town

__all__ = [
    "account",
    "address",
    "client",
    "counts",
    "family",
    "household",
    "made_in_turn",
    "new_account",
    "new_key",
    "ring",
    "snapshots",
    "town",
]


@pytest.fixture(scope="session")
def made_once(snapshots: Snapshots) -> MadeOnce:
    return MadeOnce(snapshots)


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    return create_app(database, clock, AppSettings(ring=ring, direct_deposit=True))
