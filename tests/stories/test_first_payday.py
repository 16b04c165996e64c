"""A fresh machine, and ten minutes later the first payday: five questions, a payroll by check, its stub, a void.

What it takes is counted, and limited: run with `-s` to read the clicks, fields, screens, words and seconds.
"""

from __future__ import annotations

import re

import psycopg
import pytest
from playwright.async_api import Browser, BrowserContext, expect

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.people.first_owner import offer_first_owner
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.housekeepers import Housekeeper
from tests.stories.readers import Way

SSN = "123-45-6789"
_PAYROLL = re.compile(r"/payrolls/[0-9a-f-]{36}$")
_RECEIPT = re.compile(r"/payrolls/[0-9a-f-]{36}/receipt$")

in_each_way = pytest.mark.parametrize(
    "way",
    [
        Way(),
        pytest.param(Way("es"), marks=pytest.mark.long),
        pytest.param(Way(keyboard=True, width=360), marks=pytest.mark.long),
    ],
    ids=str,
)


@in_each_way
async def test_from_the_first_link_to_a_payday_and_back(
    context: BrowserContext,
    browser: Browser,
    address: str,
    way: Way,
    clock: FixedClock,
    owner_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    async with owner_database.transaction(None) as session:
        token = await offer_first_owner(session, clock)
    assert token is not None
    maria = Housekeeper(await context.new_page(), way)
    await maria.open(f"/welcome/{token.text}")
    await _make_an_account(maria)
    maria.tally.restart()
    await maria.set_up_household()
    setup = str(maria.tally)
    assert maria.tally.screens == 5
    assert maria.tally.clicks <= 8, setup
    assert maria.tally.fields <= 8, setup
    assert maria.tally.words <= 400, setup

    await maria.reads("Run payroll")
    await maria.fill("Hours", "40")
    await maria.press("Review")
    await maria.looks_at("Step 2 of 2: Review")
    await maria.sees("Held for taxes")
    await maria.sees(
        "We don’t send tax money. You file and pay these taxes. Your calendar has each date, and we remind you and "
        "prepare the forms."
    )
    counted = maria.tally.clicks
    await maria.unfold("Held for taxes")
    await maria.unfold("Social Security")
    steps = maria.page.locator("details[open] > .explain li").get_by_text("6.2%")
    await expect(steps.first).to_be_visible()
    maria.tally.clicks = counted  # no payroll needs this
    await maria.press("Record payroll")
    await maria.page.wait_for_url(_RECEIPT)
    await maria.sees("What to write on the check")
    await expect(maria.page.get_by_role("heading", name=re.compile(r"\$[\d,.]+")).first).to_be_visible()
    print(f"\nFrom the first question to the first payroll, {way}: {maria.tally}")
    assert maria.tally.clicks <= 12, maria.tally
    assert maria.tally.fields <= 10, maria.tally
    assert maria.tally.screens <= 8, maria.tally
    assert maria.tally.words <= 700, maria.tally

    receipt = maria.page.url
    await _enter_numbers(browser, address, await _make_the_link(maria))
    await maria.open(receipt)
    await maria.follow("View payroll")
    await maria.page.wait_for_url(_PAYROLL)
    name, stub = await maria.save("Pay stub in Spanish" if way.language == "es" else "Pay stub in English")
    assert name.endswith(".pdf")
    assert stub.startswith(b"%PDF-")
    assert SSN not in await maria.page.content()
    await maria.unfold("Something wrong?")
    await maria.follow("Void payroll")
    await maria.reads("Void this payroll?")
    await maria.fill("Why", "These were not the hours.")
    await maria.press("Void payroll")
    await maria.page.wait_for_url(_PAYROLL)
    await maria.sees("Voided")
    await maria.sees("These were not the hours.")
    await maria.go("Payroll")
    await maria.reads("Payroll")
    await maria.sees("Voided")
    told = owner_connection.execute(
        "SELECT p.status, count(*), sum(c.net_pay) FROM payrolls p JOIN paychecks c ON c.payroll_id = p.id GROUP BY 1"
    ).fetchall()
    assert told == [("voided", 2, 0)], "a paycheck, and what takes it back"


async def _make_an_account(maria: Housekeeper) -> None:
    """What the first owner enters: an address, a name and a password."""
    await maria.reads("Welcome to Hearthpay")
    for label, text in (("Email address", MARIA), ("Your name", "Maria Rivera"), ("Password", PASSWORD)):
        await maria.fill(label, text)
    await maria.press("Create account")


async def _make_the_link(maria: Housekeeper) -> str:
    """The link by which Ana enters her number, from her page."""
    await maria.go("Employees")
    await maria.page.get_by_role("link", name="Ana López").first.click()
    await maria.page.get_by_role("heading", name="Ana López", level=1).wait_for()
    await maria.follow("Invitations")
    await maria.reads("Invitations")
    await maria.press("Make the link")
    return await maria.page.locator(".secret").inner_text()


async def _enter_numbers(browser: Browser, address: str, link: str) -> None:
    """Ana's own browser: her number, which the household never sees."""
    context = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    ana = Housekeeper(await context.new_page(), Way(width=360))
    await ana.open(f"/portal/{link.rpartition('/')[2]}")
    await ana.reads("What is your Social Security number or ITIN?")
    await ana.fill("Social Security number or ITIN", SSN)
    await ana.press("Continue")
    await ana.reads("Where do you get your mail?")
    await context.close()
