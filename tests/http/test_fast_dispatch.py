"""Fast dispatch answers as the framework does."""

import itertools
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.app import create_app
from hearthpay.clock import FixedClock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.http.envelope import answer
from hearthpay.http.fast_dispatch import FastDispatch, endpoints_by_address
from hearthpay.http.key_lookup import REMEMBERED_FOR
from hearthpay.http.routing import Endpoint, api_router
from tests.http.api import BASE_URL, Account

METHODS = ("POST", "GET", "HEAD", "PUT", "OPTIONS")
PATHS = ("/calculate", "/calculate/", "/payroll/run", "/payrolls?limit=x")
BODIES = (b'{"state": "ny", "annual_wages": 2900.5}', b'{"state": "zz", "ssn": 1}', b"{", b"")


@pytest.fixture
def long_way(database: Database, clock: FixedClock) -> FastAPI:
    """The same application, all of whose requests go the framework's way."""
    app = create_app(database, clock)
    app.user_middleware = [each for each in app.user_middleware if each.cls is not FastDispatch]
    return app


def test_every_endpoint_without_parameters_is_dispatched_fast(app: FastAPI) -> None:
    endpoints = [each for each in app.routes if isinstance(each, Endpoint) and "{" not in each.path]
    assert endpoints_by_address(app.routes) == {
        (method, each.path): each for each in endpoints for method in each.methods
    }


async def _nothing(request: Request) -> Response:
    return answer(request, {})


def test_what_a_route_before_it_takes_has_none() -> None:
    plain, general = api_router("Test"), api_router("Test")
    plain.add_api_route("/payroll/run", _nothing, methods=["GET", "POST"])
    general.add_api_route("/payroll/{payroll_id}", _nothing, methods=["GET"])
    assert set(endpoints_by_address([*general.routes, *plain.routes])) == {("POST", "/api/v1/payroll/run")}


async def test_both_ways_answer_alike(account: Account, long_way: FastAPI) -> None:
    key = {"Authorization": f"Bearer {account.live.key}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(long_way), base_url=BASE_URL) as other:
        for method, path, body, headers in itertools.product(METHODS, PATHS, BODIES, (key, {})):
            answers = [
                await client.request(method, f"/api/v1{path}", content=body, headers=headers)
                for client in (account.live.client, other)
            ]
            short, long = (
                (each.status_code, each.text.replace(each.headers["x-request-id"], ""), list(each.headers))
                for each in answers
            )
            assert short == long, (method, path, body)


async def test_failures_are_answered(database: Database, clock: FixedClock) -> None:
    async def broken(request: Request) -> Response:
        return answer(request, {"ratio": 1 / 0})

    async def cut_off(_: Request) -> Response:
        raise DatabaseUnavailable("gone")

    router = api_router("Test")
    router.add_api_route("/broken", broken)
    router.add_api_route("/cut-off", cut_off)
    app = create_app(database, clock)
    app.router.routes.extend(router.routes)
    assert ("GET", "/api/v1/broken") in endpoints_by_address(app.routes)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL) as client:
        failed, unavailable = await client.get("/api/v1/broken"), await client.get("/api/v1/cut-off")
    assert (failed.status_code, failed.json()["error"]["code"]) == (500, "internal_error")
    assert (unavailable.status_code, unavailable.json()["error"]["code"]) == (503, "service_unavailable")


async def test_a_remembered_key_is_forgotten_in_time(
    account: Account, app: FastAPI, clock: FixedClock
) -> None:
    keys = app.state.runtime.keys
    assert keys.remembered(account.live.key) is None
    assert (await account.live.get("/payrolls")).status_code == 200
    assert keys.remembered(account.live.key).key_id == account.live.key_id
    assert keys.remembered(account.live.key + "x") is None
    clock.advance(REMEMBERED_FOR - timedelta(microseconds=1))
    assert keys.remembered(account.live.key) is not None
    clock.advance(timedelta(microseconds=1))
    assert keys.remembered(account.live.key) is None
