"""A household that pays by direct deposit, and a bank for it to pay through."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.actor import Actor
from hearthpay.app import AppSettings, create_app
from hearthpay.banking.accounts import AccountDetails, connect_employee_account, connect_household_account
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import BUSINESS_TIME, FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.payroll.payday.bank_day import Bank, BankDayReport, advance
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.http.api import Account, Caller
from tests.worlds.households import add_employee, add_household
from tests.worlds.originator import ORIGINATOR

ROUTING = "021000021"


class Vouching:
    """An instant verification that knows every account."""

    async def verify(self, details: AccountDetails) -> bool:
        return True


@dataclass
class Town:
    """The service's database with its worker, a clock to move, and a bank behind a folder."""

    database: Database
    worker: Database
    clock: FixedClock
    ring: KeyRing
    bank: Bank
    outbox: Path

    async def connect(
        self,
        caller: Caller,
        employer_id: str,
        *employees: str,
        account: str = "123456789",
        prenote: bool = False,
    ) -> None:
        """Connect the household's account, or those of its employees; vouched for, or else tried by a prenote."""
        verification = None if prenote else Vouching()
        sandbox = caller.key.startswith("hp_test_")
        details = AccountDetails(
            parse_number("bank_routing", ROUTING), parse_number("bank_account", account), "checking"
        )
        async with self.worker.transaction(None) as session:
            household = await session.get(Employer, UUID(employer_id))
        assert household is not None
        assert household.sandbox == sandbox
        actor = Actor(
            "operator", None, household.organization_id, "test" if sandbox else "live", frozenset(), "r"
        )
        now = self.clock.now()
        async with self.database.transaction(actor.tenant) as session:
            if not employees:
                await connect_household_account(
                    session, self.ring, actor, household, details, now, verification=verification
                )
            for each in employees:
                employee = await session.get(Employee, UUID(each))
                assert employee is not None
                await connect_employee_account(
                    session, self.ring, actor, employee, details, now, verification=verification
                )

    def go_to(self, day: str, hour: int = 15, minute: int = 0) -> None:
        """Move the clock to a time of day in the East."""
        there = datetime.fromisoformat(day).replace(hour=hour, minute=minute, tzinfo=BUSINESS_TIME)
        self.clock.advance(there.astimezone(UTC) - self.clock.now())

    async def work(self) -> BankDayReport:
        """Let the worker do all that is due."""
        return await advance(self.worker, self.ring, self.bank, self.clock)

    async def live_through(self, first: str, last: str) -> None:
        """Let the worker work in the morning and at the cut-off of every day."""
        day = datetime.fromisoformat(first)
        while day <= datetime.fromisoformat(last):
            for hour in (8, 15):
                self.go_to(day.date().isoformat(), hour)
                await self.work()
            day += timedelta(days=1)


@pytest.fixture
def town(
    database: Database, worker_database: Database, clock: FixedClock, ring: KeyRing, tmp_path: Path
) -> Town:
    return Town(database, worker_database, clock, ring, Bank(ORIGINATOR, folder_gateway(tmp_path)), tmp_path)


@pytest.fixture
def app(database: Database, clock: FixedClock) -> FastAPI:
    """The application of an installation that has a bank."""
    return create_app(database, clock, AppSettings(direct_deposit=True))


@dataclass
class Family:
    """A household with someone to pay, both with a bank account."""

    caller: Caller
    employer_id: str
    employee_id: str

    def order(self, pay_date: str | None = None, **changes: Any) -> dict[str, Any]:
        """A week of 40 hours by direct deposit."""
        entry = {"employee_id": self.employee_id, "regular_hours": 40, "payment_method": "direct_deposit"}
        body = {
            "employer_id": self.employer_id,
            "pay_period_start": "2026-11-16",
            "pay_period_end": "2026-11-22",
            "pay_frequency": "weekly",
            "employees": [entry],
            "confirm_ach_debit": True,
        } | changes
        return body if pay_date is None else body | {"pay_date": pay_date}


async def new_family(town: Town, caller: Caller, **accounts: str) -> Family:
    employer_id = await add_household(caller)
    employee_id = await add_employee(caller, employer_id)
    await town.connect(caller, employer_id, account=accounts.get("household", "123456789"))
    await town.connect(caller, employer_id, employee_id, account=accounts.get("employee", "987654321"))
    return Family(caller, employer_id, employee_id)


@pytest.fixture
async def family(town: Town, account: Account) -> Family:
    return await new_family(town, account.live)


@pytest.fixture
async def sandbox_family(town: Town, account: Account) -> Family:
    return await new_family(town, account.test)


def statuses(detail: dict[str, Any]) -> list[str]:
    """The payroll's history, by its states."""
    return [step["status"] for step in detail["status_history"]]


def as_run(detail: dict[str, Any]) -> list[dict[str, Any]]:
    """The paychecks of a payroll that was read, without what has become of their money since."""
    news = ("status", "outcome")
    return [{name: each[name] for name in each if name not in news} for each in detail["employees"]]


def rows(connection: psycopg.Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    return connection.execute(query, parameters).fetchall()


__all__ = ["app", "family", "sandbox_family", "town"]
