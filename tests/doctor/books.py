"""Books with everything in them that can happen to a payroll, written by the service, the worker and the operator."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import text

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.app import AppSettings, create_app
from hearthpay.autopilot.commands import Agreement, EnrolledTerms, EnrollEmployee
from hearthpay.autopilot.enrolling import enroll
from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.autopilot.records import STANDING_TEXT_VERSION
from hearthpay.banking.accounts import AccountDetails, connect_employee_account, connect_household_account
from hearthpay.clock import BUSINESS_TIME, FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.models import Employee
from hearthpay.employers.ein import keep_ein
from hearthpay.employers.models import Employer
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.payday.bank_day import advance
from hearthpay.payroll.set_asides import escrow
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.doctor.household_entries import enter_facts
from tests.documents.family import HOME
from tests.http.api import BASE_URL, MARIA, ROSA, Caller
from tests.worlds.limits import lifting

GOOD, NO_FUNDS, CLOSED, UNKNOWN_ACCOUNT = "123456789", "123459001", "123459002", "123459003"
"""Account numbers; by their last digits the simulated bank answers."""

WEEK = timedelta(days=7)


@dataclass
class Books:
    """An organization that pays for real by check, and three sandbox households that pay through the bank."""

    service: Database
    owner: Database
    worker: Database
    client: httpx.AsyncClient
    live: Caller
    test: Caller
    organization_id: UUID
    clock: FixedClock
    ring: KeyRing

    async def household(self, caller: Caller, account: str | None = None) -> str:
        response = await caller.post("/employers", MARIA | {"metadata": {"team": "west"}})
        assert response.status_code == 201, response.text
        employer_id = response.json()["data"]["id"]
        if account is not None:
            async with self.owner.transaction(None) as session:
                employer = await session.get_one(Employer, UUID(employer_id))
                await connect_household_account(
                    session,
                    self.ring,
                    self.operator(employer.sandbox),
                    employer,
                    _details(account),
                    self.clock.now(),
                )
        return employer_id

    async def employee(self, caller: Caller, employer_id: str, name: str, account: str | None = None) -> str:
        body = ROSA | {"employer_id": employer_id, "last_name": name, "metadata": {"name": name}}
        response = await caller.post("/employees", body)
        assert response.status_code == 201, response.text
        employee_id = response.json()["data"]["id"]
        if account is not None:
            async with self.owner.transaction(None) as session:
                employee = await session.get_one(Employee, UUID(employee_id))
                await connect_employee_account(
                    session,
                    self.ring,
                    self.operator(employee.sandbox),
                    employee,
                    _details(account),
                    self.clock.now(),
                )
        return employee_id

    async def run(
        self,
        caller: Caller,
        employer_id: str,
        start: date,
        entries: list[dict[str, Any]],
        *,
        key: str | None = None,
        **more: Any,
    ) -> str:
        body = {
            "employer_id": employer_id,
            "pay_period_start": start.isoformat(),
            "pay_period_end": (start + timedelta(days=6)).isoformat(),
            "pay_frequency": "weekly",
            "employees": entries,
            "confirm_ach_debit": True,
            "metadata": {"batch": "7"},
        } | more
        response = await caller.post("/payroll/run", body, idempotency_key=key)
        assert response.status_code == 200, response.text
        return response.json()["data"]["payroll_id"]

    async def void(self, caller: Caller, payroll_id: str) -> None:
        response = await caller.post(f"/payroll/{payroll_id}/void", {})
        assert response.status_code == 200, response.text

    async def issue_stub(self, caller: Caller, employer_id: str, payroll_id: str, employee_id: str) -> None:
        body = {"employer_id": employer_id, "payroll_id": payroll_id, "employee_id": employee_id}
        response = await caller.post("/documents/paystub", body)
        assert response.status_code == 200, response.text

    async def issue_year(self, caller: Caller, employer_id: str, employees: list[str]) -> None:
        """Everything of a year in one file, for which addresses and an EIN are told first."""
        for path in (f"/employers/{employer_id}", *(f"/employees/{each}" for each in employees)):
            told = await caller.client.patch(
                f"/api/v1{path}", json={"address": HOME}, headers=caller.headers()
            )
            assert told.status_code == 200, told.text
        async with self.owner.transaction(None) as session:
            employer = await session.get_one(Employer, UUID(employer_id))
            await keep_ein(session, self.ring, self.operator(employer.sandbox), employer, "12-3456789")
        body = {"employer_id": employer_id, "tax_year": 2026}
        response = await caller.post("/documents/year-package", body)
        assert response.status_code == 200, response.text

    async def keep_tax_ledger(self, caller: Caller, employer_id: str) -> None:
        """A payment to each of two agencies, one of them reversed and recorded again; a return taken back as well."""
        third_quarter = {"agency": "ca-edd", "account_type": "sui", "period": "2026-Q3", "amount": 100}
        installment = {"agency": "IRS", "account_type": "estimated-tax", "period": "2026-I4", "amount": 50.25}
        more = {"employer_id": employer_id, "paid_on": "2026-11-02", "method": "bank_account"}
        filing = {"employer_id": employer_id, "key": "CA/wages-quarterly/2026-Q3", "filed_on": "2026-10-28"}
        for path, body, reversed_at_once in (
            ("/tax-payments", third_quarter | more, True),
            ("/tax-payments", third_quarter | more, False),
            ("/tax-payments", installment | more, False),
            ("/filings", filing, True),
            ("/filings", filing, False),
        ):
            response = await caller.post(path, body)
            assert response.status_code == 201, response.text
            if reversed_at_once:
                told = response.json()["data"]
                done = await caller.post(f"{path}/{told.get('payment', told)['id']}/reverse", {})
                assert done.status_code == 200, done.text

    async def set_rule(self, employee_id: str, rule: SetAsideRule) -> None:
        async with self.owner.transaction(None) as session:
            employee = await session.get_one(Employee, UUID(employee_id))
            await escrow.set_rule(session, self.operator(employee.sandbox), employee, rule)

    async def pay_out(self, employee_id: str, amount: str, method: str) -> None:
        async with self.owner.transaction(None) as session:
            employee = await session.get_one(Employee, UUID(employee_id))
            await escrow.payout(
                session,
                self.operator(employee.sandbox),
                self.clock,
                employee,
                amount=Decimal(amount),
                method=method,
            )

    async def travel(self, day: date, hour: int = 16) -> None:
        """Let the days pass until then, with the worker's round at ten and after each cut-off."""
        end = datetime(day.year, day.month, day.day, hour, tzinfo=BUSINESS_TIME).astimezone(UTC)
        while self.clock.now() < end:
            local = self.clock.now().astimezone(BUSINESS_TIME)
            later = (
                local.replace(hour=16) if local.hour < 16 else (local + timedelta(days=1)).replace(hour=10)
            )
            self.clock.advance(later.astimezone(UTC) - self.clock.now())
            await generate_due(self.worker, self.clock, direct_deposit_enabled=False)
            report = await advance(self.worker, self.ring, None, self.clock)
            assert report.problems == ()
            await run_outbox_tasks(self.worker, self.ring, self.clock, NotificationSettings())

    async def fly(self, employer_id: str, employee_id: str, anchor: str, pay_days_after: int) -> None:
        """Pay the employee once by check, and enroll him in Autopilot."""
        await self.run(self.test, employer_id, date(2026, 11, 2), [_check(employee_id)])
        terms = EnrolledTerms(
            standard_hours=Decimal(40),
            frequency="weekly",
            anchor=date.fromisoformat(anchor),
            pay_days_after=pay_days_after,
        )
        requested = EnrollEmployee(
            employer_id=UUID(employer_id),
            employee_id=UUID(employee_id),
            terms=terms,
            agreement=Agreement(text_version=STANDING_TEXT_VERSION),
        )
        actor = self.operator(sandbox=True)
        async with self.service.transaction(actor.tenant) as session:
            await enroll(session, actor, self.clock, requested, direct_deposit_enabled=False)

    async def ask_autopilot(self, action: str, employer_id: str, employee_id: str) -> None:
        whose = {"employer_id": employer_id, "employee_id": employee_id}
        response = await self.test.post(f"/autopilot/{action}", whose)
        assert response.status_code == 200, response.text

    def operator(self, sandbox: bool) -> Actor:
        """The operator in one mode of the organization."""
        mode = "test" if sandbox else "live"
        return Actor("operator", None, self.organization_id, mode, frozenset(), "operator")


