"""From signing in to the eve of the first payday, on a phone, without a manual; and all of it at a look."""

from __future__ import annotations

import psycopg
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from hearthpay.people.sessions import SignedIn
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.housekeepers import Housekeeper
from tests.stories.looking import pictured
from tests.stories.readers import Way
from tests.web.rows.world import World

pytestmark = pytest.mark.long


async def _sign_in(page: Page) -> None:
    await page.goto("/sign-in")
    await page.get_by_label("Email address").fill(MARIA)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


@pytest.mark.parametrize("language", ["en", "es"])
async def test_a_parent_sets_up_her_household_and_takes_it_up_again(
    browser: Browser, address: str, maria: SignedIn, owner_connection: psycopg.Connection, language: str
) -> None:
    """360 px wide; left in the middle of a question, and continued from home, without a word lost."""
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    context = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    maria_at = Housekeeper(await context.new_page(), Way(language, width=360))
    page, words = maria_at.page, maria_at.words
    await _sign_in(page)
    await page.wait_for_url("**/app/start")
    await pictured(page, f"setup_household_{language}")
    await maria_at.fill("Street address", "1 Elm Street")
    await maria_at.fill("City", "Philadelphia")
    await maria_at.fill("ZIP code", "9461")
    await maria_at.choose("State", "Pennsylvania", said=False)
    await maria_at.press("Continue")
    await _mistake(maria_at, "Enter a ZIP code, like 94110.", "address_zip")
    await expect(page.get_by_label(words("Street address"))).to_have_value("1 Elm Street")
    await pictured(page, f"setup_problem_{language}")
    await maria_at.fill("ZIP code", "19103")
    await maria_at.press("Continue")

    await maria_at.reads("Who works for you?")
    await pictured(page, f"setup_person_{language}")
    await maria_at.fill("First name", "Ana María")
    await maria_at.fill("Last name", "López-Fernández de la Torre")
    await maria_at.fill("Email address", "ana@example.com")
    await maria_at.choose("Place with a local tax", "Philadelphia", said=False)
    await maria_at.press("Continue")
    await maria_at.reads("How much do you pay {name}?", name="Ana María")
    await pictured(page, f"setup_pay_{language}")
    await maria_at.fill("Pay in dollars", "28,50 dollars")
    await maria_at.fill("Usual hours a week", "20")
    await page.keyboard.press("Enter")  # the button that continues, not the one that leaves
    await _mistake(maria_at, "Enter an amount, like 28.50.", "pay")
    await maria_at.fill("Pay in dollars", "$28.50")
    await maria_at.press("Continue")
    await maria_at.reads("How often do you pay {name}?", name="Ana María")
    await pictured(page, f"setup_frequency_{language}")
    await maria_at.check("Every week")
    await maria_at.press("Save and leave")
    await maria_at.reads("Welcome, {name}. One question to your first payroll.", name="Maria")
    await context.close()

    again = await browser.new_context(base_url=address, viewport={"width": 360, "height": 740})
    maria_at = Housekeeper(await again.new_page(), Way(language, width=360))
    page = maria_at.page
    await _sign_in(page)
    await maria_at.reads("Welcome, {name}. One question to your first payroll.", name="Maria")
    await pictured(page, f"setup_{language}")
    await maria_at.activate(page.locator(".btn.main"))
    await maria_at.reads("How do you pay {name}?", name="Ana María")
    await pictured(page, f"setup_method_{language}")
    await maria_at.check("Direct deposit")
    await maria_at.press("Continue")
    await maria_at.reads("You’re ready for the first payroll")
    await pictured(page, f"setup_done_{language}")
    await again.close()
    found = owner_connection.execute(
        "SELECT pay_rate_cents, pay_frequency, payment_method, localities, setup_question FROM employees"
    ).fetchall()
    assert found == [(2850, "weekly", "direct_deposit", ["PHILADELPHIA"], None)]


async def _mistake(at: Housekeeper, text: str, field: str) -> None:
    """The title says that there is an error, the summary has the focus, and its link leads to the field."""
    link = at.page.get_by_role("link", name=at.words(text))
    await link.wait_for()
    assert (await at.page.title()).startswith("Error: ")
    assert await at.page.locator(".errors").evaluate("e => e === document.activeElement")
    await link.click()
    assert await at.page.locator(f"#{field}").evaluate("e => e === document.activeElement")


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
