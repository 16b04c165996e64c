"""Pages that explain an amount or a date, as pictures: a tax line, earlier pay, a deadline, two years, a cost."""

from __future__ import annotations

import datetime

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import BrowserContext, Page

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.service import CalendarQuery, read_calendar
from hearthpay.mail.mailer import Mailer
from hearthpay.security.key_ring import KeyRing
from tests.stories.looking import pictured
from tests.web.rows.world import World

pytestmark = pytest.mark.long


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation where anybody may estimate a cost."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, cost_page_open=True))


async def _unfold_all(page: Page) -> None:
    await page.evaluate("document.querySelectorAll('main details').forEach(each => each.open = true)")


@pytest.mark.parametrize("language", ["en", "es"])
async def test_pages_that_explain_fit_a_phone(
    at_home: Page, world: World, owner_connection: psycopg.Connection, language: str
) -> None:
    paid = await world.pay(weeks_ago=4)
    owner_connection.execute("UPDATE employees SET start_date = '2025-01-06'")
    await world.pay(weeks_ago=48)
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    root = f"/app/{world.household_id}"
    for code in ("US-FIT", "US-SS-EE", "CA-SIT", "CA-SUI-ER"):
        await at_home.goto(f"{root}/payrolls/{paid}/lines/{world.employee_id}/{code}")
        assert await at_home.locator(".explain > p").count() == 1
        await _unfold_all(at_home)
        await pictured(at_home, f"line_{language}_{code}")
    await at_home.goto(f"{root}/employees/{world.employee_id}/prior-wages")
    await at_home.locator("#gross_pay").fill("10,000")
    await at_home.locator("#as_of").fill("2026-06-30")
    await pictured(at_home, f"earlier_pay_{language}")
    await at_home.locator("form.card button.main").click()
    await pictured(at_home, f"earlier_pay_{language}_saved")
    await at_home.goto(f"{root}/taxes")
    assert await at_home.locator("#years-title").count() == 1
    await at_home.locator("section:has(#years-title) summary").click()
    await pictured(at_home, f"taxes_{language}")
    asked = CalendarQuery(world.household_id, datetime.date(2026, 9, 1), datetime.date(2027, 9, 1))
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        items = (await read_calendar(session, world.actor, world.people_context.clock, asked)).items
    moved = next(each for each in items if each.due != each.due_unmoved)
    late = next(each for each in items if each.due < datetime.date(2026, 11, 20) and each.kind == "return")
    for name, item in (("moved", moved), ("late", late)):
        await at_home.goto(f"{root}/calendar/{item.uid}")
        await pictured(at_home, f"deadline_{language}_{name}")


async def test_anybody_estimates_a_cost(context: BrowserContext) -> None:
    page = await context.new_page()
    await page.goto("/sign-in")
    await page.locator('a[href="/cost"]').click()
    await pictured(page, "public_cost_empty")
    await page.get_by_label("Hourly pay").fill("30")
    await page.get_by_label("Hours a week").fill("20")
    await page.get_by_label("Where the work is done").select_option("NY")
    await page.get_by_role("button", name="Calculate").click()
    await page.wait_for_url("**hourly_rate=30**")
    await pictured(page, "public_cost")
    await page.goto("/cost?hourly_rate=30")
    await pictured(page, "public_cost_wrong")
