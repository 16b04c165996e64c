"""The application, and a household in California with someone to pay, made once and put back for each test."""

import pytest

from tests.http.api import Account, app, client, counts, new_account, new_key
from tests.worlds.families_in_turn import account, made_in_turn, made_once
from tests.worlds.households import add_employee, add_household
from tests.worlds.made_in_turn import MadeInTurn
from tests.worlds.snapshots import snapshots

__all__ = [
    "account",
    "app",
    "client",
    "counts",
    "made_in_turn",
    "made_once",
    "new_account",
    "new_key",
    "snapshots",
]


@pytest.fixture
async def employer_id(account: Account, made_in_turn: MadeInTurn) -> str:
    return await made_in_turn.get("employer", lambda: add_household(account.live))


@pytest.fixture
async def employee_id(account: Account, employer_id: str, made_in_turn: MadeInTurn) -> str:
    return await made_in_turn.get("employee", lambda: add_employee(account.live, employer_id))
