"""A household and its owner's browser, made for the first test and put back for each other one.

A test module takes the fixtures by importing them. What they need is the application and the people of
`test_pages_by_role`; a fixture that writes rows beside them must ask for them first.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from http.cookiejar import Cookie

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser
from tests.worlds.snapshots import MadeOnce


async def signed_in_once(
    app: FastAPI, visitor: str, clock: FixedClock, made_once: MadeOnce, name: str
) -> Browser:
    """The browser of somebody who signs in for the first test; `name` tells all that was made before."""

    async def sign_in() -> list[Cookie]:
        return list((await _browser(app, visitor, clock)).client.cookies.jar)

    browser = Browser.of(app)
    for cookie in await made_once.get(name, sign_in):
        browser.client.cookies.jar.set_cookie(copy(cookie))
    return browser


@pytest.fixture
async def world(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, made_once: MadeOnce
) -> World:
    """The household of the owner, with Rosa."""
    context = app.state.people_context
    made = await made_once.get("household", lambda: World.make(context, owner_connection, people["owner"]))
    return replace(made, people_context=context)


@pytest.fixture
async def maria(app: FastAPI, world: World, clock: FixedClock, made_once: MadeOnce) -> Browser:
    """The owner's browser."""
    return await signed_in_once(app, "owner", clock, made_once, "household, browser of its owner")
