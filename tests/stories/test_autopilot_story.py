"""Autopilot from the first look to its end, while the clock travels: enrolled, paid, held, approved, skipped, ended."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import BrowserContext

from hearthpay.app import AppSettings, create_app
from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.housekeepers import Housekeeper
from tests.stories.readers import Way
from tests.web.rows.autopilot import connect_accounts
from tests.web.rows.world import World
from tests.worlds.originator import ORIGINATOR
from tests.worlds.town import Town

pytestmark = pytest.mark.long


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, direct_deposit=True))


@pytest.fixture
def town(
    database: Database, worker_database: Database, clock: FixedClock, ring: KeyRing, tmp_path: Path
) -> Town:
    return Town(database, worker_database, clock, ring, Bank(ORIGINATOR, folder_gateway(tmp_path)), tmp_path)


async def _live_through(town: Town, first: str, last: str) -> None:
    """Let the worker make, send and settle payrolls at noon and at the cut-off of every day."""
    day = date.fromisoformat(first)
    while day <= date.fromisoformat(last):
        for hour in (12, 15):
            town.go_to(day.isoformat(), hour)
            await generate_due(town.worker, town.clock, direct_deposit_enabled=True)
            await town.work()
            await run_outbox_tasks(town.worker, town.ring, town.clock, NotificationSettings(sends=True))
        day += timedelta(days=1)


@pytest.mark.parametrize("way", [Way(), Way("es"), Way(keyboard=True, width=360)], ids=str)
async def test_from_enrolling_to_the_end(
    context: BrowserContext,
    way: Way,
    town: Town,
    marias: SignedIn,
    world: World,
    owner_connection: psycopg.Connection,
) -> None:
    await world.pay()
    await connect_accounts(world, world.employee_id)
    maria = Housekeeper(await context.new_page(), way)
    await maria.sign_in(MARIA, PASSWORD)
    await maria.is_home()
    await maria.go("Autopilot")
    await maria.reads("Autopilot")
    await maria.follow("Enroll {name}", name="Rosa Diaz")
    await maria.reads("Enroll {name}", name="Rosa Diaz")
    await maria.fill("Hours of each period", "40")
    await maria.press("Preview")
    await maria.sees("The next three paydays")
    await maria.check("I have read this and agree to it")
    await maria.press("Enroll {name}", name="Rosa Diaz")
    await maria.sees("The next paydays")
    enrollment = maria.page.url
    await _live_through(town, "2026-11-20", "2026-11-24")

    # Rosa earns more now: the next payroll is held until Maria has looked at it.
    await maria.go("Employees")
    await maria.follow("Rosa Diaz")
    await maria.follow("Change pay rate")
    await maria.reads("Change pay rate")
    await maria.fill("Hourly pay", "39.00")
    await maria.press("Save")
    await maria.page.get_by_role("heading", name="Rosa Diaz", level=1).wait_for()
    await _live_through(town, "2026-11-25", "2026-12-03")
    await maria.come_back(f"/app/{world.household_id}")
    await maria.is_home()
    assert await maria.page.locator("a.go[href*='/payrolls/']:not([href$='/new'])").count() == 1, (
        "the home page tells of it"
    )
    await maria.go("Autopilot")
    await maria.follow("View payroll")
    if await maria.page.get_by_role("heading", name=maria.words("Confirm it's you")).count():
        await maria.prove()
    await maria.reads("Approve this payroll")
    await maria.sees("Net pay is more than 20% above the usual amount.")
    await maria.press("Approve")
    await maria.sees("The next paydays")
    await maria.misses("link", "View payroll")
    await _live_through(town, "2026-12-04", "2026-12-08")

    await maria.come_back(enrollment)
    await maria.press("Pause")
    await maria.sees("Resume")
    await maria.press("Resume")
    await maria.sees("Pause")
    await maria.follow("Skip")
    await maria.reads("Skip periods")
    await maria.press("Skip")
    await maria.sees("The next paydays")
    await _live_through(town, "2026-12-09", "2026-12-12")
    await maria.open(enrollment)
    await maria.follow("End Autopilot")
    await maria.reads("End Autopilot")
    await maria.press("End Autopilot")
    await maria.sees("Ended")
    await maria.follow("The whole history")
    await maria.reads("History of Autopilot")
    await _live_through(town, "2026-12-13", "2026-12-24")

    told = owner_connection.execute(
        "SELECT period_start::text, outcome, (SELECT p.status FROM payrolls p WHERE p.id = a.payroll_id) "
        "FROM autopilot_periods a ORDER BY 1"
    ).fetchall()
    assert told[:2] == [("2026-11-23", "paid", "completed"), ("2026-11-30", "paid", "completed")]
    assert all(status in (None, "voided") for _, _, status in told[2:]), (
        "what was skipped or ended is not paid"
    )
