"""The route index finds the route that the framework would find."""

import re
from uuid import UUID

import httpx
from fastapi import FastAPI
from fastapi.routing import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.types import Scope

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.route_index import RouteIndex
from tests.http.api import BASE_URL, Account

_METHODS = ("GET", "POST", "PATCH", "DELETE", "HEAD")
_ID = str(UUID(int=7))
_UNUSUAL = ("{id}", "x", "", "a\n", "%2F", "run", "2026")


def _in_turn(routes: list[BaseRoute], method: str, path: str) -> BaseRoute | None:
    """The first route that answers the request, as the framework finds it."""
    scope: Scope = {"type": "http", "method": method, "path": path}
    return next((each for each in routes if each.matches(scope)[0] is Match.FULL), None)


def _of_path(routes: list[Route], path: str) -> list[BaseRoute]:
    """The routes whose pattern a path matches, which the framework compares before anything else."""
    return [each for each in routes if each.path_regex.match(path)]


def _by_index(index: RouteIndex, method: str, path: str) -> BaseRoute | None:
    match, found = index.matches({"type": "http", "method": method, "path": path})
    assert match in (Match.FULL, Match.NONE)
    return found["hearthpay.route"] if match is Match.FULL else None


def _paths(routes: list[Route]) -> set[str]:
    """The path of each route with ids, with a slash more, and with each segment in turn changed."""
    found = set()
    for route in routes:
        parts = re.sub(r"{\w+}", _ID, route.path).split("/")
        found |= {"/".join(parts), "/".join([*parts, ""]), "/".join([*parts, "x"])}
        for place in range(1, len(parts)):
            found |= {"/".join([*parts[:place], each, *parts[place + 1 :]]) for each in _UNUSUAL}
    return found


def test_every_route_is_found_as_by_the_framework(database: Database, clock: FixedClock) -> None:
    app = create_app(database, clock, AppSettings(public_url=BASE_URL))
    routes = [each for each in app.routes if isinstance(each, Route)]
    assert all(isinstance(each, Route | RouteIndex) for each in app.routes)
    index = RouteIndex(routes)
    found: list[BaseRoute | None] = []
    for path in _paths(routes):
        matching = _of_path(routes, path)
        for method in _METHODS:
            expected = _in_turn(matching, method, path)
            if not path.isprintable():
                assert _by_index(index, method, path) is None, (method, path)
            else:
                assert _by_index(index, method, path) is expected, (method, path)
                found.append(expected)
    assert [each for each in routes if not any(each is other for other in found)] == []


async def _nothing(request: Request) -> Response:
    return PlainTextResponse("")


def test_the_first_of_several_answers() -> None:
    paths = (
        "/a/{x}/c",
        "/{x}/b/c",
        "/a/b/c",
        "/files/{rest:path}",
        "/files/b/c",
        "/{x}/b/{y}/{z}",
        "/a/b/c/d",
    )
    routes: list[BaseRoute] = [
        Route(path, _nothing, methods=[method]) for method in ("POST", "GET") for path in paths
    ]
    routes.insert(3, Mount("/a/b", Route("/c/d", _nothing)))
    index = RouteIndex(routes)
    for path in ("/a/b/c", "/a/b/c/d", "/files/b/c", "/files/b/c/d/e", "/z/b/c", "/z/b/c/d", "/a", "/", ""):
        for method in _METHODS:
            assert _by_index(index, method, path) is _in_turn(routes, method, path), (method, path)


def test_routes_are_looked_up_by_their_segments(database: Database, clock: FixedClock) -> None:
    """Few are tried, whose number of segments and whose words are those of the path."""
    routes = create_app(database, clock).routes
    index = next(each for each in routes if isinstance(each, RouteIndex))
    for path in (f"/app/{_ID}/calendar/{_ID}", f"/api/v1/payroll/{_ID}/void", "/settings/profile"):
        assert len(index._candidates(path)) < 10


async def test_the_application_answers_by_it(account: Account, app: FastAPI) -> None:
    """As without it: what there is, what isn't, and what a path doesn't take; and routes added later are found."""
    added = APIRouter()
    added.add_api_route("/app/{household_id}/later", _nothing, methods=["GET"])
    app.router.routes.extend(added.routes)
    paths = (f"/app/{_ID}/calendar/{_ID}", f"/api/v1/employees/{_ID}", f"/api/v1/payroll/{_ID}/void")
    answers = {}
    for indexed in (True, False):
        if not indexed:
            index = next(each for each in app.router.routes if isinstance(each, RouteIndex))
            app.router.routes.remove(index)
        client, headers = account.live.client, {"Authorization": f"Bearer {account.live.key}"}
        for path in (*paths, "/app/x/later", "/api/v1/nowhere/x", f"/api/v1/employees/{_ID}/"):
            for method in ("GET", "PUT"):
                answered = await client.request(method, f"{path}", headers=headers)
                answers[indexed, method, path] = _told(answered)
    assert answers[True, "GET", "/app/x/later"][0] == 200
    for (indexed, method, path), told in answers.items():
        if indexed:
            assert told == answers[False, method, path], (method, path)


def _told(answered: httpx.Response) -> tuple[int, str, list[str]]:
    text = answered.text.replace(answered.headers["x-request-id"], "")
    return answered.status_code, text, list(answered.headers)
