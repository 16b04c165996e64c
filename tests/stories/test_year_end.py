"""Two states in one household, and the end of its year: what is owed where, Forms W-2 and Schedule H."""

from __future__ import annotations

import re
from datetime import datetime

import psycopg
import pytest
from playwright.async_api import Browser, BrowserContext, Locator

from hearthpay.clock import BUSINESS_TIME, FixedClock
from hearthpay.people.sessions import SignedIn
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.housekeepers import Housekeeper
from tests.stories.readers import Way
from tests.web.rows.world import World

pytestmark = pytest.mark.long

EIN = "98-7654321"
_RECEIPT = re.compile(r"/payrolls/[0-9a-f-]{36}/receipt$")


@pytest.mark.parametrize("way", [Way(), Way("es"), Way(keyboard=True, width=360)], ids=str)
async def test_two_states_and_the_papers_of_the_year(
    context: BrowserContext,
    browser: Browser,
    address: str,
    way: Way,
    clock: FixedClock,
    marias: SignedIn,
    world: World,
    owner_connection: psycopg.Connection,
) -> None:
    for weeks_ago in (40, 30, 20, 10, 1):
        await world.pay(weeks_ago=weeks_ago)
    root = f"/app/{world.household_id}"
    maria = Housekeeper(await context.new_page(), way)
    await maria.sign_in(MARIA, PASSWORD)
    await maria.is_home()
    await _hire_in_new_york(maria)
    await _pay_both(maria)

    # Each state has its own taxes, accounts and duties.
    await maria.go("Taxes")
    await maria.sees("By agency")
    await maria.follow("Each tax, with its law")
    await maria.reads("Taxes you owe")
    for agency in ("California", "New York"):
        await maria.page.get_by_text(agency).locator("visible=true").first.wait_for()
    await maria.go("State accounts")
    await maria.reads("State accounts")
    for account in ("EDD", "New York"):
        await maria.page.get_by_text(account).locator("visible=true").first.wait_for()

    # The year is over.
    clock.advance(datetime(2027, 1, 20, 10, tzinfo=BUSINESS_TIME) - clock.now())
    await maria.sign_in(MARIA, PASSWORD)
    await maria.is_home()
    await maria.open(f"{root}/taxes/papers?year=2026")
    await maria.reads("{year} tax forms and documents", year="2026")
    await maria.activate(_schedule_h(maria))
    await maria.reads("Something is missing")
    await maria.follow("Your employer identification number (EIN)")
    await maria.reads("State accounts")
    await maria.follow("Enter the number")
    await maria.fill("EIN", EIN)
    await maria.fill("Confirm EIN", EIN)
    await maria.press("Save number")
    await maria.reads("State accounts")
    await maria.open(f"{root}/taxes/papers/address")
    await maria.reads("Your address")
    for label, text in (
        ("Street address", "1 Oak Street"),
        ("City", "Oakland"),
        ("ZIP code", "94601"),
    ):
        await maria.fill(label, text)
    await maria.choose("State", "California", said=False)
    await maria.press("Save")
    await maria.page.wait_for_url(re.compile(r"/taxes/papers\?year="))
    for name, number in (("Rosa Diaz", "123-45-6789"), ("Nina Vega", "234-56-7890")):
        await _asks_for_number(maria, browser, address, root, name, number)

    await maria.open(f"{root}/taxes/papers?year=2026")
    name, paper = await maria.save_by(_schedule_h(maria))
    assert name.endswith(".pdf")
    assert paper.startswith(b"%PDF-")
    for who in ("Rosa Diaz", "Nina Vega"):
        await maria.open(f"{root}/taxes/papers?year=2026")
        await maria.activate(
            maria.page.get_by_role("link", name=f"{maria.words('Form W-2')} {who}", exact=True)
        )
        await maria.reads("Form W-2 of {name}", name=who)
        name, paper = await maria.save_by(maria.page.get_by_role("button", name=maria.words("Download")))
        assert name.endswith(".pdf")
        assert paper.startswith(b"%PDF-")
    await maria.open(f"{root}/taxes/papers/issued")
    await maria.sees("Schedule H")
    for number in (EIN, EIN.replace("-", ""), "123-45-6789", "123456789"):
        assert number not in await maria.page.content()
    kinds = owner_connection.execute(
        "SELECT kind, count(*) FROM documents WHERE tax_year = 2026 GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert kinds == [("schedule_h", 1), ("w2", 2)]


def _schedule_h(maria: Housekeeper) -> Locator:
    return maria.page.get_by_role("button", name=maria.words("Schedule H"))


async def _hire_in_new_york(maria: Housekeeper) -> None:
    await maria.go("Employees")
    await maria.follow("Add an employee")
    await maria.reads("Add an employee")
    for label, text in (("First name", "Nina"), ("Last name", "Vega"), ("Hourly pay", "31.00")):
        await maria.fill(label, text)
    await maria.fill("First day of work", "2026-11-09")
    await maria.choose("Pay schedule", "Every week")
    await maria.choose("Work state", "New York", said=False)
    await maria.press("Save")
    await maria.page.get_by_role("heading", name="Nina Vega", level=1).wait_for()
    await maria.follow("Change what is withheld")
    await maria.reads("What is withheld")
    await maria.page.get_by_role("heading", name=re.compile("New York")).first.wait_for()
    await maria.check("Yes, we agreed on it")
    await maria.choose("State where your employee lives", "New York", said=False)
    await maria.press("Save")
    await maria.page.get_by_role("heading", name="Nina Vega", level=1).wait_for()


async def _pay_both(maria: Housekeeper) -> None:
    await maria.go("Payroll")
    await maria.follow("Run payroll")
    await maria.reads("Run payroll")
    for name in ("Nina Vega", "Rosa Diaz"):
        person = maria.page.get_by_role("group", name=name)
        await maria.type_into(person.locator("input[name^=regular_]"), "38")
    await maria.press("Review")
    await maria.sees("Step 2 of 2: Review")
    folds = maria.page.locator("summary", has_text=maria.words("Held for taxes"))
    for number in range(2):
        await maria.activate(folds.nth(number))
    for law in ("California", "New York"):
        await maria.page.get_by_text(law).locator("visible=true").first.wait_for()
    await maria.press("Record payroll")
    await maria.page.wait_for_url(_RECEIPT)


async def _asks_for_number(
    maria: Housekeeper, browser: Browser, address: str, root: str, name: str, number: str
) -> None:
    """Maria makes a link, and the employee enters number and address in a browser of her own."""
    await maria.open(f"{root}/employees")
    await maria.follow(name)
    await maria.follow("Invitations")
    await maria.reads("Invitations")
    await maria.activate(maria.page.locator("form:has(input[value=tax_info]) button").first)
    link = await maria.page.locator(".secret").inner_text()
    context = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    hers = Housekeeper(await context.new_page(), Way(width=360))
    await hers.open(f"/portal/{link.rpartition('/')[2]}")
    await hers.fill("Social Security number", number)
    await hers.press("Continue")
    await hers.reads("Where do you get your mail?")
    for label, text in (
        ("Street and number, or PO box", "2 Pine Street"),
        ("City", "Oakland"),
        ("ZIP code", "94602"),
    ):
        await hers.fill(label, text)
    await hers.page.get_by_label("State", exact=True).select_option(label="California")
    await hers.press("Continue")
    await hers.reads("How much income tax should be withheld?")
    await hers.follow("Not now")
    await hers.reads(f"Thank you, {name.partition(' ')[0]}")
    await context.close()
