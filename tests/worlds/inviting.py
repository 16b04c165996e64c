"""The application with a vault and a mail server of its own, and an employee to invite.

A test package takes these fixtures by importing them in its `conftest.py`.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.actor import Actor
from hearthpay.app import AppSettings, create_app
from hearthpay.banking.accounts import AccountDetails, connect_household_account
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.employers.models import Employer
from hearthpay.mail.mailer import Mailer
from hearthpay.security.api_keys import Mode
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.http.api import BASE_URL, ROSA, Account, Caller, data
from tests.mail.servers import Postbox, mail_server

ROSAS_EMAIL = "rosa.diaz@example.com"


@pytest.fixture
def postbox() -> Postbox:
    """Where the service's mail arrives."""
    return Postbox()


@pytest.fixture
async def app(
    database: Database, clock: FixedClock, ring: KeyRing, postbox: Postbox
) -> AsyncIterator[FastAPI]:
    async with mail_server(postbox) as url:
        mailer = Mailer(url, "Hearthpay <payroll@example.com>")
        yield create_app(
            database, clock, AppSettings(public_url=BASE_URL, ring=ring, mailer=mailer, direct_deposit=True)
        )


@pytest.fixture
async def rosa(account: Account, household: dict[str, Any]) -> dict[str, Any]:
    """An employee with an email address."""
    return data(await account.live.post("/employees", {**ROSA, "email": ROSAS_EMAIL}), 201)


@pytest.fixture
async def banked(
    database: Database, ring: KeyRing, account: Account, household: dict[str, Any]
) -> dict[str, Any]:
    """The household, with a bank account of its own."""
    await give_bank_account(database, ring, account.organization_id, household)
    return household


async def give_bank_account(
    database: Database, ring: KeyRing, organization_id: UUID, household: dict[str, Any]
) -> None:
    """Connect a bank account of the household itself."""
    employer_id, sandbox = UUID(household["id"]), household["sandbox"]
    details = AccountDetails(
        parse_number("bank_routing", "121000358"), parse_number("bank_account", "12345678"), "checking"
    )
    mode: Mode = "test" if sandbox else "live"
    operator = Actor("operator", uuid4(), organization_id, mode, frozenset(), str(uuid4()))
    async with database.transaction(Tenant(organization_id, sandbox)) as session:
        employer = await session.get_one(Employer, employer_id)
        await connect_household_account(session, ring, operator, employer, details, datetime.now(UTC))


async def invite(
    caller: Caller, employee: dict[str, Any], *, idempotency_key: str | None = None, **body: Any
) -> httpx.Response:
    """Ask for an invitation; without a type, to enter tax information."""
    return await caller.post(
        f"/employees/{employee['id']}/invite", {"type": "tax_info"} | body, idempotency_key=idempotency_key
    )


def statuses(connection: psycopg.Connection, invitation_type: str = "tax_info") -> list[str]:
    """What became of the invitations of a type, the oldest first."""
    rows = connection.execute(
        "SELECT status FROM invitations WHERE type = %s ORDER BY id", (invitation_type,)
    )
    return [status for (status,) in rows.fetchall()]
