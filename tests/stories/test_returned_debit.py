"""A returned debit, from the mail to the paid wages, by what a person sees: in Spanish, on a telephone."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import orjson
import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import BrowserContext

from hearthpay.app import AppSettings, create_app
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.payday.bank_day import Bank, advance
from hearthpay.people.sessions import SignedIn
from hearthpay.security.content_seal import SealedContent, mail_place, open_content
from hearthpay.security.key_ring import KeyRing
from tests.http.api import NewKey, data
from tests.lifecycle.forging import send_back
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.housekeepers import Housekeeper
from tests.stories.looking import pictured
from tests.stories.readers import Way
from tests.worlds.originator import ORIGINATOR
from tests.worlds.town import Town, new_family

pytestmark = pytest.mark.long

_RECEIPT = re.compile(r"/payrolls/[0-9a-f-]{36}/receipt$")


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank and a mail server."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, direct_deposit=True))


@pytest.fixture
def town(
    database: Database, worker_database: Database, clock: FixedClock, ring: KeyRing, tmp_path: Path
) -> Town:
    return Town(database, worker_database, clock, ring, Bank(ORIGINATOR, folder_gateway(tmp_path)), tmp_path)


@pytest.fixture
def way() -> Way:
    return Way("es", width=360)


async def test_from_the_mail_about_a_returned_debit_to_paid_wages(
    context: BrowserContext,
    address: str,
    way: Way,
    town: Town,
    ring: KeyRing,
    marias: SignedIn,
    new_key: NewKey,
    owner_connection: psycopg.Connection,
) -> None:
    family = await new_family(town, await new_key("Lopez"))
    maria = Housekeeper(await context.new_page(), way)
    await maria.sign_in(MARIA, PASSWORD)
    root = f"/app/{family.employer_id}"
    ran = data(await family.caller.post("/payroll/run", family.order()))

    # The day before, the debit stands first among the to-dos.
    await maria.open(root)
    amount = f"${ran['totals']['total_net_pay']:,.2f}"
    leaves = maria.words(
        "{amount} leaves your account on {debit_on}", amount=amount, debit_on="lunes 23 de noviembre"
    )
    assert await _first_row(maria) == leaves
    await _live_through(town, "2026-11-20", "2026-11-23")

    # It comes back: a mail says by when the money must be there, and its link leads to the same words.
    town.go_to("2026-11-24", 9)
    send_back(town, owner_connection, ran["payroll_id"], "debit", "R01")
    await _work(town)
    put = maria.words(
        "Put {amount} in your account by {fund_by}: we try again on {debit_on}",
        amount=amount,
        fund_by="martes 24 de noviembre",
        debit_on="miércoles 25 de noviembre",
    )
    text = _mail_to_household(owner_connection, ring)
    assert put in text
    [link] = re.findall(r"/app/\S+/payrolls/[0-9a-f-]+", text)
    await maria.open(link)
    await maria.sees("Your bank returned the debit")
    assert await maria.page.get_by_text(put).count() >= 1
    await pictured(maria.page, "returned_debit_payroll")
    await maria.open(root)
    assert await _first_row(maria) == put
    await pictured(maria.page, "returned_debit_home")

    # Nothing is put in. It was tried again; the bank answers, and returns it twice more.
    await _live_through(town, "2026-11-24", "2026-11-26")
    town.go_to("2026-11-27", 9)
    await _work(town)
    await maria.open(root)
    tried = maria.words(
        "We tried the {amount} debit again on {debit_on}: your bank answers by {answer_by}",
        amount=amount,
        debit_on="miércoles 25 de noviembre",
        answer_by="lunes 30 de noviembre",
    )
    assert await _first_row(maria) == tried
    for day in ("2026-11-30", "2026-12-03"):
        town.go_to(day, 9)
        send_back(town, owner_connection, ran["payroll_id"], "debit", "R01")
        await _live_through(town, day, str(date.fromisoformat(day) + timedelta(days=2)))

    # For good: how to pay is hers to choose. She writes a check, and nothing is left to do about it.
    await maria.come_back(root)
    choose = maria.words(
        "Choose how to pay {names}: your bank returned the {amount} debit", names="Rosa", amount=amount
    )
    assert await _first_row(maria) == choose
    await pictured(maria.page, "returned_debit_for_good")
    await maria.activate(maria.page.get_by_role("link", name=choose))
    await maria.page.wait_for_url(f"**{root}/payrolls/{ran['payroll_id']}")
    await maria.follow("Run payroll")
    await maria.reads("Run payroll")
    assert await maria.page.locator("#start").input_value() == "2026-11-16", "whose pay came back is proposed"
    await maria.fill("Hours", "40")
    await maria.choose("Paid by", "Check")
    await maria.fill("Payday", str(town.clock.today()))
    await maria.press("Review")
    await maria.sees("Step 2 of 2: Review")
    await maria.press("Record payroll")
    await maria.page.wait_for_url(_RECEIPT)
    await maria.open(root)
    await maria.is_home()
    assert await maria.page.locator("#group-money").count() == 0
    assert await maria.page.get_by_text(choose).count() == 0


def _mail_to_household(connection: psycopg.Connection, ring: KeyRing) -> str:
    """The text of the last mail that waits for the household."""
    [(mail_id, *sealed)] = connection.execute(
        "SELECT id, content, nonce, key_id FROM mail_outbox WHERE recipient = 'household' AND content IS NOT NULL "
        "ORDER BY id DESC LIMIT 1"
    ).fetchall()
    text: str = orjson.loads(open_content(ring, mail_place(mail_id), SealedContent(*sealed)))["text"]
    return text


async def _first_row(maria: Housekeeper) -> str:
    """The first thing to do on the home page."""
    await maria.is_home()
    await maria.page.locator("#group-money").wait_for()
    return await maria.page.locator(".group .rows a.go").first.inner_text()


async def _work(town: Town) -> None:
    """Let the worker do all that is due, and queue the mails."""
    await advance(
        town.worker, town.ring, town.bank, town.clock, notifications=NotificationSettings(sends=True)
    )


async def _live_through(town: Town, first: str, last: str) -> None:
    day = date.fromisoformat(first)
    while day <= date.fromisoformat(last):
        for hour in (9, 15):
            town.go_to(str(day), hour)
            await _work(town)
        day += timedelta(days=1)
