"""The numbers for Prometheus: right, bounded, without ids, and for the operator alone."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.payroll.payday.worker_counts import add_to_counts
from tests.http.api import MARIA, ROSA, Account, data, refusal

TOKEN = "the operator's own token"
SHOWN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def app(database: Database, clock: FixedClock) -> FastAPI:
    return create_app(database, clock, AppSettings(metrics_token=TOKEN))


Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def read(client: httpx.AsyncClient) -> Samples:
    response = await client.get("/metrics", headers=SHOWN)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, frozenset(labels.items())), 0)


async def test_requests_are_counted_by_method_route_and_status(
    client: httpx.AsyncClient, account: Account
) -> None:
    household = data(await account.live.post("/employers", MARIA), 201)
    for _ in range(3):
        data(await account.live.get("/employers"))
    await client.get("/api/v1/employers")
    await client.patch("/api/v1/employers")
    await client.get(f"/api/v1/payroll/{household['id']}", headers=account.live.headers())
    for address in ("/wp-admin.php", "/.env"):
        await client.request("PROPFIND", address)
    samples = await read(client)

    def requests(**labels: str) -> float:
        return value(samples, "hearthpay_http_requests_total", **labels)

    assert requests(method="POST", route="/api/v1/employers", status="201") == 1
    assert requests(method="GET", route="/api/v1/employers", status="200") == 3
    assert requests(method="GET", route="/api/v1/employers", status="401") == 1
    assert requests(method="GET", route="/api/v1/payroll/{payroll_id}", status="404") == 1
    assert requests(method="other", route="none", status="404") == 2
    durations = "hearthpay_http_request_duration_seconds"
    assert value(samples, f"{durations}_count", method="GET", route="/api/v1/employers") == 4
    assert 0 < value(samples, f"{durations}_sum", method="GET", route="/api/v1/employers") < 60
    assert value(samples, "hearthpay_http_requests_in_flight") == 1  # the one that asks
    assert value(samples, "process_resident_memory_bytes") > 0


async def test_replays_are_counted(client: httpx.AsyncClient, account: Account) -> None:
    for _ in range(3):
        data(await account.live.post("/employers", MARIA, idempotency_key="once"), 201)
    samples = await read(client)
    assert value(samples, "hearthpay_http_idempotent_replays_total", route="/api/v1/employers") == 2


async def test_a_key_beyond_its_day_is_counted(
    client: httpx.AsyncClient, account: Account, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("""UPDATE organizations SET lifted_limits = '{"requests_per_day": 2}'""")
    answers = [(await account.live.get("/employers")).status_code for _ in range(4)]
    assert answers == [200, 200, 429, 429]
    samples = await read(client)
    assert value(samples, "hearthpay_http_rate_limited_total", route="/api/v1/employers") == 2


async def test_no_label_names_anybody(
    client: httpx.AsyncClient, account: Account, household: dict[str, Any]
) -> None:
    employee = data(await account.live.post("/employees", {**ROSA, "employer_id": household["id"]}), 201)
    await client.patch(
        f"/api/v1/employees/{employee['id']}", json={"pay_rate": 31.25}, headers=account.live.headers()
    )
    await client.get("/api/v1/Rosa?name=Rosa", headers=account.live.headers())
    text = (await client.get("/metrics", headers=SHOWN)).text
    for told in (household["id"], employee["id"], str(account.organization_id), "Rosa", account.live.key):
        assert told not in text


async def test_requests_under_way_are_seen(client: httpx.AsyncClient, app: FastAPI, account: Account) -> None:
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        reached.set()
        await go_on.wait()
        yield b"{}"

    waiting = asyncio.create_task(
        client.post("/api/v1/employers", content=body(), headers=account.live.headers())
    )
    await reached.wait()
    assert value(await read(client), "hearthpay_http_requests_in_flight") == 2
    go_on.set()
    refusal(await waiting, 400, "validation_error")
    assert value(await read(client), "hearthpay_http_requests_in_flight") == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer the operator's own toke"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": b"Bearer \xff\xfe"},
        {"X-API-Key": TOKEN},
    ],
)
async def test_who_does_not_show_the_token_reads_nothing(
    client: httpx.AsyncClient, headers: dict[str, Any]
) -> None:
    response = await client.get("/metrics", headers=headers)
    refusal(response, 401, "authentication_required")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert "hearthpay_http" not in response.text


async def test_the_workers_are_seen_through_the_database(
    client: httpx.AsyncClient, worker_database: Database
) -> None:
    """No tenant is needed to read the figures, and the service's role sees nothing but sums."""
    async with worker_database.transaction(None) as session:
        await add_to_counts(session, {"fired": 2, "failed": 0, "put_off": 1})
        await add_to_counts(session, {"fired": 3})
    samples = await read(client)
    figures = {name: value for (name, _), value in samples.items() if name.startswith("hearthpay_worker_")}
    assert figures == {
        "hearthpay_worker_figures_read": 1,
        "hearthpay_worker_payrolls_due": 0,
        "hearthpay_worker_oldest_due_seconds": 0,
        "hearthpay_worker_payments_held": 0,
        "hearthpay_worker_problems": 0,
        "hearthpay_worker_payrolls_fired_total": 5,
        "hearthpay_worker_payrolls_failed_total": 0,
        "hearthpay_worker_attempts_failed_total": 1,
    }


async def test_an_api_key_is_no_metrics_token(client: httpx.AsyncClient, account: Account) -> None:
    refusal(await client.get("/metrics", headers=account.live.headers()), 401, "authentication_required")


@pytest.mark.parametrize("token", [None, ""])
async def test_without_a_token_there_is_no_such_address(
    database: Database, clock: FixedClock, token: str | None
) -> None:
    transport = httpx.ASGITransport(create_app(database, clock, AppSettings(metrics_token=token)))
    async with httpx.AsyncClient(transport=transport, base_url="http://pay.example.com") as client:
        for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer None"}):
            refusal(await client.get("/metrics", headers=headers), 404, "not_found")


async def test_two_applications_count_apart(
    client: httpx.AsyncClient, database: Database, clock: FixedClock
) -> None:
    await client.get("/healthz")
    transport = httpx.ASGITransport(create_app(database, clock, AppSettings(metrics_token=TOKEN)))
    async with httpx.AsyncClient(transport=transport, base_url="http://pay.example.com") as other:
        samples = await read(other)
    assert value(samples, "hearthpay_http_requests_total", method="GET", route="/healthz", status="200") == 0
    samples = await read(client)
    assert value(samples, "hearthpay_http_requests_total", method="GET", route="/healthz", status="200") == 1
