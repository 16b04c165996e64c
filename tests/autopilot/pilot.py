"""A family whose employee can be enrolled: paid once by check, both accounts connected."""

import asyncio
import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.autopilot.agreeing import renew_agreement
from hearthpay.autopilot.changing import change_enrollment
from hearthpay.autopilot.commands import Agreement, ChangeEnrollment, EnrolledTerms, EnrollEmployee
from hearthpay.autopilot.confirming import confirm_payroll
from hearthpay.autopilot.enrolling import enroll
from hearthpay.autopilot.generation import GenerationReport, generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.autopilot.records import STANDING_TEXT_VERSION
from hearthpay.autopilot.views import EnrollmentView
from hearthpay.banking.calendar import is_banking_day
from hearthpay.employees.commands import PayFrequency
from hearthpay.mail.notices import NotificationSettings
from tests.http.api import Account, Caller
from tests.worlds.households import payroll_of
from tests.worlds.town import Family, Town, new_family

AGREED: Final = Agreement(text_version=STANDING_TEXT_VERSION, address="192.0.2.7")
WEEKLY: Final = EnrolledTerms(
    standard_hours=Decimal(40), frequency="weekly", anchor=datetime.date(2026, 11, 16), pay_days_after=9
)
"""The week from 16 November is paid on 1 December; its money is sent on the 23rd, and its payroll made on the 20th."""

DESK: Final = NotificationSettings(sends=True)


@dataclass
class Pilot:
    """The family, and what a person and the worker do about its Autopilot."""

    town: Town
    family: Family
    actor: Actor

    @property
    def employer(self) -> UUID:
        return UUID(self.family.employer_id)

    @property
    def employee(self) -> UUID:
        return UUID(self.family.employee_id)

    @property
    def whose(self) -> dict[str, Any]:
        return {"employer_id": self.family.employer_id, "employee_id": self.family.employee_id}

    async def enroll(self, terms: EnrolledTerms = WEEKLY, agreement: Agreement = AGREED) -> EnrollmentView:
        requested = EnrollEmployee(
            employer_id=self.employer, employee_id=self.employee, terms=terms, agreement=agreement
        )
        async with self.town.database.transaction(self.actor.tenant) as session:
            return await enroll(session, self.actor, self.town.clock, requested, direct_deposit_enabled=True)

    async def change(
        self,
        from_period: str,
        hours: int = 40,
        frequency: PayFrequency = "weekly",
        pay_days_after: int = 9,
    ) -> EnrollmentView:
        requested = ChangeEnrollment(
            employer_id=self.employer,
            employee_id=self.employee,
            from_period=datetime.date.fromisoformat(from_period),
            standard_hours=Decimal(hours),
            frequency=frequency,
            pay_days_after=pay_days_after,
        )
        async with self.town.database.transaction(self.actor.tenant) as session:
            return await change_enrollment(session, self.actor, self.town.clock, requested)

    async def confirm(self, payroll_id: str) -> None:
        async with self.town.database.transaction(self.actor.tenant) as session:
            await confirm_payroll(session, self.actor, self.town.clock, UUID(payroll_id))

    async def renew_agreement(self) -> None:
        async with self.town.database.transaction(self.actor.tenant) as session:
            await renew_agreement(session, self.actor, self.town.clock, self.employer, self.employee, AGREED)

    async def ask(self, action: str, **more: Any) -> dict[str, Any]:
        response = await self.family.caller.post(f"/autopilot/{action}", {**self.whose, **more})
        assert response.status_code == 200, response.text
        data: dict[str, Any] = response.json()["data"]
        return data

    async def read(self) -> dict[str, Any]:
        response = await self.family.caller.get("/autopilot", **self.whose)
        assert response.status_code == 200, response.text
        data: dict[str, Any] = response.json()["data"]
        return data

    async def history(self) -> list[dict[str, Any]]:
        """What happened, oldest first."""
        response = await self.family.caller.get("/autopilot/history", **self.whose, limit=100)
        assert response.status_code == 200, response.text
        events: list[dict[str, Any]] = response.json()["data"]
        return events[::-1]

    async def events(self) -> list[str]:
        return [each["event"] for each in await self.history()]

    async def generate(self) -> GenerationReport:
        return await generate_due(self.town.worker, self.town.clock, direct_deposit_enabled=True)

    async def work(self) -> None:
        """Let the worker do all that is due: payrolls made and sent, failures counted, mails queued."""
        await self.generate()
        await self.town.work()
        await run_outbox_tasks(self.town.worker, self.town.ring, self.town.clock, DESK)

    async def live_through(self, first: str, last: str, *, hours: Sequence[int] = (12, 15)) -> None:
        """Let the worker work at noon and at the cut-off of every day; where banks are closed, at the cut-off only."""
        day = datetime.date.fromisoformat(first)
        while day <= datetime.date.fromisoformat(last):
            for hour in hours if is_banking_day(day) else hours[-1:]:
                self.town.go_to(day.isoformat(), hour)
                await self.work()
            day += datetime.timedelta(days=1)

    async def payrolls(self) -> list[dict[str, Any]]:
        """The payrolls of the household, oldest period first."""
        listed = await self.family.caller.get("/payrolls", employer_id=self.family.employer_id, limit=100)
        found: list[dict[str, Any]] = listed.json()["data"]
        return sorted(found, key=lambda each: str(each["pay_period"]["start"]))

    async def made(self) -> list[tuple[str, str, str]]:
        """Start, pay date and status of each payroll that Autopilot made."""
        return [
            (each["pay_period"]["start"], each["pay_period"]["pay_date"], each["status"])
            for each in await self.payrolls()
            if each["pay_period"]["start"] >= "2026-11-16"
        ]


async def new_pilot(town: Town, caller: Caller, account: Account) -> Pilot:
    family = await new_family(town, caller)
    await pay_once(family)
    sandbox = caller.key.startswith("hp_test_")
    actor = Actor.operator(account.organization_id, sandbox=sandbox, request_id="autopilot-test")
    return Pilot(town, family, actor)


async def pay_once(family: Family) -> None:
    """Run a week by check, so that there is a completed payroll."""
    run = await family.caller.post("/payroll/run", payroll_of(family.employer_id, family.employee_id))
    assert run.status_code == 200, run.text


@pytest.fixture
async def pilot(town: Town, account: Account) -> Pilot:
    return await new_pilot(town, account.live, account)


def outcomes(connection: psycopg.Connection) -> list[tuple[str, str]]:
    """Start and outcome of every period that is decided."""
    rows = connection.execute(
        "SELECT period_start::text, outcome FROM autopilot_periods ORDER BY 1"
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


async def together(*deeds: Any) -> Sequence[Any]:
    """Do all of it at once; what is refused comes back as its refusal."""
    return await asyncio.gather(*deeds, return_exceptions=True)
