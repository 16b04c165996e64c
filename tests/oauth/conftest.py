"""The application with people, an owner of a household with somebody to pay, and an agent that asks to be let in."""

from __future__ import annotations

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.oauth.dance import Dance
from tests.people.visitors import MARIA, PASSWORD, maria, ring
from tests.web.people_browser import HOME, Browser

__all__ = ["maria", "ring"]


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
async def browser(app: FastAPI, maria: SignedIn) -> Browser:
    """Maria's browser, in which she has just signed in."""
    made = Browser.of(app)
    await made.sign_in(MARIA, PASSWORD)
    return made


@pytest.fixture
async def dance(
    app: FastAPI,
    database: Database,
    clock: FixedClock,
    maria: SignedIn,
    browser: Browser,
    owner_connection: psycopg.Connection,
) -> Dance:
    """An agent that has registered, and a household that it may be given."""
    owner_connection.execute("UPDATE organizations SET plan = 'professional'")
    return await Dance.begin(app, database, clock, maria, browser)
