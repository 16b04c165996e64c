"""Every page of a household, from the table of pages: it fits a telephone, and axe finds nothing, in light and dark.

A page with a row in `tests/web/rows` is looked at without a word here; one that axe cannot be had for only has to fit.
`make screenshots ALL=folder` leaves a picture of each, wide and narrow, light and dark, in English and Spanish.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import Page

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.dues_records import renew_dues
from hearthpay.mail.mailer import Mailer
from hearthpay.security.key_ring import KeyRing
from tests.stories.furnished import furnish
from tests.stories.looking import ONLY, held_small, pictured
from tests.web.rows import AREAS
from tests.web.rows.world import World

pytestmark = pytest.mark.long

_LONG_FIRST, _LONG_LAST = "Maximiliana-Guadalupe Constanza", "Wolfeschlegelsteinhausen y Villanueva"


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, direct_deposit=True))


_SETTINGS = ("employees", "members", "keys", "agents", "history", "notifications", "plan", "profile")
_MORE = (
    *(f"/settings/{page}" for page in _SETTINGS),
    *(f"/app/{{household_id}}/payrolls/{{{payroll}}}" for payroll in ("payroll_void", "payroll_ahead")),
    "/app/{household_id}/payrolls/{payroll_deposit}",
    "/app/{household_id}/payrolls/{payroll_ahead}/receipt",
    "/app/{household_id}/payrolls/{payroll_deposit}/receipt",
    "/app/{household_id}/payrolls/{payroll_ahead}/correct",
    "/app/{household_id}/payrolls/{payroll_deposit}/void",
    "/app/{household_id}/payrolls/new?kind=catch-up",
    "/app/{household_id}/taxes?year=2025",
    "/app/{household_id}/taxes/wages?year=2025",
)
"""Pages without a row, and pages with one whose other states look different."""


def paths() -> list[str]:
    rows = (row for area in AREAS for row in area.ROWS if row.startswith("GET "))
    return sorted((*(row.removeprefix("GET ") for row in rows), *_MORE))


async def _look_at_all(page: Page, things: dict[str, str], name: str) -> int:
    """Look at every page that the things are enough for; return at how many. All that is wrong is told together."""
    looked, wrong = 0, []
    for path in paths():
        try:
            address = path.format(**things)
        except KeyError:
            continue  # it names something that is not there yet
        if not re.search(ONLY, address):
            continue
        answer = await page.request.get(address)
        if "text/html" not in answer.headers.get("content-type", ""):
            continue  # a paper or a table to download
        assert answer.status in (200, 400, 403, 404), f"{answer.status}: {address}"
        if urlsplit(answer.url).path != address.partition("?")[0]:
            continue  # it leads to a page that is looked at by its own address
        await page.goto(address)
        part = re.sub(r"[^-.\w]+", "_", path.removeprefix("/app/{household_id}")).strip("_")
        wrong += await _look_at(page, f"{name}_{part or 'home'}")
        looked += 1
    assert not wrong, "\n".join(wrong)
    return looked


async def _look_at(page: Page, name: str) -> list[str]:
    """Look at the page that is open; return what is wrong with it."""
    wrong = []
    for held in (held_small, pictured):
        try:
            await held(page, name)
        except AssertionError as error:
            wrong.append(str(error))
    return wrong


@pytest.mark.parametrize("language", ["en", "es"])
async def test_full_of_long_names_and_large_amounts(
    at_home: Page, world: World, language: str, owner_connection: psycopg.Connection
) -> None:
    things: dict[str, str] = {
        "household_id": str(world.household_id),
        "organization": str(world.actor.organization_id),
    }
    for area in AREAS:
        if hasattr(area, "things"):
            things |= await area.things(world)
    rich = await world.employ(_LONG_FIRST, _LONG_LAST)
    owner_connection.execute("UPDATE employees SET pay_rate_cents = 999999 WHERE id = %s", (rich,))
    for weeks_ago in (30, 12, 5, 1):
        await world.pay(world.employee_id, rich, weeks_ago=weeks_ago)
    owner_connection.execute(
        "UPDATE employers SET first_name = %s, last_name = %s", (_LONG_FIRST, _LONG_LAST)
    )
    owner_connection.execute("UPDATE people SET language = %s, operator_since = now()", (language,))
    things.setdefault("employee_id", str(world.employee_id))
    assert await _look_at_all(at_home, things, f"full_{language}") > 60 or ONLY


@pytest.mark.parametrize("language", ["en", "es"])
async def test_of_a_household_that_is_lived_in(
    at_home: Page, world: World, language: str, owner_connection: psycopg.Connection
) -> None:
    things = await furnish(world)
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    looked = await _look_at_all(at_home, things, f"lived_{language}")
    assert looked > 70 or ONLY


@pytest.mark.parametrize("language", ["en", "es"])
async def test_of_several_payrolls_on_one_page(
    at_home: Page,
    world: World,
    language: str,
    owner_connection: psycopg.Connection,
    worker_database: Database,
    clock: FixedClock,
) -> None:
    for last_name in ("Ng", _LONG_LAST):
        other = await World.make(
            world.people_context, world.connection, world.owner, first_name="Ana", last_name=last_name
        )
        await other.pay(hours=32, weeks_ago=1)
    await renew_dues(worker_database, clock)
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    await at_home.goto("/households")
    for box in await at_home.locator("td.pick input").all():
        await box.check()
    wrong = await _look_at(at_home, f"several_{language}_select")
    await at_home.locator(".paybar button").click()
    await at_home.wait_for_url("**/households/payrolls/**")
    wrong += await _look_at(at_home, f"several_{language}_review")
    assert not wrong, "\n".join(wrong)


async def test_with_nothing_yet(at_home: Page, world: World) -> None:
    empty = await World.make(
        world.people_context, world.connection, world.owner, first_name="Ann", last_name="Ng"
    )
    things = {"household_id": str(empty.household_id), "employee_id": str(empty.employee_id)}
    assert await _look_at_all(at_home, things, "empty") > 30 or ONLY
