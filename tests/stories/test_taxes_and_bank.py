"""Taxes, state accounts, calendar and bank in real Chromium: from the first number typed to the papers of the year."""

from __future__ import annotations

import re

import psycopg
import pytest
from playwright.async_api import Page

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.documents.package_builder import make_next
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.employers.commands import PostalAddress
from hearthpay.mail.notices import NotificationSettings
from hearthpay.security.key_ring import KeyRing
from tests.stories.looking import held_small, pictured
from tests.web.rows.world import World

pytestmark = pytest.mark.long

EIN, ROUTING, ACCOUNT, STATE_NUMBER = "123456789", "322271627", "90817263544", "123-4567-8"
LONG = "Maximiliana-Guadalupe de la Santísima Trinidad"


async def test_from_the_first_number_to_the_papers(at_home: Page, world: World) -> None:
    page, root = at_home, f"/app/{world.household_id}"
    for part in ("taxes", "taxes/papers", "taxes/estimated", "state-accounts", "calendar", "bank"):
        await page.goto(f"{root}/{part}")
        await pictured(page, f"empty_{part.replace('/', '_')}")
    somebody = await world.employ(LONG, "Wolfeschlegelsteinhausen")
    for weeks_ago in (40, 30, 20, 9, 5, 2, 1, 0):
        await world.pay(weeks_ago=weeks_ago)
    await world.pay(somebody, weeks_ago=3, hours=60)
    await page.goto(f"{root}/taxes")
    await pictured(page, "taxes")
    await page.get_by_text("What counts, and what happens").first.click()
    assert await page.get_by_text("of this employee alone").first.is_visible()
    await pictured(page, "taxes_open")
    for part in ("owed", "wages", "estimated", "papers", "papers/wage-file", "papers/address"):
        await page.goto(f"{root}/taxes/{part}")
        await pictured(page, f"taxes_{part.replace('/', '_')}")
    await page.goto(f"{root}/taxes/papers")
    await page.get_by_role("button", name="Download Schedule H").click()
    await pictured(page, "taxes_missing")
    await _ein(page)
    await _address(page, root)
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download Schedule H").click()
    assert (await download.value).suggested_filename.endswith(".pdf")
    await page.goto(f"{root}/taxes/papers/issued")
    await pictured(page, "taxes_issued")
    await _state_number(page, root)
    await _calendar(page, root)
    await _ledger(page, root)
    await _bank(page, root)
    for part in ("state-accounts", "bank", "bank/authorization", "taxes/owed"):
        await page.goto(f"{root}/{part}")
        for number in (EIN, ROUTING, ACCOUNT, STATE_NUMBER):
            assert number not in await page.content()


