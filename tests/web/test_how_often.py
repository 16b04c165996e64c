"""How often a household files, and why, on its pages: Pennsylvania, and Philadelphia beside it."""

from __future__ import annotations

import re
from html import unescape

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


@pytest.fixture
async def world(app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection) -> World:
    """Rosa works in Philadelphia for 1,140 dollars a week; the eight weeks to November 20 are paid."""
    world = await World.make(app.state.people_context, owner_connection, people["owner"], state="PA")
    owner_connection.execute(
        "UPDATE employees SET work_state = 'PA', residence_state = 'PA', localities = %s",
        (["PHILADELPHIA"],),
    )
    for weeks_ago in range(7, -1, -1):
        await world.pay(weeks_ago=weeks_ago)
    return world


@pytest.fixture
async def maria(app: FastAPI, world: World, clock: FixedClock) -> Browser:
    return await _browser(app, "owner", clock)


async def _text(browser: Browser, path: str) -> str:
    page = await browser.look(path)
    assert page.status_code == 200, page.text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


async def test_the_accounts_page_says_how_often_and_why(world: World, maria: Browser) -> None:
    root = f"/app/{world.household_id}"
    accounts = await _text(maria, f"{root}/state-accounts")
    # 35.00 a week: by the quarter's end 455.00.
    assert "You file every month. You withheld" in accounts
    assert "The limit is $300.00." in accounts
    assert "Philadelphia wage tax" in accounts
    assert "Bethlehem" not in accounts
    world.connection.execute("UPDATE people SET language = 'es'")
    spanish = await _text(maria, f"{root}/state-accounts")
    world.connection.execute("UPDATE people SET language = 'en'")
    assert "Usted declara cada mes." in spanish
    assert "El límite es $300.00." in spanish
    filing = await _text(maria, f"{root}/state-accounts/PA/filing/withholding")
    assert "The limit is $300.00." in filing
    assert "Twice a month" in filing


async def test_the_calendar_names_the_month_and_the_city(world: World, maria: Browser) -> None:
    root = f"/app/{world.household_id}"
    calendar = await maria.look(f"{root}/calendar")
    items = dict(re.findall(r'<a class="go" href="(/app/[^"]+/calendar/[^"]+)">([^<]+)</a>', calendar.text))
    names = {unescape(name) for name in items.values()}
    assert {name for name in names if name.startswith("File the quarterly wage tax return and pay: ")}
    monthly = next(
        path
        for path, name in items.items()
        if unescape(name).startswith("Pay the income tax withheld this month: ")
    )
    page = await _text(maria, monthly)
    assert "How often Every month" in page
    assert "The limit is $300.00." in page


async def test_a_letter_overrides_what_the_books_say(world: World, maria: Browser) -> None:
    root = f"/app/{world.household_id}"
    at = f"{root}/state-accounts/PA/filing/withholding"
    sent = await maria.send(f"{at}/frequency", page=at, frequency="quarterly", since_year="2026")
    assert sent.status_code == 303, sent.text
    accounts = await _text(maria, f"{root}/state-accounts")
    assert "You file every quarter. This is what you entered." in accounts
    refused = await maria.send(f"{at}/frequency", page=at, frequency="weekly", since_year="2026")
    assert refused.status_code == 400
