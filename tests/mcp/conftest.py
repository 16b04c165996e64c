"""The application, and a household in California with someone to pay."""

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from tests.http.api import Account, account, client, counts, new_account, new_key
from tests.http.api import app as bare_app
from tests.worlds.households import add_employee, add_household

__all__ = ["account", "bare_app", "client", "counts", "new_account", "new_key"]


@pytest.fixture
async def app(bare_app: FastAPI) -> AsyncIterator[FastAPI]:
    """What a short test leaves to be written is written before the tables are emptied, which waits for it."""
    yield bare_app
    await bare_app.state.runtime.keys.settle()
    await bare_app.state.runtime.deferred_audit.settle()


@pytest.fixture
async def employer_id(account: Account) -> str:
    return await add_household(account.live)


@pytest.fixture
async def employee_id(account: Account, employer_id: str) -> str:
    return await add_employee(account.live, employer_id)
