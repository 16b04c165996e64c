"""The application with people, an owner of a household with somebody to pay, and an agent that asks to be let in."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from http.cookiejar import Cookie

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.oauth.dance import Dance, program_of
from tests.people.visitors import MARIA, PASSWORD, Newcomers
from tests.web.people_browser import HOME, Browser
from tests.worlds.snapshots import MadeOnce, Snapshots, snapshots

__all__ = ["snapshots"]


@pytest.fixture(scope="session")
def ring() -> KeyRing:
    """Of all tests, so that what was sealed for one is open to the others."""
    return KeyRing((EncryptionKey.generate(),))


@pytest.fixture(scope="session")
def made_once(snapshots: Snapshots) -> MadeOnce:
    return MadeOnce(snapshots)


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    app = create_app(database, clock, AppSettings(public_url=HOME, ring=ring, mailer=mailer))
    app.state.people_context = PeopleContext(
        database, clock, ring, app.state.people_context.throttle, sends_mail=True, no_sooner_than=0
    )
    return app


@pytest.fixture
def people_context(app: FastAPI) -> PeopleContext:
    found: PeopleContext = app.state.people_context
    return found


@pytest.fixture
async def maria(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing, made_once: MadeOnce
) -> SignedIn:
    """An owner who has just made her account."""
    newcomers = Newcomers(people_context, owner_connection, ring)
    return await made_once.get("maria", lambda: newcomers.make(MARIA))


@pytest.fixture
async def browser(app: FastAPI, maria: SignedIn, made_once: MadeOnce) -> Browser:
    """Maria's browser, in which she has just signed in."""

    async def sign_in() -> list[Cookie]:
        made = Browser.of(app)
        await made.sign_in(MARIA, PASSWORD)
        return list(made.client.cookies.jar)

    found = Browser.of(app)
    for cookie in await made_once.get("browser", sign_in):
        found.client.cookies.jar.set_cookie(copy(cookie))
    return found


@pytest.fixture
async def dance(
    app: FastAPI,
    database: Database,
    clock: FixedClock,
    maria: SignedIn,
    browser: Browser,
    owner_connection: psycopg.Connection,
    made_once: MadeOnce,
) -> Dance:
    """An agent that has registered, and a household that it may be given."""

    async def begin() -> Dance:
        owner_connection.execute("UPDATE organizations SET plan = 'professional'")
        return await Dance.begin(app, database, clock, maria, browser)

    begun = await made_once.get("dance", begin)
    return replace(
        begun,
        app=app,
        clock=clock,
        browser=browser,
        program=program_of(app),
        question={**begun.question},
    )
