"""Direct deposit through the simulated bank, with a travelling clock: bank, payday, and a deposit that comes back."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext

from hearthpay.app import AppSettings, create_app
from hearthpay.banking.account_changes import WAITS, connect_due
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.housekeepers import Housekeeper
from tests.stories.readers import Way
from tests.worlds.originator import ORIGINATOR
from tests.worlds.town import Town

pytestmark = pytest.mark.long

ROUTING, GOOD, HERS, CLOSED = "021000021", "5555000011", "5555000022", "5555009003"
"""What an account ends with is how the simulated bank answers: 9003 sends everything back, as not to be found."""
_PAYROLL = re.compile(r"/payrolls/[0-9a-f-]{36}$")
_RECEIPT = re.compile(r"/payrolls/[0-9a-f-]{36}/receipt$")


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank; a test household's money goes to the simulated one."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, direct_deposit=True))


@pytest.fixture
def town(
    database: Database, worker_database: Database, clock: FixedClock, ring: KeyRing, tmp_path: Path
) -> Town:
    return Town(database, worker_database, clock, ring, Bank(ORIGINATOR, folder_gateway(tmp_path)), tmp_path)


@pytest.mark.parametrize("way", [Way(), Way("es"), Way(keyboard=True, width=360)], ids=str)
async def test_money_moves_and_one_day_cannot(
    context: BrowserContext,
    browser: Browser,
    address: str,
    way: Way,
    town: Town,
    ring: KeyRing,
    marias: SignedIn,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    maria = Housekeeper(await context.new_page(), way)
    await maria.sign_in(MARIA, PASSWORD)
    root = await _test_household(maria)
    await _connect(maria)
    await _ana_connects(maria, browser, address, HERS)
    await town.live_through("2026-11-20", "2026-12-01")

    # The accounts are verified; a payroll is approved, collected, and arrives.
    await _back(maria, root)
    await maria.go("Bank")
    await maria.reads("Bank")
    await maria.sees("Verified")
    await _run(maria, first=True)
    payroll = maria.page.url
    await maria.sees("Approved")
    [(pay_date,)] = owner_connection.execute("SELECT pay_date::text FROM payrolls").fetchall()
    seen = set()
    for day in _days("2026-12-01", pay_date):
        await town.live_through(day, day)
        await maria.open(payroll)
        for words in ("Approved", "The money was collected", "All payments arrived"):
            if await maria.page.locator(".timeline").get_by_text(maria.words(words), exact=True).count():
                seen.add(words)
    assert seen == {"Approved", "The money was collected", "All payments arrived"}

    # Ana gives another account, which waits a day, and which her bank does not know: the next deposit comes back.
    await _ana_connects(maria, browser, address, CLOSED)
    town.clock.advance(WAITS)
    assert await connect_due(worker_database, ring, town.clock) == 1
    await _back(maria, root)
    await _run(maria, first=False)
    payroll = maria.page.url
    [(pay_date,)] = owner_connection.execute("SELECT max(pay_date)::text FROM payrolls").fetchall()
    await town.live_through(town.clock.today().isoformat(), pay_date)
    await town.live_through(pay_date, (town.clock.today() + timedelta(days=5)).isoformat())
    await _back(maria, root)
    await maria.activate(maria.page.locator("#group-money ~ .rows a.go").first)
    await maria.page.wait_for_url(payroll)
    assert await maria.page.locator(".notice.wrong").count() == 1
    told = owner_connection.execute(
        "SELECT recipient, status, reason FROM mail_outbox WHERE payroll_id IS NOT NULL ORDER BY id"
    ).fetchall()
    assert told, "the household and the employee are told"
    assert {status for _, status, _ in told} == {"withheld"}, "of a test household nothing leaves"

    # What was collected came back; the wages are still owed, and are paid by check.
    await maria.follow("Run payroll")
    await maria.reads("Run payroll")
    days = [await maria.page.locator(f"#{name}").input_value() for name in ("start", "end")]
    assert days == ["2026-11-30", "2026-12-06"], "those whose pay came back are proposed"
    await maria.fill("Hours", "40")
    await maria.choose("Paid by", "Check")
    await maria.fill("Payday", town.clock.today().isoformat())
    await maria.press("Review")
    await maria.sees("Step 2 of 2: Review")
    await maria.press("Record payroll")
    await maria.page.wait_for_url(_RECEIPT)
    await maria.sees("What to write on the check")
    settled = owner_connection.execute(
        "SELECT kind, count(*), sum(amount) FROM bank_entries WHERE status = 'settled' AND payroll_id IS NOT NULL "
        "GROUP BY 1"
    ).fetchall()
    amounts = {kind: amount for kind, _, amount in settled}
    assert amounts["debit"] == amounts["credit"] + amounts["refund"], (
        "what was collected was paid, or given back"
    )


def _days(first: str, last: str) -> list[str]:
    day, until = date.fromisoformat(first), date.fromisoformat(last)
    return [(day + timedelta(days=each)).isoformat() for each in range((until - day).days + 1)]


async def _test_household(maria: Housekeeper) -> str:
    """A household of the sandbox, with somebody who is to be paid through the bank; where its pages are."""
    await maria.reads("Who are you, and in which state?")
    await maria.open("/households")
    await maria.choose("Households", "Test")
    await maria.press("Switch")
    await maria.reads("Who are you, and in which state?")
    await maria.sees("Test mode: no real money moves.")
    await maria.set_up_household(start_date="2026-11-20", payment_method="Direct deposit")
    await maria.reads("You’re ready for the first payroll")
    return maria.page.url.removesuffix("/setup")


async def _connect(maria: Housekeeper) -> None:
    await maria.go("Bank")
    await maria.follow("Connect a bank account")
    await maria.reads("Connect a bank account")
    for label, text in (
        ("Routing number", ROUTING),
        ("Account number", GOOD),
        ("Confirm account number", GOOD),
    ):
        await maria.fill(label, text)
    await maria.check("Checking")
    await maria.press("Connect the account")
    await maria.reads("Bank")


async def _ana_connects(maria: Housekeeper, browser: Browser, address: str, account: str) -> None:
    """Maria makes a link, and Ana enters her account in a browser of her own."""
    await maria.go("Employees")
    await maria.follow("Ana López")
    await maria.follow("Invitations")
    await maria.reads("Invitations")
    await maria.activate(maria.page.locator("form:has(input[value=bank_account]) button").first)
    await maria.page.locator(".secret, #password").first.wait_for()
    if await maria.page.locator("#password").count():
        await maria.prove()
        await maria.press("Send")
    link = await maria.page.locator(".secret").inner_text()
    context = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    ana = Housekeeper(await context.new_page(), Way(width=360))
    await ana.open(f"/portal/{link.rpartition('/')[2]}")
    await ana.reads("Your bank account")
    await ana.sees("This is a test household")
    for label, text in (
        ("Routing number", ROUTING),
        ("Account number", account),
        ("Confirm account number", account),
    ):
        await ana.fill(label, text)
    await ana.check("Checking")
    await ana.press("Save")
    await ana.page.get_by_role("heading", name="Thank you, Ana").wait_for()
    await context.close()


async def _back(maria: Housekeeper, root: str) -> None:
    """Come back days later: who signs in anew looks at her real households first."""
    await maria.come_back(root)
    if await maria.page.get_by_role("heading", name=maria.words("This is a test household")).count():
        await maria.press("Switch to test households")
        await maria.is_home()


async def _run(maria: Housekeeper, *, first: bool) -> None:
    await maria.go("Payroll")
    await maria.follow("Run payroll")
    await maria.reads("Run payroll")
    await maria.fill("Hours", "40")
    await maria.press("Review")
    await maria.sees("Step 2 of 2: Review")
    if await maria.page.get_by_role("link", name=maria.words("Confirm it's me"), exact=True).count():
        await maria.follow("Confirm it's me")
        await maria.prove()
        await maria.sees("Step 2 of 2: Review")
    if first:
        await maria.check("I authorize this debit, and debits for payrolls I approve in the next 30 days")
    await maria.press("Approve payroll")
    await maria.page.wait_for_url(_RECEIPT)
    await maria.sees("What happens on which day")
    await maria.follow("View payroll")
    await maria.page.wait_for_url(_PAYROLL)
