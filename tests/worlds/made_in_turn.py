"""An account, its household and an employee of it, made for a module's first test and put back for each other one.

A test module takes the fixtures by importing them; its package has `made_once`. A fixture that writes rows beside them
must ask for them first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import httpx
import pytest

from hearthpay.database.session import Database
from hearthpay.security.key_ring import KeyRing
from tests.http.api import MARIA, ROSA, Account, NewAccount, data
from tests.worlds.inviting import ROSAS_EMAIL, give_bank_account
from tests.worlds.snapshots import MadeOnce

_Made = TypeVar("_Made")


class MadeInTurn:
    """What the fixtures of one test make, made once for all tests that ask for the same in the same order."""

    def __init__(self, made_once: MadeOnce, module: str) -> None:
        self._made_once = made_once
        self._names = [module]

    async def get(self, name: str, make: Callable[[], Awaitable[_Made]]) -> _Made:
        """Return what `make` returned the first time, and put back the rows that there were after it."""
        self._names.append(name)
        return await self._made_once.get(", ".join(self._names), make)

    def get_blocking(self, name: str, make: Callable[[], _Made]) -> _Made:
        """The same of what is made over a plain connection."""
        self._names.append(name)
        return self._made_once.get_blocking(", ".join(self._names), make)


@pytest.fixture
def made_in_turn(made_once: MadeOnce, request: pytest.FixtureRequest) -> MadeInTurn:
    return MadeInTurn(made_once, request.module.__name__)


@pytest.fixture
async def account(client: httpx.AsyncClient, new_account: NewAccount, made_in_turn: MadeInTurn) -> Account:
    made = await made_in_turn.get("account", lambda: new_account("Lopez family"))
    live, test = (replace(caller, client=client) for caller in (made.live, made.test))
    return replace(made, live=live, test=test)


@pytest.fixture
async def household(account: Account, made_in_turn: MadeInTurn) -> dict[str, Any]:
    """A real household of the account."""

    async def make() -> dict[str, Any]:
        made: dict[str, Any] = data(await account.live.post("/employers", MARIA), 201)
        return made

    return {**await made_in_turn.get("household", make)}


@pytest.fixture
async def rosa(account: Account, household: dict[str, Any], made_in_turn: MadeInTurn) -> dict[str, Any]:
    """An employee with an email address."""

    async def make() -> dict[str, Any]:
        made: dict[str, Any] = data(
            await account.live.post("/employees", {**ROSA, "email": ROSAS_EMAIL}), 201
        )
        return made

    return {**await made_in_turn.get("rosa", make)}


@pytest.fixture
async def banked(
    database: Database,
    ring: KeyRing,
    account: Account,
    household: dict[str, Any],
    made_in_turn: MadeInTurn,
) -> dict[str, Any]:
    """The household, with a bank account of its own."""
    await made_in_turn.get(
        "bank account", lambda: give_bank_account(database, ring, account.organization_id, household)
    )
    return household
