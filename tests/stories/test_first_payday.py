"""A fresh machine, and ten minutes later the first payday: wizard, portal, a payroll by check, its stub, a void.

What it takes is counted: run with `-s` to read the clicks and seconds.
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
    await _set_up(maria)
    link = await maria.page.locator(".secret").inner_text()
    await _enter_numbers(browser, address, link)
    await maria.follow("Continue")
    await maria.reads("How you pay")
    await maria.check("Check")
    await maria.press("Save and continue")
    await maria.reads("Setup")
    await maria.follow("Continue")

    await maria.reads("Run payroll")
    await maria.fill("Hours", "40")
    await maria.press("Review")
    await maria.reads("Review payroll")
    await maria.unfold("How we calculated this")
    await maria.unfold("Social Security")
    law = maria.page.locator("details.why[open]").get_by_text(maria.words("The law:"))
    await expect(law.first).to_be_visible()
    await maria.press("Pay {amount}", begins=True, amount="$")
    await maria.page.wait_for_url(_PAYROLL)
    await maria.sees("You pay by check or cash. We record it.")
    print(f"\nFrom the first link to the first payday, {way}: {maria.tally}")

    name, stub = await maria.save("Pay stub in Spanish" if way.language == "es" else "Pay stub in English")
    assert name.endswith(".pdf")
    assert stub.startswith(b"%PDF-")
    assert SSN not in await maria.page.content()
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


async def _set_up(maria: Housekeeper) -> None:
    """The wizard: household, employee, what is withheld, the invitation."""
    await maria.reads("Welcome to Hearthpay")
    for label, text in (
        ("Email address", MARIA),
        ("Your name", "Maria Rivera"),
        ("Household or company", "Rivera family"),
        ("Password", PASSWORD),
    ):
        await maria.fill(label, text)
    await maria.press("Make my account")
    await maria.reads("Password and two-step verification")
    await maria.follow("Home")

    await maria.reads("Your household")
    await maria.fill("Street address", "1 Elm Street")
    await maria.fill("City", "Oakland")
    await maria.fill("ZIP code", "94610")
    await maria.choose("State", "CA", said=False)
    await maria.press("Save and continue")

    await maria.reads("Add an employee")
    await maria.fill("First name", "Ana")
    await maria.fill("Last name", "López")
    await maria.fill("Hourly pay", "28.50")
    await maria.press("Save and continue")

    await maria.reads("What is withheld")
    await maria.check("Yes, we agreed on it")
    await maria.press("Save and continue")

    await maria.reads("Invitations")
    await maria.press("Make the link")


async def _enter_numbers(browser: Browser, address: str, link: str) -> None:
    """Ana's own browser: her number, which the household never sees."""
    context = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    ana = Housekeeper(await context.new_page(), Way(width=360))
    await ana.open(f"/portal/{link.rpartition('/')[2]}")
    await ana.reads("What is your Social Security number or ITIN?")
    await ana.fill("Social Security number", SSN)
    await ana.press("Continue")
    await ana.reads("Where do you get your mail?")
    await context.close()
