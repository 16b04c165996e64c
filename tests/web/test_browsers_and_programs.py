"""What no route answers: people are shown a page with a number and a way on, programs read what they always did."""

import asyncio
import re

import httpx
import pytest
from fastapi import FastAPI, Request

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.deadlines import Deadlines
from tests.web.people_browser import HOME, Browser
from tests.web.test_pages import parsed

HTML = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
PROGRAMS = ({}, {"Accept": "*/*"}, {"Accept": "application/json"})


@pytest.fixture
def app(database: Database, clock: FixedClock) -> FastAPI:
    app = create_app(database, clock, AppSettings(public_url=HOME, deadlines=Deadlines(answer=0.3)))

    async def failing(request: Request) -> None:
        raise ValueError("a wage of 1234.56")

    async def late(request: Request) -> None:
        await asyncio.sleep(60)

    for path, endpoint in (
        ("/failing", failing),
        ("/late", late),
        ("/api/v1/failing", failing),
        ("/api/v1/late", late),
    ):
        app.add_api_route(path, endpoint, include_in_schema=False)
    return app


async def test_the_bare_address_leads_people_home_and_programs_to_the_documentation(app: FastAPI) -> None:
    browser = Browser.of(app)
    person = await browser.look("/", **HTML)
    assert (person.status_code, person.headers["location"]) == (303, "/home")
    assert person.headers["vary"] == "Accept"
    shown = await browser.client.get("/", headers=HTML, follow_redirects=True)
    assert shown.url.path == "/sign-in"
    for headers in PROGRAMS:
        program = await browser.look("/", **headers)
        assert (program.status_code, program.headers["location"]) == (307, "/docs")


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/nothing", 404, "Page not found"),
        ("GET", "/settings/nothing/here", 404, "Page not found"),
        ("POST", "/nothing", 404, "Page not found"),
        ("GET", "/sign-out", 405, "This address only takes forms"),
        ("GET", "/failing", 500, "Nothing was saved."),
        ("GET", "/late", 503, "nothing was saved"),
    ],
)
async def test_a_person_sees_a_page_and_a_program_reads_json(
    method: str, path: str, status: int, words: str, app: FastAPI
) -> None:
    browser = Browser.of(app)
    page = await browser.client.request(method, path, headers=HTML)
    assert page.status_code == status
    tree = parsed(page)
    assert words in "".join(tree.itertext())
    assert "1234.56" not in page.text
    number = re.search(r"<code>([0-9a-f-]{36})</code>", page.text)
    assert number is not None
    assert number[1] == page.headers["X-Request-Id"]
    assert "/" in {each.get("href") for each in tree.iter("a")}
    assert page.headers["vary"] == "Accept, Accept-Language"
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    for headers in PROGRAMS:
        told = await browser.client.request(method, path, headers=headers)
        assert told.status_code == status
        assert told.json()["success"] is False
        kept = ("allow", "retry-after")
        assert {k: told.headers.get(k) for k in kept} == {k: page.headers.get(k) for k in kept}


async def test_the_api_tells_a_browser_what_it_tells_a_program(app: FastAPI) -> None:
    browser = Browser.of(app)
    for path in (
        "/api",
        "/api/v1/nothing",
        "/api/v1/employers",
        "/api/v1/failing",
        "/api/v1/late",
        "/metrics",
        "/readyz",
    ):
        response = await browser.client.get(path, headers=HTML)
        assert response.headers["content-type"] == "application/json", path


async def test_a_page_of_failure_speaks_the_browsers_language(app: FastAPI) -> None:
    page = await Browser.of(app).look("/nada", **HTML, **{"Accept-Language": "es"})
    assert '<html lang="es">' in page.text
    assert "Inicio" in page.text


async def test_an_address_to_come_back_to_is_judged_at_once(app: FastAPI) -> None:
    """A pattern that can match in many ways would keep the whole service searching, at any stranger's wish."""
    async with asyncio.timeout(5):
        answer: httpx.Response = await Browser.of(app).look(f"/sign-in?next=/{'a' * 60}!")
    assert answer.status_code == 200
    assert 'name="next" value="/home"' in answer.text
