"""Failures are pages too: what happened, what was saved, a way on, a number, and not a word of the cause."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from starlette.responses import Response

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.web.framework import page_of
from hearthpay.web.visitor import Visitor
from tests.web.people_browser import HOME, Browser
from tests.web.test_pages import parsed

SECRET = "a wage of 1234.56"


@pytest.fixture
def app(database: Database, clock: FixedClock) -> FastAPI:
    app = create_app(database, clock, AppSettings(public_url=HOME))
    router = APIRouter()

    @page_of(router, "GET", "/failing", "anyone")
    async def failing(visitor: Visitor) -> Response:
        raise ValueError(SECRET)

    app.router.routes.extend(router.routes)
    return app


@pytest.fixture
async def cut_off(clock: FixedClock) -> AsyncIterator[FastAPI]:
    """The application, whose database cannot be reached."""
    nowhere = Database(
        "postgresql://nobody@127.0.0.1:9/nothing", role="hearthpay_service", reconnect_seconds=0.1
    )
    yield create_app(nowhere, clock, AppSettings(public_url=HOME))
    await nowhere.dispose()


def number_of(page: httpx.Response) -> str:
    found = re.search(r"<code>([0-9a-f-]{36})</code>", page.text)
    assert found is not None
    return found[1]


async def test_what_nobody_foresaw(app: FastAPI) -> None:
    page = await Browser.of(app).look("/failing")
    assert page.status_code == 500
    tree = parsed(page)
    assert [each.text for each in tree.iter("h1")] == ["Something went wrong"]
    assert number_of(page) == page.headers["X-Request-Id"]
    assert SECRET not in page.text
    assert "/failing" in {each.get("href") for each in tree.iter("a")}


async def test_a_database_that_is_away(cut_off: FastAPI) -> None:
    browser = Browser.of(cut_off)
    browser.client.cookies.set("__Host-hearthpay", "x" * 43, domain="pay.example.com")
    page = await browser.look("/home", **{"Accept-Language": "es"})
    assert page.status_code == 503
    assert page.headers["Retry-After"] == "5"
    assert "no se guardó nada" in page.text
    assert number_of(page) == page.headers["X-Request-Id"]
    assert (await Browser.of(cut_off).look("/sign-in")).status_code == 200


async def test_a_link_that_opens_nothing(app: FastAPI) -> None:
    for path in ("/join/short", f"/join/{'x' * 43}", "/reset/../../etc", f"/sign-up/{'é' * 43}"):
        page = await Browser.of(app).look(path)
        assert page.status_code == 404
    for path in ("/join/short", f"/reset/{'x' * 43}"):
        page = await Browser.of(app).look(path)
        assert "This link doesn’t work" in page.text.replace("&#39;", "’")
        assert number_of(page) == page.headers["X-Request-Id"]


async def test_what_is_no_form(app: FastAPI) -> None:
    browser = Browser.of(app)
    for content, kind in (
        (b"{}", "application/json"),
        (b"x" * 70_000, "application/x-www-form-urlencoded"),
        (b"\xff=%zz", "application/x-www-form-urlencoded"),
    ):
        page = await browser.client.post(
            "/sign-in", content=content, headers={"Sec-Fetch-Site": "same-origin", "Content-Type": kind}
        )
        assert page.status_code == 400
        assert "This form could not be read." in page.text
