"""From signing in to the eve of the first payday, on a telephone, without a manual; and all of it at a look."""

from __future__ import annotations

import psycopg
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from hearthpay.people.sessions import SignedIn
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.looking import pictured
from tests.web.rows.world import World

pytestmark = pytest.mark.long


async def _sign_in(page: Page) -> None:
    await page.goto("/sign-in")
    await page.get_by_label("Email address").fill(MARIA)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def test_a_parent_sets_up_her_household_and_takes_it_up_again(
    browser: Browser, address: str, maria: SignedIn, owner_connection: psycopg.Connection
) -> None:
    """360 px wide; left after the employee, and gone on with from the overview."""
    context = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    page = await context.new_page()
    await _sign_in(page)
    await page.wait_for_url("**/app/start")
    await pictured(page, "start")
    await page.get_by_label("Street address").fill("1 Elm Street")
    await page.get_by_label("City").fill("Oakland")
    await page.get_by_label("ZIP code").fill("9461")
    await page.get_by_label("State").select_option("CA")
    await page.get_by_role("button", name="Save and continue").click()
    await expect(page.get_by_text("Enter a ZIP code, like 94110.")).to_be_visible()
    await expect(page.get_by_label("Street address")).to_have_value("1 Elm Street")
    await pictured(page, "start_problem")
    await page.get_by_label("ZIP code").fill("94610")
    await page.get_by_role("button", name="Save and continue").click()

    await page.get_by_role("heading", name="Add an employee").wait_for()
    await pictured(page, "employee_new")
    await page.get_by_label("First name").fill("Ana María")
    await page.get_by_label("Last name").fill("López-Fernández de la Torre")
    await page.locator("#pay_rate").fill("28,50 dollars")
    await page.get_by_label("Email address").fill("ana@example.com")
    await page.get_by_role("button", name="Save and continue").click()
    await expect(page.get_by_text("Enter an amount, like 28.50.")).to_be_visible()
    await expect(page.get_by_label("First name")).to_have_value("Ana María")
    await page.locator("#pay_rate").fill("$28.50")
    await page.get_by_role("button", name="Save and continue").click()

    await page.get_by_role("heading", name="What is withheld").wait_for()
    await pictured(page, "withholding")
    await context.close()

    again = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    page = await again.new_page()
    await _sign_in(page)
    await page.get_by_role("link", name="Continue setup").click()
    await pictured(page, "setup")
    await page.get_by_role("link", name="Continue", exact=True).click()
    await page.get_by_label("Yes, we agreed on it").check()
    await page.get_by_label("Regular allowances").fill("1")
    await page.get_by_role("button", name="Save and continue").click()
    await page.get_by_role("button", name="Send the invitation").first.click()
    await expect(page.locator(".secret")).to_be_visible()
    await pictured(page, "invitations")
    await page.get_by_role("link", name="Continue", exact=True).click()
    await pictured(page, "method")
    await page.get_by_label("Check").check()
    await page.get_by_role("button", name="Save and continue").click()
    await page.get_by_role("heading", name="Setup").wait_for()
    await expect(page.locator(".timeline .done")).to_have_count(5)
    await again.close()
    [(federal, state, language)] = owner_connection.execute(
        "SELECT federal_withholding, state_withholding, language FROM employees"
    ).fetchall()
    assert federal["elected"] is True
    assert state["regular_allowances"] == 1
    assert language == "en"


async def test_every_page_of_an_employee(at_home: Page, world: World) -> None:
    await world.pay()
    here = f"/app/{world.household_id}/employees/{world.employee_id}"
    for part in (
        "",
        "/change",
        "/rate",
        "/method",
        "/withholding",
        "/invitations",
        "/leave",
        "/set-aside",
        "/prior-wages",
    ):
        await at_home.goto(here + part)
        await pictured(at_home, f"employee{part.replace('/', '_')}")
    await at_home.goto(f"/app/{world.household_id}/household")
    await pictured(at_home, "household_settings")


async def test_the_pages_in_spanish(context: BrowserContext, at_home: Page, world: World) -> None:
    await world.pay()
    await at_home.goto("/settings/profile")
    await at_home.get_by_label("Language").select_option("es")
    await at_home.get_by_role("button", name="Save").first.click()
    await at_home.goto(f"/app/{world.household_id}")
    await expect(at_home.get_by_text("Pagos recientes").first).to_be_visible()
    await pictured(at_home, "overview_spanish")
    await at_home.goto(f"/app/{world.household_id}/employees/{world.employee_id}/withholding")
    await expect(at_home.get_by_text("Lo que se retiene").first).to_be_visible()
    await pictured(at_home, "withholding_spanish")
