"""A served instance and a real browser: the stories of people who use the pages. Without Chromium they skip."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio
from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.server import running
from tests.chromium import CHROMIUM
from tests.http.api import account, client, household, new_account, new_key
from tests.people.visitors import MARIA, PASSWORD, maria, people_context, ring
from tests.stories.looking import PICTURES
from tests.stories.readers import Reader, Way
from tests.web.rows.world import World

_PATIENCE = 30_000
"""Milliseconds that a page may take, on a machine where other tests run at the same time."""
expect.set_options(timeout=_PATIENCE)

__all__ = ["account", "client", "household", "maria", "new_account", "new_key", "people_context", "ring"]


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    return create_app(
        database, clock, AppSettings(ring=ring, mailer=Mailer("smtp://127.0.0.1:9", "payroll@example.com"))
    )


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """Where the service is, by the name that passkeys work with."""
    async with running(app, "127.0.0.1", 0) as (served, _):
        yield served.replace("127.0.0.1", "localhost")


@pytest_asyncio.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One for all stories of a process: it takes two seconds to start."""
    if CHROMIUM is None:
        pytest.skip(
            "no Chromium on this machine (Debian's packages are `chromium-headless-shell` and `chromium`)"
        )
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
            ],
        )
        yield launched
        await launched.close()


@pytest.fixture
def way() -> Way:
    """How the story is told; tests that tell it in other ways set it by parameters."""
    return Way()


@pytest.fixture
async def context(browser: Browser, address: str, way: Way) -> AsyncIterator[BrowserContext]:
    """A fresh profile; nothing that it says on its console, and no address but ours, goes unnoticed."""
    made = await browser.new_context(
        base_url=address,
        locale={"en": "en-US", "es": "es-US"}[way.language],
        viewport={"width": way.width, "height": 740},
    )
    made.set_default_timeout(_PATIENCE)
    said: list[str] = []
    made.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    made.on(
        "request",
        lambda request: None if request.url.startswith((address, "data:")) else said.append(request.url),
    )
    yield made
    if PICTURES is not None:  # where a story has ended, well or not
        for number, page in enumerate(made.pages):
            await page.screenshot(path=Path(PICTURES) / f"ending_{number}.png", full_page=True)
    await made.close()
    assert [each for each in said if "status of 4" not in each] == []


@pytest.fixture
async def world(
    people_context: PeopleContext, owner_connection: psycopg.Connection, maria: SignedIn
) -> World:
    """Maria's household, with Rosa, who works there."""
    return await World.make(people_context, owner_connection, maria)


@pytest.fixture
async def at_home(context: BrowserContext, world: World) -> Page:
    """A page of Maria's browser, at her household."""
    page = await context.new_page()
    await page.goto("/sign-in")
    await page.get_by_label("Email address").fill(MARIA)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.wait_for_url(f"**/app/{world.household_id}")
    return page


@pytest.fixture
async def reader(context: BrowserContext, way: Way) -> Reader:
    return Reader(await context.new_page(), way)


@pytest.fixture
def marias(maria: SignedIn, way: Way, owner_connection: psycopg.Connection) -> SignedIn:
    """Maria's account, which speaks her language."""
    owner_connection.execute("UPDATE people SET language = %s", (way.language,))
    return maria