async def test_the_papers_of_a_year_that_take_a_while(
    at_home: Page, world: World, worker_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    """More than can be drawn at once: asked for, looked at while they are drawn, downloaded."""
    page, root = at_home, f"/app/{world.household_id}"
    ana = await world.employ(LONG, "Wolfeschlegelsteinhausen")
    for each in (world.employee_id, ana):
        async with world.people_context.database.transaction(world.actor.tenant) as session:
            lives = ChangeEmployee(
                address=PostalAddress(line1="1 Oak St", city="Oakland", state="CA", zip="94601")
            )
            await update_employee(session, world.actor, clock, each, lives)
    for weeks_ago in range(27):
        await world.pay(world.employee_id, ana, weeks_ago=weeks_ago)
    await page.goto(f"{root}/state-accounts/ein")
    for label in ("EIN", "Confirm EIN"):
        await page.get_by_label(label, exact=True).fill(EIN)
    await page.get_by_role("button", name="Keep the number").click()
    await page.get_by_text("••-•••6789").wait_for()
    await _address(page, root)
    await page.goto(f"{root}/taxes/papers?year=2026")
    await page.get_by_role("link", name="Everything of the year").click()
    await page.get_by_role("button", name="Download").click()
    await page.wait_for_url("**/taxes/papers/packages/*")
    place = page.url
    for looked, most in (("begun", 0), ("drawn", 10), ("ready", 1_000)):
        budget = iter(range(most))
        await make_next(
            worker_database,
            ring,
            clock,
            NotificationSettings(),
            lambda budget=budget: next(budget, None) is None,
        )
        await page.goto(place)
        for held in (held_small, pictured):
            await held(page, f"package_{looked}")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download").click()
    assert (await download.value).suggested_filename == "household-payroll-2026.zip"


@pytest.mark.parametrize("language", ["en", "es"])
async def test_what_it_would_cost(
    at_home: Page, world: World, language: str, owner_connection: psycopg.Connection
) -> None:
    """The least and the most, an agreement of two states, another year's thresholds, and what is wrong."""
    page, root = at_home, f"/app/{world.household_id}"
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    await page.goto(f"{root}/taxes")
    await page.locator(f'a[href="{root}/taxes/cost"]').click()
    await pictured(page, f"cost_{language}_empty")
    await page.locator("#hourly_rate").fill("28.50")
    await page.locator("#weekly_hours").fill("30")
    await page.locator("form button.main").click()
    await page.wait_for_url("**hourly_rate=28.50**")
    await pictured(page, f"cost_{language}")
    await page.locator("#thresholds .tabs a").first.click()
    assert await page.locator('#thresholds a[aria-current="page"]').inner_text() == "2024"
    assert await page.locator("#hourly_rate").input_value() == "28.50"
    for name, query in (
        ("most", "state=DC&annual_wages=999999&pay_frequency=monthly"),
        ("approaching", "state=NY&annual_wages=2900"),
        ("agreement", "state=PA&annual_wages=45000&residence_state=NJ"),
        ("wrong", "state=ZZ&annual_wages=1e30&residence_state=ZZ&pay_frequency=daily"),
    ):
        await page.goto(f"{root}/taxes/cost?{query}")
        await pictured(page, f"cost_{language}_{name}")


async def _ein(page: Page) -> None:
    await page.get_by_role("link", name="Your employer identification number (EIN)").click()
    await pictured(page, "state_accounts")
    await page.get_by_role("link", name="Enter the number", exact=True).click()
    await page.get_by_label("EIN", exact=True).fill(EIN)
    await page.get_by_label("Confirm EIN").fill(EIN[:-1] + "0")
    await page.get_by_role("button", name="Save number").click()
    assert await page.locator("#ein_again-problem").get_by_text("The numbers don't match.").is_visible()
    await pictured(page, "state_accounts_ein")
    await page.get_by_label("EIN", exact=True).fill(EIN)
    await page.get_by_label("Confirm EIN").fill(EIN)
    await page.get_by_role("button", name="Save number").click()
    assert await page.get_by_text("••-•••6789").is_visible()


async def _address(page: Page, root: str) -> None:
    await page.goto(f"{root}/taxes/papers/address")
    for label, text in (
        ("Street address", "1 Oak Street"),
        ("City", "Oakland"),
        ("ZIP code", "94601"),
    ):
        await page.get_by_label(label).fill(text)
    await page.get_by_label("State", exact=True).select_option(label="California")
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url(re.compile(r"/taxes/papers\?year="))


async def _state_number(page: Page, root: str) -> None:
    await page.goto(f"{root}/state-accounts")
    await page.get_by_role("link", name="I applied").first.click()
    await page.get_by_role("button", name="I applied").click()
    assert await page.get_by_text("Pending").first.is_visible()
    await page.get_by_role("link", name=re.compile("Enter the number EDD")).click()
    await pictured(page, "state_accounts_number")
    await page.get_by_label("Number").fill(STATE_NUMBER)
    await page.get_by_role("button", name="Save number").click()
    assert await page.get_by_text("Number ending in 5678").is_visible()
    await pictured(page, "state_accounts_kept")
    await page.get_by_role("link", name=re.compile("Show the number")).click()
    await page.get_by_role("button", name="Show the number").click()
    assert await page.locator("#number").inner_text() == STATE_NUMBER
    await page.goto(f"{root}/state-accounts/CA/filing/sui")
    await pictured(page, "state_accounts_filing")
    await page.get_by_label("once a year").check()
    await page.get_by_role("button", name="Save").click()
    assert await page.get_by_text("You file once a year.").is_visible()


async def _calendar(page: Page, root: str) -> None:
    await page.goto(f"{root}/calendar")
    await pictured(page, "calendar")
    await page.locator("main .rows a").first.click()
    name = await page.locator("h1").inner_text()
    await pictured(page, "calendar_item")
    await page.get_by_text("Mark as done without details").click()
    await page.get_by_role("button", name="Mark as done").click()
    await page.get_by_text("Done (1)").click()
    await page.get_by_role("link", name=name).last.click()
    await page.get_by_role("button", name="Mark as not done").click()
    assert await page.get_by_text("Mark as done without details").is_visible()
    await page.goto(f"{root}/calendar/link")
    await page.get_by_role("button", name="Make a link").click()
    assert "/calendar/" in await page.locator("#link").inner_text()
    await pictured(page, "calendar_link")


async def _ledger(page: Page, root: str) -> None:
    """Record what was paid and filed, and reverse both."""
    await page.goto(f"{root}/taxes")
    owed = await page.locator("h1").inner_text()
    await page.get_by_role("link", name="Record a payment").first.click()
    await pictured(page, "taxes_payment_form")
    await page.get_by_role("button", name="Record payment").click()
    await page.wait_for_url(f"**{root}/taxes")
    assert await page.locator("h1").inner_text() != owed
    await pictured(page, "taxes_paid")
    await page.get_by_role("link", name="All payments").click()
    await pictured(page, "taxes_payments")
    await page.get_by_role("link", name=re.compile("Reverse")).click()
    await pictured(page, "taxes_payment_reverse")
    await page.get_by_label(re.compile("Reason")).fill("Recorded by mistake")
    await page.get_by_role("button", name="Reverse payment").click()
    await page.wait_for_url(f"**{root}/taxes")
    assert await page.locator("h1").inner_text() == owed
    await page.get_by_role("link", name=re.compile("EDD · ")).first.click()
    await page.get_by_label(re.compile("Confirmation number")).fill("0-418-229-304")
    await page.get_by_role("button", name="I filed it").click()
    await page.get_by_text("The figures as filed").click()
    assert await page.get_by_text("0-418-229-304").is_visible()
    await pictured(page, "calendar_item_filed")
    await page.get_by_role("link", name=re.compile("Reverse")).click()
    await pictured(page, "taxes_filing_reverse")
    await page.get_by_role("button", name="Reverse filing").click()
    assert await page.get_by_text(re.compile("^Reversed ")).is_visible()
    await pictured(page, "taxes_filings")


async def _bank(page: Page, root: str) -> None:
    await page.goto(f"{root}/bank")
    await page.get_by_role("link", name="Connect a bank account").click()
    await page.get_by_label("Routing number").fill("123456789")
    await page.get_by_label("Account number", exact=True).fill(ACCOUNT)
    await page.get_by_label("Confirm account number").fill(ACCOUNT)
    await page.get_by_label("Checking").check()
    await page.get_by_role("button", name="Connect the account").click()
    assert await page.get_by_label("Account number", exact=True).input_value() == ""
    await pictured(page, "bank_connect")
    for _ in ("once", "again"):
        await page.goto(f"{root}/bank/connect")
        await page.get_by_label("Routing number").fill(ROUTING)
        await page.get_by_label("Account number", exact=True).fill(ACCOUNT)
        await page.get_by_label("Confirm account number").fill(ACCOUNT)
        await page.get_by_label("Checking").check()
        await page.get_by_label("Name of the bank").fill("First Bank of Long Names and Longer Branches")
        await page.get_by_role("button", name="Connect the account").click()
    assert await page.get_by_text("…3544").first.is_visible()
    await pictured(page, "bank")
    await page.goto(f"{root}/bank/authorization")
    await page.get_by_label(re.compile("I authorize debits")).check()
    await page.get_by_role("button", name="Agree").click()
    assert await page.get_by_text("In effect").is_visible()
    await pictured(page, "bank_authorization")
    await page.goto(f"{root}/bank/disconnect")
    await pictured(page, "bank_disconnect")
