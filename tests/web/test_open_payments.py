"""A returned debit on every day, wherever it is told: the same words, and no day is to come that has passed."""

from __future__ import annotations

import html
import re
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi import FastAPI
from icalendar import Calendar

from hearthpay.access.actor import Actor
from hearthpay.app import AppSettings, create_app
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.feed import make_link
from hearthpay.employers.models import Employer
from hearthpay.mail.mailer import Mailer
from hearthpay.payroll.issues.open_payment_rows import read_open_payments
from hearthpay.payroll.issues.open_payment_words import payment_text
from hearthpay.payroll.issues.open_payments import OpenPayment
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.people.context import PeopleContext
from hearthpay.people.recipients import NoticeReader
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.todos.reminders import duties_due_mail
from hearthpay.todos.service import read_agenda
from mcp import Client
from tests.http.api import NewKey, data
from tests.lifecycle.forging import send_back
from tests.mcp.agents import ask, hosted_agent
from tests.web.people_browser import HOME, Browser
from tests.web.test_pages_by_role import _browser, people, people_context
from tests.worlds.originator import ORIGINATOR
from tests.worlds.town import Family, Town, new_family

__all__ = ["people", "people_context"]

AHEAD = ("Arrives {day}", "Next payday, {day}", "Then the pay arrives {day}")
"""Sentences of pages that promise a day."""

_WHEN = r"[A-Z][a-z]{2}, [A-Z][a-z]{2} \d{1,2}"


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    settings = AppSettings(public_url=HOME, ring=ring, mailer=mailer, direct_deposit=True)
    app = create_app(database, clock, settings)
    app.state.people_context = PeopleContext(
        database, clock, ring, app.state.people_context.throttle, sends_mail=True, no_sooner_than=0
    )
    return app


@pytest.fixture
def town(
    database: Database, worker_database: Database, clock: FixedClock, ring: KeyRing, tmp_path: Path
) -> Town:
    return Town(database, worker_database, clock, ring, Bank(ORIGINATOR, folder_gateway(tmp_path)), tmp_path)


class Faces:
    """Everything that tells of a household's payments, looked at on one day after the other."""

    def __init__(self, app: FastAPI, town: Town, family: Family, owner: psycopg.Connection) -> None:
        self.app, self.town, self.family, self.owner = app, town, family, owner
        self.household = UUID(family.employer_id)
        self.feed = ""
        self.promised: set[str] = set()
        """The sentences of pages that were found to promise a day."""

    async def open(self) -> None:
        """Make the link of the calendar's feed, as the operator."""
        async with self.town.worker.transaction(None) as session:
            employer = await session.get_one(Employer, self.household)
        actor = Actor.operator(employer.organization_id, sandbox=False, request_id="req_calendar")
        async with self.town.database.transaction(actor.tenant) as session:
            employer = await session.get_one(Employer, self.household)
            self.feed = f"/calendar/{(await make_link(session, actor, self.town.clock, employer)).text}.ics"

    async def expected(self) -> list[OpenPayment]:
        async with self.town.worker.transaction(None) as session:
            return await read_open_payments(session, [self.household], self.town.clock.now())

    async def agree(self, browser: Browser, agent: Client, payroll_id: str) -> list[OpenPayment]:
        """Hold every face against what is open now, and return that."""
        today = self.town.clock.today()
        expected = await self.expected()
        told = [payment_text(each, "en") for each in expected]
        await self._api_and_agent(agent, expected, told)
        await self._pages(browser, payroll_id, told, today)
        self.owner.execute("UPDATE people SET language = 'es'")
        page = _text(await browser.look(f"/app/{self.household}"))
        self.owner.execute("UPDATE people SET language = 'en'")
        for each in expected:
            assert payment_text(each, "es") in page
        await self._feed_and_mail(expected, told, today)
        return expected

    async def _api_and_agent(self, agent: Client, expected: list[OpenPayment], told: list[str]) -> None:
        found = data(await self.family.caller.get("/to-dos", employer_id=str(self.household)))
        assert [each["payment"] is not None for each in found[: len(told)]] == [True] * len(told), "first"
        payments = [each for each in found if each["payment"]]
        assert sorted(each["title"] for each in payments) == sorted(told)
        for each in expected:
            [row] = [row for row in payments if row["title"] == payment_text(each, "en")]
            assert (row["kind"], row["amount"]) == (each.kind, each.amount / 100)
            days = ("debit_on", "fund_by", "answer_by", "arrives_on", "until", "pay_date")
            assert {name: row["payment"][name] for name in days} == {
                name: None if getattr(each, name) is None else str(getattr(each, name)) for name in days
            }
        if any(each.names for each in expected):
            assert "run_payroll" not in {each["kind"] for each in found}, "it was run"
        answer = await ask(agent, "list_to_dos", employer_id=str(self.household))
        assert [each for each in answer["data"] if each["payment"]] == payments

    async def _pages(self, browser: Browser, payroll_id: str, told: list[str], today: date) -> None:
        pages = {
            path: _text(await browser.look(path))
            for path in (
                "/households",
                f"/app/{self.household}",
                f"/app/{self.household}/payrolls/{payroll_id}",
            )
        }
        home = pages[f"/app/{self.household}"]
        for each in told:
            assert each in pages["/households"]
            assert each in home
        if told:
            first = re.search(r"<section class=\"group\" aria-labelledby=\"group-(\w+)\"", home)
            assert first is not None
            assert first[1] == "money"
        else:
            assert "group-money" not in home
        for path, page in pages.items():
            for sentence in AHEAD:
                for found in re.findall(re.escape(sentence).replace(r"\{day\}", f"({_WHEN})"), page):
                    day = datetime.strptime(f"{found} {today.year} +0000", "%a, %b %d %Y %z").date()
                    assert day >= today, (path, sentence, found)
                    self.promised.add(sentence)

    async def _feed_and_mail(self, expected: list[OpenPayment], told: list[str], today: date) -> None:
        response = await self.family.caller.client.get(self.feed)
        calendar = Calendar.from_ical(response.content)
        entries = {(str(each["SUMMARY"]), each.decoded("DTSTART")) for each in calendar.walk("VEVENT")}
        for each in expected:
            if each.due_on is not None:
                assert (payment_text(each, "en"), each.due_on) in entries
        async with self.town.worker.transaction(None) as session:
            employer = await session.get_one(Employer, self.household)
            agenda = await read_agenda(session, employer, self.town.clock.now(), today)
        payments = [each for each in agenda.to_dos if each.payment is not None]
        assert list(agenda.to_dos[: len(payments)]) == payments
        due = [each for each in agenda.to_dos if each.payment is None and each.due_on is not None]
        mail = duties_due_mail(NoticeReader("m@example.com", "en"), "Maria", due[:1], (), today, payments)
        for sentence in told:
            assert f"{sentence}." in mail.text


