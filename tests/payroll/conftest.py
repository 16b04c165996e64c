"""The application, and a household in California with someone to pay."""

import pytest

from tests.http.api import Account, account, app, client, counts, new_account, new_key
from tests.worlds.households import add_employee, add_household

__all__ = ["account", "app", "client", "counts", "new_account", "new_key"]


@pytest.fixture
async def employer_id(account: Account) -> str:
    return await add_household(account.live)


@pytest.fixture
async def employee_id(account: Account, employer_id: str) -> str:
    return await add_employee(account.live, employer_id)