def _details(account: str) -> AccountDetails:
    return AccountDetails(
        parse_number("bank_routing", "021000021"), parse_number("bank_account", account), "checking", None
    )


def _deposit(employee_id: str, **more: Any) -> dict[str, Any]:
    return {"employee_id": employee_id, "regular_hours": 40, "payment_method": "direct_deposit"} | more


def _check(employee_id: str, **more: Any) -> dict[str, Any]:
    return {"employee_id": employee_id, "regular_hours": 38.5} | more


async def keep_books(service: Database, owner: Database, worker: Database) -> Books:
    """Two weeks of everything, from Friday, 20 November 2026, to the evening of Thursday, 3 December."""
    clock = FixedClock(datetime(2026, 11, 20, 15, tzinfo=UTC))
    async with owner.transaction(None) as session:
        organization = await accounts.create_organization(session, clock, "Lopez family")
        await session.execute(text(lifting(sandbox_households=9).replace(":", r"\:")))
        keys = [
            await accounts.create_key(session, clock, organization, mode=mode, scopes=SCOPES)
            for mode in ("live", "test")
        ]
    ring = KeyRing((EncryptionKey.generate(),))
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(create_app(service, clock, AppSettings(ring=ring))), base_url=BASE_URL
    )
    live, test = (Caller(client, key.text, key.id) for key in keys)
    books = Books(service, owner, worker, client, live, test, organization.id, clock, ring)
    await _pay_by_check(books)
    await _pay_through_the_bank(books)
    await enter_facts(books)
    return books


