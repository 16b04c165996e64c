"""Autopilot's pages in real Chromium: enrolled without a script, fit for a telephone and for everybody."""

from __future__ import annotations

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import Page

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.security.key_ring import KeyRing
from tests.stories.looking import pictured
from tests.web.rows import autopilot
from tests.web.rows.world import World

pytestmark = pytest.mark.long


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, direct_deposit=True))


async def test_every_page_of_autopilot(
    at_home: Page, world: World, owner_connection: psycopg.Connection
) -> None:
    root = f"/app/{world.household_id}/autopilot"
    await at_home.goto(root)
    await pictured(at_home, "autopilot_empty")
    things = await autopilot.things(world)
    one = f"{root}/{things['enrollment_id']}"
    ana = await world.employ("Maximiliana-Guadalupe", "Fernandez de la Torre y Villanueva")
    await world.pay(ana)
    await autopilot.connect_accounts(world, ana)

    await at_home.goto(f"{root}/enroll/{ana}")
    await at_home.get_by_label("Hours of each period").fill("32.5")
    await pictured(at_home, "autopilot_terms")
    await at_home.get_by_role("button", name="Preview").click()
    await pictured(at_home, "autopilot_agree")
    await at_home.get_by_label("I have read this and agree to it").check()
    await at_home.get_by_role("button", name="Enroll Maximiliana").click()
    await at_home.get_by_role("heading", name="The next paydays").wait_for()
    await pictured(at_home, "autopilot_enrolled")
    await at_home.get_by_role("button", name="Pause").click()
    await at_home.get_by_role("button", name="Resume").wait_for()

    for part in ("", "/skip", "/change", "/agree", "/stop"):
        await at_home.goto(one + part)
        await pictured(at_home, f"autopilot_one{part.replace('/', '_')}")
    for part in (
        "",
        f"/held/{things['held_id']}",
        f"/enroll/{world.employee_id}?standard_hours=x",
        "/history",
    ):
        await at_home.goto(root + part)
        await pictured(at_home, f"autopilot{part.split('?')[0][:5].replace('/', '_') or '_list'}")
    owner_connection.execute("UPDATE people SET language = 'es'")
    await at_home.goto(
        f"{root}/enroll/{world.employee_id}?standard_hours=40&frequency=weekly&anchor_period_start=2026-11-16"
        "&pay_days_after=9"
    )
    await pictured(at_home, "autopilot_es_refused")
    await at_home.goto(one)
    await pictured(at_home, "autopilot_es_one")
