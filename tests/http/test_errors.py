"""Failures on the wire: always the envelope, never a word too much."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, get_args

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.refusal import Refusal, RefusalCode
from hearthpay.app import create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.http.statuses import STATUS, status_of
from hearthpay.taxes import TaxInputError
from tests.http.api import BASE_URL, ROSA, Account, data, refusal


async def test_an_unknown_address(client: httpx.AsyncClient) -> None:
    for path in (
        "/nothing",
        "/api/v1/nothing",
        "/api/v1/employees/",
        "/api/v1",
        "/x//",
        "/%00",
        "/api/v1/employees/x/y",
    ):
        refusal(await client.get(path), 404, "not_found")


async def test_a_method_that_an_address_does_not_answer(client: httpx.AsyncClient) -> None:
    response = await client.put("/api/v1/healthz".replace("/api/v1", ""))
    refusal(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD"
    response = await client.delete("/api/v1/employees")
    refusal(response, 405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD, POST"


async def test_a_failure_nobody_foresaw_leaks_nothing(
    app: FastAPI, client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(request: Request) -> Response:
        raise RuntimeError("password=hunter2 in /srv/secret.py")

    app.add_api_route("/broken", broken)
    response = await client.get("/broken")
    error = refusal(response, 500, "internal_error")
    assert set(error) == {"code", "message"}
    assert "hunter2" not in response.text
    assert "RuntimeError" not in response.text
    logged = capsys.readouterr().out
    assert "hunter2" in logged
    assert response.headers["X-Request-Id"] in logged


async def test_what_the_tax_engine_refuses_is_said_in_the_apis_words(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    async def refuse(request: Request) -> Response:
        raise TaxInputError("state", "has no rules", request.query_params["code"])

    app.add_api_route("/refuse", refuse)
    response = await client.get("/refuse", params={"code": "validation_error"})
    assert response.json()["error"]["details"] == [{"field": "state", "message": "has no rules"}]
    response = await client.get("/refuse", params={"code": "unsupported_jurisdiction"})
    assert response.status_code == 400
    assert response.json()["error"]["details"] == {"field": "state"}


async def test_every_code_of_the_contract_has_its_status() -> None:
    assert STATUS["confirmation_required"] == 400
    assert STATUS["direct_deposit_unavailable"] == 412
    assert all(status_of(Refusal(code, "…")) == status for code, status in STATUS.items())


@pytest.fixture
async def unreachable(clock: FixedClock, server: Any) -> AsyncIterator[httpx.AsyncClient]:
    """The application over a database that is not there."""
    database = Database("postgresql://hearthpay_service@127.0.0.1:1/hearthpay", role="hearthpay_service")
    transport = httpx.ASGITransport(create_app(database, clock))
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        yield client
    await database.dispose()


async def test_without_a_database_the_service_is_alive_but_not_ready(unreachable: httpx.AsyncClient) -> None:
    assert data(await unreachable.get("/healthz")) == {"status": "ok"}
    started = asyncio.get_running_loop().time()
    response = await unreachable.get("/readyz")
    refusal(response, 503, "service_unavailable")
    assert int(response.headers["Retry-After"]) > 0
    assert asyncio.get_running_loop().time() - started < 5


async def test_a_database_lost_on_the_way_is_said_and_nothing_is_changed(
    app: FastAPI, account: Account, household: dict[str, Any], database: Database, owner_connection: Any
) -> None:
    """The server ends the connection in the middle of the transaction."""

    @asynccontextmanager
    async def cut_off(tenant: Tenant | None) -> AsyncIterator[Any]:
        async with database.transaction(tenant) as session:
            pid = (await (await session.connection()).exec_driver_sql("SELECT pg_backend_pid()")).scalar_one()
            owner_connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
            yield session

    class CutOff(Database):
        def __init__(self) -> None:
            self.transaction = cut_off  # type: ignore[method-assign] # the wire is cut, all else is real

    runtime = app.state.runtime
    object.__setattr__(runtime, "database", CutOff())
    response = await account.live.post("/employees", ROSA)
    refusal(response, 503, "service_unavailable")
    assert "Retry-After" in response.headers
    object.__setattr__(runtime, "database", database)
    data(await account.live.post("/employees", ROSA), 201)


@pytest.mark.completeness
def test_every_code_has_a_status():
    assert set(STATUS) == set(get_args(RefusalCode))
