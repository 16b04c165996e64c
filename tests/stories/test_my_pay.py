"""An employee in real Chromium: link, account, pay stub, Form W-4, a new bank account; by keyboard, in Spanish."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from playwright.async_api import BrowserContext, Page, expect

from hearthpay.security.key_ring import KeyRing
from tests.http.api import ROSA, Account, data
from tests.people.visitors import PASSWORD, mails
from tests.stories.looking import pictured
from tests.worlds.households import payroll_of

pytestmark = pytest.mark.long

EMAIL = "rosa.diaz@example.com"


async def _by_keyboard(page: Page, label: str, text: str) -> None:
    """Go to a field with the tabulator alone, and type."""
    field = page.get_by_label(label, exact=True)
    for _ in range(60):
        if await field.evaluate("each => each === document.activeElement"):
            await page.keyboard.type(text)
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"no way to {label} by keyboard")


async def test_from_a_link_to_her_pay_and_what_she_changes(
    context: BrowserContext,
    account: Account,
    household: dict[str, Any],
    address: str,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    rosa = data(await account.live.post("/employees", {**ROSA, "email": EMAIL}), 201)
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa["id"])))
    asked = {"type": "tax_info", "send_email": False}
    invited = data(await account.live.post(f"/employees/{rosa['id']}/invite", asked))
    link = "/portal/" + invited["portal_url"].rpartition("/")[2]
    page = await context.new_page()

    await page.goto(link)
    await pictured(page, "my_tax_page")
    await page.goto(f"{link}/account")
    await page.get_by_text(
        "We send a link to the address that the household has on record: r…@example.com."
    ).wait_for()
    await pictured(page, "my_offer")
    await page.get_by_role("button", name="Send the link").click()
    await page.get_by_role("heading", name="Check your email").wait_for()
    proof = re.search(r"/account/(\w{43})", mails(owner_connection, ring)[-1]["text"])
    assert proof is not None
    await page.goto(f"{link}/account/{proof[1]}")
    await pictured(page, "my_account")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Create account").click()

    await page.get_by_role("heading", name=re.compile("Your (last|next) payday")).wait_for()
    await expect(page.get_by_text("$1,140.00").first).to_be_visible()
    await pictured(page, "my_overview")
    await page.get_by_role("link", name="All pay stubs and Forms W-2").click()
    await page.get_by_role("heading", name="Pay of 2026").wait_for()
    await pictured(page, "my_pay")
    stub = await page.get_by_role("link", name=re.compile("Pay stub of")).get_attribute("href")
    paper = await context.request.get(f"{address}{stub}")
    assert (await paper.body()).startswith(b"%PDF-")

    await page.get_by_role("link", name="Tax forms").click()
    await pictured(page, "my_certificates")
    await page.get_by_role("link", name="Fill in and sign").first.click()
    await page.get_by_role("heading", name="Federal Form W-4").wait_for()
    await pictured(page, "my_sign")
    await page.get_by_role("link", name="Skip to the content").focus()
    await _by_keyboard(page, "How you will file your return", "M")
    await _by_keyboard(page, "Your full name, as your signature", "Rosa Diaz")
    await page.keyboard.press("Enter")
    await page.get_by_text("Active. Applies to your next paycheck.").wait_for()
    await expect(page.get_by_text("Married", exact=True)).to_be_visible()
    await pictured(page, "my_certificate")

    here = f"/my/{rosa['id']}"
    for number in ("000987654321", "11112222"):
        await page.goto(f"{here}/bank")
        await page.get_by_label("Routing number").fill("121000358")
        await page.get_by_label("Account number", exact=True).fill(number)
        await page.get_by_label("Confirm account number").fill("1" if number[0] == "0" else number)
        await page.get_by_label("Checking").check()
        button = "Add account" if number[0] == "0" else "Ask for the change"
        await page.get_by_role("button", name=button).click()
        if number[0] == "0":
            await (
                page.locator("#account_number_again-problem")
                .get_by_text("The account numbers don't match")
                .wait_for()
            )
            await pictured(page, "my_bank_problem")
            for label in ("Routing number", "Account number", "Confirm account number"):
                await page.get_by_label(label, exact=True).fill("121000358" if label[0] == "R" else number)
            await page.get_by_role("button", name="Add account").click()
            await page.get_by_text("•••• 4321").wait_for()
            owner_connection.execute("UPDATE bank_accounts SET status = 'active'")
    await page.get_by_text(
        "Pay that is sent before then still goes to the account ending in 4321."
    ).wait_for()
    await pictured(page, "my_bank")
    notices = [
        each for each in mails(owner_connection, ring) if "bank account for your pay" in each["subject"]
    ]
    assert "account ending in 4321. New: account ending in 2222" in notices[-1]["text"]

    await page.goto(f"{here}/set-aside")
    await page.get_by_label("A share of gross pay, in percent").check()
    await page.get_by_label("How much").fill("5")
    await page.get_by_role("button", name="Ask the household").click()
    await page.get_by_text("The household must approve your request.").wait_for()
    await pictured(page, "my_set_aside")

    await page.goto("/settings/profile")
    await page.get_by_label("Language").select_option("es")
    await page.get_by_role("button", name="Save").click()
    for path, heading in (
        ("", re.compile("Su (último|próximo) día de pago")),
        ("/details", "Dirección e idioma"),
        ("/bank", "Cuenta bancaria"),
        ("/certificates/sign/CA", "California: DE 4"),
        ("/set-aside", "Apartar dinero"),
    ):
        await page.goto(f"{here}{path}")
        await page.get_by_role("heading", name=heading, level=1).wait_for()
        await pictured(page, f"my_es{path.replace('/', '_')}")
