"""`/cost` estimates for anybody where the operator allows it: nothing is stored, and it is rate limited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.people.sessions import SignedIn
from hearthpay.people.throttle import ESTIMATES_OF_ADDRESS
from hearthpay.security.key_ring import KeyRing
from hearthpay.server import cost_page_open_of
from tests.web.people_browser import HOME, Browser
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, _check, people, people_context
from tests.worlds.tables import EMPTIED

__all__ = ["people", "people_context"]

ASKED = "/cost?hourly_rate=30&weekly_hours=20&state=CA"


def _app(database: Database, clock: FixedClock, ring: KeyRing, **settings: Any) -> FastAPI:
    return create_app(database, clock, AppSettings(public_url=HOME, ring=ring, **settings))


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    return _app(database, clock, ring, cost_page_open=True, mailer=mailer)


@pytest.fixture
def stranger(app: FastAPI) -> Browser:
    return Browser.of(app)


@pytest.fixture
def unchanged(owner_connection: psycopg.Connection, stranger: Browser) -> Iterator[None]:
    """Nothing is stored but the count of requests by network address, whose name is a digest."""
    del stranger
    before = _rows(owner_connection)
    yield
    assert _rows(owner_connection) == before


def _rows(connection: psycopg.Connection) -> dict[str, object]:
    tables = (table for table in EMPTIED if table != "failed_attempts")
    return {
        table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # type: ignore[arg-type]
        for table in tables
    }


@pytest.mark.parametrize("path", ["/cost", ASKED])
async def test_page_is_closed_until_the_operator_opens_it(
    database: Database, clock: FixedClock, ring: KeyRing, path: str
) -> None:
    closed = Browser.of(_app(database, clock, ring))
    assert (await closed.look(path)).status_code == 404
    assert 'href="/cost"' not in (await closed.look("/sign-in")).text


async def test_sign_in_page_leads_there(stranger: Browser) -> None:
    assert 'href="/cost"' in (await stranger.look("/sign-in")).text


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("language", "heading"), [("en", "About $2,831.57 a month"), ("es", "Unos $2,831.57 al mes")]
)
async def test_stranger_gets_an_estimate_and_no_cookie(
    stranger: Browser, language: str, heading: str
) -> None:
    page = await stranger.look(ASKED, **{"Accept-Language": language})
    assert page.status_code == 200, page.text
    _check(page)
    assert "".join(parsed(page).find(".//h1").itertext()) == heading
    assert "Set-Cookie" not in page.headers
    (form,) = parsed(page).iter("form")
    assert (form.get("method"), form.get("action")) == ("get", "/cost")


@pytest.mark.usefixtures("unchanged")
async def test_only_the_empty_page_may_be_listed_by_search_engines(stranger: Browser) -> None:
    empty, asked = await stranger.look("/cost"), await stranger.look(ASKED)
    assert "X-Robots-Tag" not in empty.headers
    assert '<meta name="robots" content="index">' in empty.text
    assert asked.headers["X-Robots-Tag"] == "noindex"
    assert '<meta name="robots" content="noindex">' in asked.text


async def test_no_state_is_chosen_for_a_stranger(stranger: Browser) -> None:
    page = await stranger.look("/cost")
    (state,) = (each for each in parsed(page).iter("select") if each.get("id") == "state")
    assert next(iter(state)).get("value") == ""
    wrong = await stranger.look("/cost?hourly_rate=30&weekly_hours=20")
    assert wrong.status_code == 400
    assert 'id="state-problem"' in wrong.text


async def test_estimates_of_a_network_address_are_limited(stranger: Browser, clock: FixedClock) -> None:
    for _ in range(ESTIMATES_OF_ADDRESS.burst):
        assert (await stranger.look(ASKED)).status_code == 200
    refused = await stranger.look(ASKED)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert (await stranger.look("/cost")).status_code == 200, "the empty form costs nothing"
    clock.advance(ESTIMATES_OF_ADDRESS.forgiven_after * 2)
    assert (await stranger.look(ASKED)).status_code == 200


@pytest.mark.parametrize(("word", "is_open"), [("", False), ("closed", False), (" Open ", True)])
def test_setting_opens_the_page(word: str, is_open: bool) -> None:
    assert cost_page_open_of({"HEARTHPAY_COST_PAGE": word}) is is_open


def test_setting_refuses_other_words() -> None:
    with pytest.raises(ValueError, match="HEARTHPAY_COST_PAGE must be open or closed"):
        cost_page_open_of({"HEARTHPAY_COST_PAGE": "maybe"})


async def test_who_is_signed_in_is_led_home(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    page = await (await _browser(app, "owner", clock)).look(ASKED)
    assert page.status_code == 200
    assert 'href="/home"' in page.text
    assert 'href="/sign-in"' not in page.text
