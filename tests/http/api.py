"""The real application over the real database, and accounts to call it with.

A test package takes these fixtures by importing them in its `conftest.py`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.worlds.kept_rows import kept_rows

BASE_URL = "http://pay.example.com"

ROOM = {"requests_per_day": 1_000_000, "employees_per_household": 1_000}
"""The limits lifted for the accounts of most tests."""

MARIA = {"first_name": "Maria", "last_name": "Lopez", "email": "maria@example.com", "state": "CA"}
ROSA = {"first_name": "Rosa", "last_name": "Diaz", "pay_rate": 28.5, "start_date": "2026-01-05"}


@dataclass
class Caller:
    """Someone with an API key."""

    client: httpx.AsyncClient
    key: str
    key_id: UUID

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.client.get(f"/api/v1{path}", params=query, headers=self.headers())

    async def post(self, path: str, body: object, *, idempotency_key: str | None = None) -> httpx.Response:
        return await self.client.post(f"/api/v1{path}", json=body, headers=self.headers(idempotency_key))

    async def patch(self, path: str, body: object) -> httpx.Response:
        return await self.client.patch(f"/api/v1{path}", json=body, headers=self.headers())

    async def post_raw(self, path: str, body: bytes, **headers: str) -> httpx.Response:
        return await self.client.post(
            f"/api/v1{path}",
            content=body,
            headers={**self.headers(), "Content-Type": "application/json", **headers},
        )

    def headers(self, idempotency_key: str | None = None) -> dict[str, str]:
        extra = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return {"Authorization": f"Bearer {self.key}", **extra}


@dataclass
class Account:
    """An organization with a live and a test key."""

    organization_id: UUID
    live: Caller
    test: Caller


NewKey = Callable[..., Awaitable[Caller]]
NewAccount = Callable[..., Awaitable[Account]]


@pytest.fixture
def app(database: Database, clock: FixedClock) -> FastAPI:
    return create_app(database, clock, AppSettings(ring=KeyRing((EncryptionKey.generate(),))))


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a key."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        yield client


@pytest.fixture
def new_key(owner_database: Database, clock: FixedClock, client: httpx.AsyncClient) -> NewKey:
    """Issues a key for the organization of that name, which is created if need be.

    Without a `plan` it is created on the largest one, its limits lifted so far that no test meets them by accident.
    """

    async def issue(
        name: str,
        *,
        mode: str = "live",
        scopes: tuple[str, ...] = SCOPES,
        employer_id: UUID | None = None,
        plan: str | None = None,
    ) -> Caller:
        async with owner_database.transaction(None) as session:
            organization = await accounts.find_organization(session, name)
            if organization is None and plan is None:
                organization = await accounts.create_organization(session, clock, name)
                await accounts.lift_limits(session, organization, ROOM)
            elif organization is None:
                organization = await accounts.create_organization(session, clock, name, plan=plan)
            issued = await accounts.create_key(
                session, clock, organization, mode=mode, scopes=scopes, employer_id=employer_id
            )
        return Caller(client, issued.text, issued.id)

    return issue


@pytest.fixture
def new_account(owner_database: Database, clock: FixedClock, client: httpx.AsyncClient) -> NewAccount:
    """Issues a live and a test key for the organization of that name, which is created as `new_key` does."""

    async def create(name: str) -> Account:
        async with owner_database.transaction(None) as session:
            organization = await accounts.find_organization(session, name)
            if organization is None:
                organization = await accounts.create_organization(session, clock, name)
                await accounts.lift_limits(session, organization, ROOM)
            live, test = [
                await accounts.create_key(session, clock, organization, mode=mode, scopes=SCOPES)
                for mode in ("live", "test")
            ]
        return Account(
            organization.id, Caller(client, live.text, live.id), Caller(client, test.text, test.id)
        )

    return create


@pytest.fixture
async def account(
    client: httpx.AsyncClient,
    new_account: NewAccount,
    clock: FixedClock,
    emptying_connection: psycopg.Connection,
) -> Account:
    """An account that begins when the test does; of all tests that begin at the same time, it is the same."""
    kept = kept_rows(emptying_connection)
    made = await kept.get(("account", clock.now()), lambda: new_account("Lopez family"))
    live, test = (replace(caller, client=client) for caller in (made.live, made.test))
    return replace(made, live=live, test=test)


@pytest.fixture
async def household(account: Account) -> dict[str, Any]:
    """A real household of the account."""
    return data(await account.live.post("/employers", MARIA), 201)


@pytest.fixture
def counts(owner_connection: psycopg.Connection) -> Callable[[], dict[str, int]]:
    """How many rows every table that a request may write to has."""

    def count() -> dict[str, int]:
        tables = (
            "employers",
            "employees",
            "payrolls",
            "paychecks",
            "paycheck_lines",
            "idempotency_keys",
            "audit_log",
        )
        found = {}
        for table in tables:
            row = owner_connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert row is not None
            found[table] = row[0]
        return found

    return count


def data(response: httpx.Response, status: int = 200) -> Any:
    """The `data` of a successful answer."""
    assert response.status_code == status, response.text
    body = response.json()
    assert body["success"] is True
    assert body["meta"]["requestId"]
    return body["data"]


def refusal(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The `error` of a refusal, after a look at everything that every refusal must have."""
    assert response.status_code == status, response.text
    body = response.json()
    assert body["success"] is False
    assert body["meta"]["requestId"] == response.headers["X-Request-Id"]
    error = body["error"]
    assert error["code"] == code, error
    assert error["message"]
    if status == 400:
        assert error["example"]
        assert error["docs_url"].startswith(f"{BASE_URL}/docs")
    return error


def fields(error: dict[str, Any]) -> list[str]:
    """The fields that a validation error names."""
    return [entry["field"] for entry in error["details"]]