async def _pay_by_check(books: Books) -> None:
    live = books.live
    home = await books.household(live)
    rosa, ana = await books.employee(live, home, "Diaz"), await books.employee(live, home, "Ortiz")
    await books.set_rule(ana, SetAsideRule(rate=Decimal("0.05")))
    first = date(2026, 9, 7)
    wish = {"voluntary_set_aside": {"amount": 25}}
    await books.run(live, home, first, [_check(rosa, **wish), _check(ana)], key="first")
    wrong = await books.run(live, home, first + WEEK, [_check(rosa, bonus=500), _check(ana)], key="second")
    await books.issue_stub(live, home, wrong, rosa)
    await books.issue_stub(live, home, wrong, ana)
    await books.void(live, wrong)
    await books.issue_year(live, home, [rosa, ana])
    await books.issue_stub(live, home, wrong, rosa)
    await books.run(
        live, home, first + WEEK, [_check(rosa), _check(ana, payment_method="cash", overtime_hours=3)]
    )
    await books.run(live, home, first + 2 * WEEK, [_check(ana, voluntary_set_aside={"skip": True})])
    await books.run(live, home, first - WEEK, [_deposit(rosa, **wish)], notes="Catch-up")
    await books.pay_out(ana, "30.00", "cash")
    await books.keep_tax_ledger(live, home)


async def _pay_through_the_bank(books: Books) -> None:
    test = books.test
    home, poor, gone = [await books.household(test, account) for account in (GOOD, NO_FUNDS, CLOSED)]
    eva, ida = [await books.employee(test, home, name, GOOD) for name in ("Eva", "Ida")]
    moved = await books.employee(test, home, "Moved", UNKNOWN_ACCOUNT)
    await books.set_rule(eva, SetAsideRule(amount_cents=4_000))
    week = date(2026, 11, 9)
    await books.run(test, home, week, [_deposit(eva), _deposit(ida), _check(moved)], key="paid")
    await books.run(
        test, home, week + WEEK, [_deposit(ida), _deposit(moved, voluntary_set_aside={"amount": 10})]
    )
    await books.run(test, home, week - WEEK, [_deposit(moved, voluntary_set_aside={"amount": 9_999})])
    scheduled = [
        await books.run(test, home, week + n * WEEK, [_deposit(eva), _deposit(ida)], pay_date=pay_date)
        for n, pay_date in ((2, "2026-12-04"), (3, "2026-12-08"), (4, "2026-12-30"), (5, "2026-12-31"))
    ]
    await books.void(test, scheduled[-1])
    for employer_id in (poor, gone):
        nanny = await books.employee(test, employer_id, "Nanny", GOOD)
        cook = await books.employee(test, employer_id, "Cook")
        entries = [_deposit(nanny, voluntary_set_aside={"amount": 20}), _check(cook)]
        await books.run(test, employer_id, week, entries, pay_date="2026-11-30")
    flown = await books.household(test, GOOD)
    pia, quin, remy, sam = [
        await books.employee(test, flown, name, GOOD) for name in ("Pia", "Quin", "Remy", "Sam")
    ]
    await books.travel(date(2026, 11, 20), 14)
    await books.fly(flown, pia, "2026-11-16", 9)
    for each in (quin, remy, sam):
        await books.fly(flown, each, "2026-11-30", 0)
    await books.run(test, flown, date(2026, 11, 30), [_check(remy)])
    await books.ask_autopilot("pause", flown, sam)
    await books.travel(date(2026, 11, 27), 10)
    await books.ask_autopilot("skip", flown, quin)
    await books.pay_out(eva, "5.00", "direct_deposit")
    await books.pay_out(moved, "100.00", "direct_deposit")
    await books.travel(date(2026, 11, 30))
    await books.ask_autopilot("resume", flown, sam)
    await books.travel(date(2026, 12, 3))
