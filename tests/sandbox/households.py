"""Sandbox households made by a test key alone, and the worker that leads their clocks on."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.actor import Actor
from hearthpay.app import AppSettings, create_app
from hearthpay.autopilot.commands import Agreement, EnrolledTerms, EnrollEmployee
from hearthpay.autopilot.enrolling import enroll
from hearthpay.autopilot.records import STANDING_TEXT_VERSION
from hearthpay.clock import FixedClock
from hearthpay.database.household_clocks import clock_at
from hearthpay.database.session import Database
from hearthpay.mail.notices import NotificationSettings
from hearthpay.security.key_ring import KeyRing
from hearthpay.worker.household_time import advance_clocks
from tests.http.api import Account, Caller, data
from tests.worlds.households import add_employee, add_household
from tests.worlds.limits import lifting

ADDRESS = {"line1": "2201 Mission St", "city": "San Francisco", "state": "CA", "zip": "94110"}


_ROOM = lifting(sandbox_households=1000)


@dataclass
class Lab:
    """A test key, and the worker at work for the clocks."""

    caller: Caller
    organization_id: UUID
    database: Database
    worker: Database
    ring: KeyRing
    clock: FixedClock
    """Real time."""

    async def household(self, account: str | None = "verified") -> str:
        employer_id = await add_household(self.caller, address=ADDRESS)
        if account is not None:
            await self.set(f"/employers/{employer_id}/bank-account", account)
        return employer_id

    async def employee(self, employer_id: str, account: str | None = "verified", **changes: Any) -> str:
        employee_id = await add_employee(self.caller, employer_id, address=ADDRESS, **changes)
        if account is not None:
            await self.set(f"/employees/{employee_id}/bank-account", account)
        return employee_id

    async def set(self, path: str, magic: str) -> Any:
        return data(await self.caller.post(f"/sandbox{path}", {"magic": magic}))

    async def run(self, employer_id: str, employee_id: str, monday: str, sunday: str, **changes: Any) -> str:
        """Run a week of 40 hours by direct deposit; return the payroll's id."""
        entry = {"employee_id": employee_id, "regular_hours": 40, "payment_method": "direct_deposit"}
        body = {
            "employer_id": employer_id,
            "pay_period_start": monday,
            "pay_period_end": sunday,
            "pay_frequency": "weekly",
            "employees": [entry],
            "confirm_ach_debit": True,
        } | changes
        return str(data(await self.caller.post("/payroll/run", body))["payroll_id"])

    async def enroll(self, employer_id: str, employee_id: str, anchor: str, pay_days_after: int = 9) -> None:
        """Enroll the employee in Autopilot, 40 hours a week; the operator does, by the household's time."""
        actor = Actor.operator(self.organization_id, sandbox=True, request_id="sandbox-test")
        requested = EnrollEmployee(
            employer_id=UUID(employer_id),
            employee_id=UUID(employee_id),
            terms=EnrolledTerms(
                standard_hours=Decimal(40),
                frequency="weekly",
                anchor=date.fromisoformat(anchor),
                pay_days_after=pay_days_after,
            ),
            agreement=Agreement(text_version=STANDING_TEXT_VERSION, address="192.0.2.7"),
        )
        async with self.database.transaction(actor.tenant) as session:
            clock = await clock_at(session, UUID(employer_id), self.clock)
            await enroll(session, actor, clock, requested, direct_deposit_enabled=True)

    async def payroll(self, payroll_id: str) -> dict[str, Any]:
        found: dict[str, Any] = data(await self.caller.get(f"/payroll/{payroll_id}"))
        return found

    async def ask(self, employer_id: str, to: str) -> dict[str, Any]:
        asked: dict[str, Any] = data(
            await self.caller.post(f"/sandbox/employers/{employer_id}/advance", {"to": to}), 202
        )
        return asked

    async def work(self, slice_seconds: float = 60.0) -> None:
        """Let the worker lead on whatever clock is to move, until none is."""
        while True:
            progress = await advance_clocks(
                self.worker,
                self.ring,
                self.clock,
                NotificationSettings(sends=True),
                lambda: False,
                slice_seconds=slice_seconds,
            )
            if not progress.remaining:
                return

    async def advance(self, employer_id: str, to: str) -> dict[str, Any]:
        await self.ask(employer_id, to)
        await self.work()
        return await self.now(employer_id)

    async def now(self, employer_id: str) -> dict[str, Any]:
        found: dict[str, Any] = data(await self.caller.get(f"/sandbox/employers/{employer_id}/clock"))
        return found


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    return create_app(database, clock, AppSettings(ring=ring, direct_deposit=True))


@pytest.fixture
def lab(
    account: Account,
    database: Database,
    owner_connection: psycopg.Connection,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
) -> Lab:
    owner_connection.execute(_ROOM)
    return Lab(account.test, account.organization_id, database, worker_database, ring, clock)


__all__ = ["app", "lab"]
