"""An account and a family that pays by direct deposit, made for a package's first test and put back for each other.

A test package takes the fixtures by importing them in its `conftest.py`, with `snapshots`. A fixture that writes rows
beside them must ask for them first. What begins at another time is made again: its rows say when they were written.
"""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from hearthpay.clock import FixedClock
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.http.api import Account, NewAccount
from tests.worlds.made_in_turn import MadeInTurn
from tests.worlds.snapshots import MadeOnce, Snapshots
from tests.worlds.town import Family, Town, new_family


@pytest.fixture(scope="session")
def ring() -> KeyRing:
    """Of all tests, so that what was sealed for one is open to the others."""
    return KeyRing((EncryptionKey.generate(),))


@pytest.fixture(scope="session")
def made_once(snapshots: Snapshots) -> MadeOnce:
    return MadeOnce(snapshots)


@pytest.fixture
def made_in_turn(made_once: MadeOnce, clock: FixedClock) -> MadeInTurn:
    return MadeInTurn(made_once, clock.now().isoformat())


@pytest.fixture
async def account(client: httpx.AsyncClient, new_account: NewAccount, made_in_turn: MadeInTurn) -> Account:
    made = await made_in_turn.get("account", lambda: new_account("Lopez family"))
    live, test = (replace(caller, client=client) for caller in (made.live, made.test))
    return replace(made, live=live, test=test)


@pytest.fixture
async def family(town: Town, account: Account, made_in_turn: MadeInTurn) -> Family:
    made = await made_in_turn.get("family", lambda: new_family(town, account.live))
    return replace(made, caller=account.live)


@pytest.fixture
async def sandbox_family(town: Town, account: Account, made_in_turn: MadeInTurn) -> Family:
    made = await made_in_turn.get("sandbox family", lambda: new_family(town, account.test))
    return replace(made, caller=account.test)
