"""The pictures of `docs/app`: the main pages of a household that is lived in, with long names and large amounts.

They are made with every long run, into a folder that goes away; `make screenshots` makes them anew in `docs/app`.
"""

from __future__ import annotations

import os
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final
from uuid import UUID

import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import BrowserContext, Page

from hearthpay.app import AppSettings, create_app
from hearthpay.banking.accounts import AccountDetails, connect_employee_account
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.database.vault_store import store_secret
from hearthpay.duties.service import CalendarQuery, mark_duty, read_calendar
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.service import update_employee
from hearthpay.employers.ein import keep_ein
from hearthpay.employers.models import Employer
from hearthpay.mail.mailer import Mailer
from hearthpay.payroll.commands import Confirmations, EmployeePay, Order
from hearthpay.payroll.service import run_payroll
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import parse_number
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.readers import Reader, Way
from tests.web.rows import autopilot, payrolls
from tests.web.rows.world import World
from tests.worlds.town import ROUTING, Vouching

pytestmark = pytest.mark.long

FOLDER: Final = os.environ.get("HEARTHPAY_APP_PICTURES")
LARGEST: Final = 160_000
"""Bytes that a picture may have."""


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return create_app(database, clock, AppSettings(ring=ring, mailer=mailer, direct_deposit=True))


@pytest.fixture
async def world(
    people_context: PeopleContext, owner_connection: psycopg.Connection, maria: SignedIn
) -> World:
    """Half a year of a household: Rosa every week, and somebody with a long name and a high rate now and then."""
    owner_connection.execute("UPDATE people SET name = 'Maria'")
    name = {"first_name": "Maria Guadalupe", "last_name": "Hernández-Villanueva"}
    world = await World.make(people_context, owner_connection, maria, **name)
    chef = await world.employ("Maximiliana", "Fernández de la Torre y Villanueva")
    async with people_context.database.transaction(world.actor.tenant) as session:
        raise_ = ChangeEmployee(pay_rate=Decimal("185.50"))
        await update_employee(session, world.actor, people_context.clock, chef, raise_)
    for weeks_ago in range(24, 0, -1):
        both = (world.employee_id, chef) if weeks_ago % 6 == 1 else (world.employee_id,)
        await world.pay(*both, weeks_ago=weeks_ago, hours=40 if weeks_ago % 4 else 46)
    return world


async def _send(world: World, numbers: dict[UUID, str]) -> None:
    """The household's number and those of some employees are there, and what was due until last week is done."""
    people_context, actor, today = world.people_context, world.actor, world.people_context.clock.today()
    async with people_context.database.transaction(actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        await keep_ein(session, people_context.ring, actor, employer, "98-7654321")
        for employee_id, number in numbers.items():
            whose = SecretOwner(actor.organization_id, employer.id, False, "employee", employee_id)
            await store_secret(session, people_context.ring, actor, whose, parse_number("ssn", number))
    async with people_context.database.transaction(actor.tenant) as session:
        requested = CalendarQuery(world.household_id, date(2026, 1, 1), today)
        calendar = await read_calendar(session, actor, people_context.clock, requested)
        employer = await session.get_one(Employer, world.household_id)
        for item in calendar.items:
            if item.due < today:
                await mark_duty(
                    session, actor, people_context.clock, employer, key=item.key, done_on=item.due
                )


async def _deposited(world: World) -> UUID:
    """Rosa's last week by direct deposit: approved, and on its way."""
    details = AccountDetails(
        parse_number("bank_routing", ROUTING), parse_number("bank_account", "55550022"), "checking"
    )
    people_context = world.people_context
    async with people_context.database.transaction(world.actor.tenant) as session:
        rosa = await session.get_one(Employee, world.employee_id)
        await connect_employee_account(
            session,
            people_context.ring,
            world.actor,
            rosa,
            details,
            people_context.clock.now(),
            verification=Vouching(),
        )
    week = Order(
        employer_id=world.household_id,
        pay_period_start=date(2026, 11, 9),
        pay_period_end=date(2026, 11, 15),
        pay_date=date(2026, 11, 30),
        pay_frequency="weekly",
        employees=(
            EmployeePay(
                employee_id=world.employee_id, regular_hours=Decimal(40), payment_method="direct_deposit"
            ),
        ),
    )
    confirmed = Confirmations(confirm_ach_debit=True)
    async with people_context.database.transaction(world.actor.tenant) as session:
        run = await run_payroll(
            session, world.actor, people_context.clock, week, confirmed, direct_deposit_enabled=True
        )
    return run.id


async def _picture(page: Page, folder: Path, name: str) -> None:
    await page.mouse.move(0, 0)
    picture = await page.screenshot(path=folder / f"{name}.png")
    assert len(picture) < LARGEST, f"{name}: {len(picture)} bytes"


async def test_the_main_pages(context: BrowserContext, world: World, tmp_path: Path) -> None:
    folder = tmp_path if FOLDER is None else Path(FOLDER)
    piloted = await autopilot.things(world)
    payroll = await _deposited(world)
    world.connection.execute("UPDATE employees SET start_date = '2026-05-25'")
    nina = world.connection.execute("SELECT id FROM employees WHERE first_name = 'Nina'").fetchall()[0][0]
    await _send(world, {world.employee_id: "123-45-6789", nina: "234-56-7890"})
    somebody = world.connection.execute(
        "SELECT id FROM employees WHERE first_name LIKE 'Maximiliana%'"
    ).fetchall()
    draft = await payrolls.draft_of(world, world.employee_id, somebody[0][0])
    root = f"/app/{world.household_id}"
    page = await context.new_page()
    await page.set_viewport_size({"width": 1160, "height": 820})
    await page.emulate_media(reduced_motion="reduce", color_scheme="light")
    await Reader(page, Way()).sign_in(MARIA, PASSWORD)
    await page.wait_for_url(f"**{root}")
    for name, path in (
        ("overview", ""),
        ("setting-up", f"/setup/{world.employee_id}/method"),
        ("employees", "/employees"),
        ("employee", f"/employees/{somebody[0][0]}"),
        ("payroll", f"/payrolls/{payroll}"),
        ("autopilot", f"/autopilot/{piloted['enrollment_id']}"),
        ("taxes", "/taxes"),
        ("calendar", "/calendar"),
        ("bank", "/bank"),
    ):
        await page.goto(root + path)
        await _picture(page, folder, name)
    await page.goto(f"{root}/payrolls/drafts/{draft}")
    await page.locator("summary", has_text="Held for taxes").first.click()
    await page.locator(".lines summary").first.click()
    await page.wait_for_timeout(200)
    await _picture(page, folder, "preview")

    await page.set_viewport_size({"width": 390, "height": 844})
    await page.emulate_media(color_scheme="dark")
    await page.goto(root)
    await _picture(page, folder, "overview-phone")
