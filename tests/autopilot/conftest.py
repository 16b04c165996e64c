"""The application of an installation with a bank, and a family whose employee Autopilot pays."""

from dataclasses import replace

import pytest

from tests.autopilot.pilot import Pilot, new_pilot
from tests.http.api import Account, client, counts, new_account, new_key
from tests.worlds.families_in_turn import account, family, made_in_turn, made_once, ring
from tests.worlds.made_in_turn import MadeInTurn
from tests.worlds.snapshots import snapshots
from tests.worlds.town import Town, app, town

__all__ = [
    "account",
    "app",
    "client",
    "counts",
    "family",
    "made_in_turn",
    "made_once",
    "new_account",
    "new_key",
    "ring",
    "snapshots",
    "town",
]


@pytest.fixture
async def pilot(town: Town, account: Account, made_in_turn: MadeInTurn) -> Pilot:
    made = await made_in_turn.get("pilot", lambda: new_pilot(town, account.live, account))
    return replace(made, town=town, family=replace(made.family, caller=account.live))


@pytest.fixture
async def sandbox_pilot(town: Town, account: Account, made_in_turn: MadeInTurn) -> Pilot:
    made = await made_in_turn.get("sandbox pilot", lambda: new_pilot(town, account.test, account))
    return replace(made, town=town, family=replace(made.family, caller=account.test))
