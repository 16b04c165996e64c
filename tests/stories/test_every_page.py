"""Every page of a household, from the table of pages: it fits a telephone, and axe finds nothing, in light and dark.

A page with a row in `tests/web/rows` is looked at without a word here; one that axe cannot be had for only has to fit.
"""

from __future__ import annotations

import re

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import Page

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.security.key_ring import KeyRing
from tests.stories.looking import held_small, pictured
from tests.web.rows import AREAS
from tests.web.rows.world import World

pytestmark = pytest.mark.long

_LONG_FIRST, _LONG_LAST = "Maximiliana-Guadalupe Constanza", "Wolfeschlegelsteinhausen y Villanueva"


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, direct_deposit=True))


def paths() -> list[str]:
    rows = (row for area in AREAS for row in area.ROWS if row.startswith("GET "))
    return sorted(row.removeprefix("GET ") for row in rows)


async def _look_at_all(page: Page, things: dict[str, str], name: str) -> int:
    """Look at every page that the things are enough for; return at how many. All that is wrong is told together."""
    looked, wrong = 0, []
    for path in paths():
        try:
            address = path.format(**things)
        except KeyError:
            continue  # it names something that is not there yet
        answer = await page.request.get(address)
        if "text/html" not in answer.headers.get("content-type", ""):
            continue  # a paper or a table to download
        assert answer.status in (200, 400, 403, 404), f"{answer.status}: {address}"
        await page.goto(address)
        part = re.sub(r"[{}]", "", path.removeprefix("/app/{household_id}")).strip("/").replace("/", "_")
        for held in (held_small, pictured):
            try:
                await held(page, f"{name}_{part or 'home'}")
            except AssertionError as error:
                wrong.append(str(error))
        looked += 1
    assert not wrong, "\n".join(wrong)
    return looked


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
    assert await _look_at_all(at_home, things, f"full_{language}") > 60


async def test_with_nothing_yet(at_home: Page, world: World) -> None:
    empty = await World.make(
        world.people_context, world.connection, world.owner, first_name="Ann", last_name="Ng"
    )
    things = {"household_id": str(empty.household_id), "employee_id": str(empty.employee_id)}
    assert await _look_at_all(at_home, things, "empty") > 30