def _text(response: Any) -> str:
    assert response.status_code == 200, response.text
    return html.unescape(response.text).replace("\u00a0", " ")


@pytest.fixture
async def faces(
    app: FastAPI,
    town: Town,
    people: dict[str, SignedIn],
    new_key: NewKey,
    owner_connection: psycopg.Connection,
) -> Faces:
    family = await new_family(town, await new_key("Lopez"))
    found = Faces(app, town, family, owner_connection)
    await found.open()
    return found


async def test_a_returned_debit_is_told_alike_on_every_day_until_the_wages_are_paid(
    faces: Faces, town: Town, owner_connection: psycopg.Connection
) -> None:
    family = faces.family
    browser = await _browser(faces.app, "owner", town.clock)
    ran = data(await family.caller.post("/payroll/run", family.order()))["payroll_id"]
    seen: dict[str, list[str]] = {}
    day = date(2026, 11, 20)
    async with hosted_agent(faces.app, family.caller.key) as agent:
        while day <= date(2026, 12, 7):
            town.go_to(str(day), 9)
            if day in RETURNED_ON:
                send_back(town, owner_connection, ran, "debit", "R01")
            await town.work()
            if f"{day:%m-%d}" in EXPECTED:
                found = await faces.agree(browser, agent, ran)
                seen[f"{day:%m-%d}"] = [each.stage for each in found]
            town.go_to(str(day), 15)
            await town.work()
            day += timedelta(days=1)
        assert seen == EXPECTED
        assert faces.promised == set(AHEAD)
        again = family.order(pay_date="2026-12-07", confirm_ach_debit=False)
        again["employees"][0]["payment_method"] = "check"
        data(await family.caller.post("/payroll/run", again))
        assert await faces.agree(browser, agent, ran) == []


async def test_a_held_deposit_and_a_debit_without_authorization_are_told_alike_until_they_end(
    faces: Faces, town: Town, owner_connection: psycopg.Connection
) -> None:
    family, owner = faces.family, owner_connection
    browser = await _browser(faces.app, "owner", town.clock)
    ran = data(await family.caller.post("/payroll/run", family.order()))["payroll_id"]
    later = {"pay_period_start": "2026-11-23", "pay_period_end": "2026-11-29", "pay_date": "2026-12-07"}
    scheduled = data(await family.caller.post("/payroll/run", family.order(**later)))["payroll_id"]
    fail = (
        "UPDATE bank_accounts SET status = 'failed', reason = 'Account closed (R02).' WHERE employee_id = %s"
    )

    async def at(day: str, hour: int = 15) -> None:
        town.go_to(day, hour)
        await town.work()

    async with hosted_agent(faces.app, family.caller.key) as agent:

        async def stages(payroll_id: str) -> list[str]:
            return sorted(each.stage for each in await faces.agree(browser, agent, payroll_id))

        await at("2026-11-20")
        await at("2026-11-25")
        assert await stages(ran) == []
        owner.execute(fail, (family.employee_id,))
        await at("2026-11-27")
        assert await stages(ran) == ["choose"]
        remedy = f"/payroll/{ran}/paychecks/{family.employee_id}/remedy"
        data(await family.caller.post(remedy, {"action": "wait_for_account", "until": "2026-12-04"}))
        owner.execute("UPDATE ach_authorizations SET revoked_at = authorized_at")
        assert await stages(scheduled) == ["authorize", "waits"]
        data(await family.caller.post(remedy, {"action": "pay_by_check"}))
        assert await stages(ran) == ["authorize"]
        await at("2026-12-01", 9)
        assert await stages(scheduled) == ["authorize_held"]
        await at("2026-12-02", 9)
        assert await stages(scheduled) == ["authorize_held"]
        data(await family.caller.post(f"/payroll/{scheduled}/void", {}))
        assert await stages(scheduled) == []


RETURNED_ON = (date(2026, 11, 24), date(2026, 11, 30), date(2026, 12, 3))
EXPECTED = {
    "11-20": ["leaves"],
    "11-22": ["leaves"],
    "11-23": ["leaves"],
    "11-24": ["fund"],
    "11-25": ["retry"],
    "11-26": ["answer_awaited"],
    "11-29": ["answer_awaited"],
    "11-30": ["fund"],
    "12-01": ["retry"],
    "12-02": ["answer_awaited"],
    "12-03": ["unpaid"],
    "12-07": ["unpaid"],
}
"""What is open on the days that are looked at, which are those before, on and after each that matters."""
