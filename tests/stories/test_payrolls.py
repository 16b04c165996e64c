"""Payrolls in real Chromium: looked at, run, printed and voided; on a telephone with the keyboard alone, in Spanish."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from playwright.async_api import Page, expect

from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from tests.stories.looking import pictured
from tests.web.rows.payrolls import draft_of
from tests.web.rows.world import World

pytestmark = pytest.mark.long

_LONG_NAME = "Maximiliana-Constanza de los Ángeles"


async def _press_on(page: Page, name: str, key: str = "Enter") -> None:
    """Reach something by the Tab key alone, as somebody without a mouse does, and press a key on it."""
    for _ in range(200):
        await page.keyboard.press("Tab")
        said = await page.evaluate(
            "() => { const at = document.activeElement; const label = at.labels && at.labels[0]; "
            "const said = at.getAttribute('aria-label') || (label || at).innerText || ''; "
            "return at.tagName.toLowerCase() + ' ' + said.trim() }"
        )
        if re.search(name, said):
            await page.keyboard.press(key)
            return
    raise AssertionError(f"the keyboard does not reach {name}")


async def test_by_keyboard_on_a_telephone_from_the_preview_to_the_void(at_home: Page, world: World) -> None:
    page, at = at_home, f"/app/{world.household_id}/payrolls"
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(at)
    await _press_on(page, "^a Run payroll$")
    await page.wait_for_url(f"**{at}/new")
    await _press_on(page, "^input Hours", "4")
    await page.keyboard.type("0")
    await _press_on(page, "^button Review")
    await expect(page.get_by_text("Step 2 of 2: Review")).to_be_visible()
    await _press_on(page, "^summary Held for taxes")
    await _press_on(page, "^summary Social Security")
    await expect(page.locator("details[open] > .explain li").get_by_text("6.2%").first).to_be_visible()
    await _press_on(page, "^button Record payroll$")
    await expect(page.get_by_role("heading", name=re.compile("^Recorded"))).to_be_visible()
    await _press_on(page, "^a View payroll$")
    await expect(page.get_by_role("heading", name=re.compile("payroll$"))).to_be_visible()
    payroll = page.url
    await page.go_back()
    await page.goto(payroll)
    async with page.expect_download() as download:
        await _press_on(page, "^a Pay stub in Spanish")
    stub = await (await download.value).path()
    assert stub.read_bytes()[:5] == b"%PDF-"
    await _press_on(page, "^summary Something wrong")
    await _press_on(page, "^a Void payroll")
    await page.wait_for_url("**/void")
    await _press_on(page, "^input Why", "n")
    await page.keyboard.type("ot these hours")
    await _press_on(page, "^button Void payroll")
    await expect(page.get_by_text("not these hours")).to_be_visible()


async def test_the_same_in_spanish(at_home: Page, world: World) -> None:
    page, at = at_home, f"/app/{world.household_id}/payrolls"
    await page.goto("/settings/profile")
    await page.get_by_label("Language").select_option("es")
    await page.get_by_role("button", name="Save").first.click()
    await page.goto(at)
    await page.get_by_role("link", name="Procesar la nómina").click()
    await page.get_by_label("Horas", exact=False).first.fill("40")
    await page.get_by_role("button", name="Revisar").click()
    await pictured(page, "payroll_preview_es")
    await page.get_by_role("button", name="Registrar la nómina").click()
    await pictured(page, "payroll_receipt_es")
    await page.get_by_role("link", name="Ver nómina").click()
    await pictured(page, "payroll_es")
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Recibo de pago en español").click()
    assert (await download.value).suggested_filename.endswith(".pdf")
    await page.get_by_text("¿Algo está mal?").click()
    await page.get_by_role("link", name="Anular la nómina").click()
    await page.get_by_role("button", name="Anular la nómina").click()
    await expect(page.get_by_text("Anulado").first).to_be_visible()


async def test_every_page_fits_and_is_fit_for_everybody(at_home: Page, world: World) -> None:
    """With a long name and a large amount, empty and full."""
    at = f"/app/{world.household_id}/payrolls"
    await at_home.goto(at)
    await pictured(at_home, "payrolls_empty")
    rich = await world.employ(_LONG_NAME, "Montgomery-Fitzgerald Hernández")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployee(pay_rate=Decimal("9999.99"))
        await update_employee(session, world.actor, world.people_context.clock, rich, changes)
    both = (world.employee_id, rich)
    paid = [
        await world.pay(*both, weeks_ago=weeks, hours=123 if weeks == 1 else 40) for weeks in (9, 3, 2, 1)
    ]
    draft = await draft_of(world, *both)
    for name, path in (
        ("payrolls", ""),
        ("payrolls_filtered", "?status=completed&year=2026&method=check"),
        ("payroll_new", "/new"),
        ("payroll_new_bonus", "/new?kind=bonus"),
        ("payroll_new_fica", "/new?kind=fica-refund"),
        ("payroll_preview", f"/drafts/{draft}"),
        ("payroll_change", f"/drafts/{draft}/change"),
        ("payroll_drop", f"/drafts/{draft}/drop"),
        ("payroll", f"/{paid[-1]}"),
        ("payroll_receipt", f"/{paid[-1]}/receipt"),
        ("payroll_correct", f"/{paid[-1]}/correct"),
        ("payroll_line", f"/{paid[-1]}/lines/{rich}/US-FIT"),
        ("payroll_void", f"/{paid[-1]}/void"),
        ("payroll_deposit", f"/{paid[-1]}/deposits/{rich}"),
        ("payroll_authorize", f"/{paid[-1]}/authorize"),
    ):
        await at_home.goto(at + path)
        if name == "payroll_preview":
            await at_home.locator("summary", has_text="Held for taxes").first.click()
            await at_home.locator(".lines summary").first.click()
        await pictured(at_home, name)
    await at_home.goto(f"{at}/new")
    await at_home.get_by_label("Hours", exact=False).first.fill("forty")
    await at_home.get_by_role("button", name="Review").click()
    await pictured(at_home, "payroll_problems")
