"""What is late is given up, over real sockets; and what was given up has not happened."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import StreamingResponse

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.session import Database
from hearthpay.http.connection import LARGEST_HEAD
from hearthpay.http.deadlines import Deadlines
from hearthpay.server import running
from tests.conditions import PATIENCE
from tests.conftest import plain_url
from tests.http.api import MARIA, Account, data, refusal

# Short, and yet so long that a machine with other work to do tells one from the next.
SHORT = Deadlines(head=0.8, body=1.6, answer=2.0, idle=2)
LONG = PATIENCE
HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: pay.example.com\r\n\r\n"


@asynccontextmanager
async def serving(database: Database, clock: FixedClock, deadlines: Deadlines) -> AsyncIterator[str]:
    app = create_app(database, clock, AppSettings(deadlines=deadlines))
    add_slow_routes(app)
    async with running(app, "127.0.0.1", 0, deadlines) as (address, _):
        await app.state.loading  # which would make the first requests late
        yield address


def add_slow_routes(app: FastAPI) -> None:
    """An answer that begins at once and takes its time."""

    async def drip() -> AsyncIterator[bytes]:
        for _ in range(4):
            await asyncio.sleep(0.3 * SHORT.answer)
            yield b"drop "

    async def dripping(_request: Request) -> StreamingResponse:
        return StreamingResponse(drip())

    app.add_api_route("/dripping", dripping, include_in_schema=False)


@pytest.fixture
async def address(database: Database, clock: FixedClock) -> AsyncIterator[str]:
    async with serving(database, clock, SHORT) as address:
        yield address


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Connection]]


@pytest.fixture
async def connect(address: str) -> AsyncIterator[Connect]:
    opened: list[asyncio.StreamWriter] = []

    async def connect() -> Connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rsplit(":", 1)[1]))
        opened.append(writer)
        return reader, writer

    yield connect
    for writer in opened:
        writer.close()


async def seconds_until_closed(reader: asyncio.StreamReader) -> float:
    """How long the server kept the connection, which it would keep for ever if nothing were late.

    What it still said is read over.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        async with asyncio.timeout(PATIENCE):
            while await reader.read(65536):
                continue
    except ConnectionError:
        pass
    return loop.time() - began


async def drip_until_closed(connection: Connection, drop: bytes) -> float:
    """Send a little again and again, as a client does that wants to keep the connection for ever."""
    reader, writer = connection

    async def drip() -> None:
        while True:
            writer.write(drop)
            await asyncio.sleep(0.05)

    dripping = asyncio.create_task(drip())
    try:
        return await seconds_until_closed(reader)
    finally:
        dripping.cancel()


async def answer_of(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return head + await reader.readexactly(int(length.split(b":")[1]))


async def test_a_client_that_never_says_a_word_is_let_go(connect: Connect) -> None:
    reader, _ = await connect()
    assert await seconds_until_closed(reader) > 0.3


async def test_a_head_that_comes_byte_by_byte_is_not_waited_for(connect: Connect) -> None:
    connection = await connect()
    connection[1].write(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
    assert await drip_until_closed(connection, b"a") > 0.3


@pytest.mark.parametrize(("beginning", "drop"), [(b"", b"\r\n"), (b"GET / HTTP/1.1\r\nX: ", b"a")])
async def test_a_second_head_has_its_deadline_too(connect: Connect, beginning: bytes, drop: bytes) -> None:
    reader, writer = await connect()
    writer.write(HEALTHZ)
    assert (await answer_of(reader)).startswith(b"HTTP/1.1 200")
    writer.write(beginning)
    await drip_until_closed((reader, writer), drop)


async def test_a_head_without_end_is_refused(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"a" * LARGEST_HEAD)
    assert (await reader.readline()).startswith(b"HTTP/1.1 431")
    await seconds_until_closed(reader)


async def test_a_body_that_does_not_come_is_refused_in_words(
    connect: Connect, account: Account, counts: Callable[[], dict[str, int]]
) -> None:
    before = counts()
    reader, writer = await connect()
    writer.write(
        b"POST /api/v1/employers HTTP/1.1\r\nHost: pay.example.com\r\nContent-Length: 1000\r\n"
        b'Authorization: Bearer %s\r\n\r\n{"first_name": ' % account.live.key.encode()
    )
    answer = await answer_of(reader)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in answer.lower()
    assert b'"validation_error"' in answer
    assert b'"field":"body"' in answer
    await seconds_until_closed(reader)
    assert counts() == before


async def test_a_stranger_cannot_stay_by_dripping_a_body_nobody_reads(connect: Connect) -> None:
    connection = await connect()
    connection[1].write(
        b"POST /api/v1/employers HTTP/1.1\r\nHost: pay.example.com\r\nContent-Length: 100000\r\n\r\n"
    )
    assert (await answer_of(connection[0])).startswith(b"HTTP/1.1 401")
    await drip_until_closed(connection, b"a")


async def test_an_idle_connection_is_kept_beyond_the_deadline_of_a_head(
    database: Database, clock: FixedClock
) -> None:
    patient = replace(SHORT, answer=PATIENCE, idle=int(PATIENCE))
    async with serving(database, clock, patient) as address:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rsplit(":", 1)[1]))
        for _ in range(3):
            writer.write(HEALTHZ)
            assert (await answer_of(reader)).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(SHORT.head + 0.2)  # no head is overdue before its first byte
        writer.close()


async def test_an_idle_connection_is_not_kept_for_ever(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(HEALTHZ)
    assert (await answer_of(reader)).startswith(b"HTTP/1.1 200")
    await seconds_until_closed(reader)


async def test_requests_sent_ahead_are_all_answered(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(HEALTHZ * 5)
    for _ in range(5):
        assert (await answer_of(reader)).startswith(b"HTTP/1.1 200")


async def test_an_answer_that_has_begun_may_take_longer(address: str) -> None:
    async with httpx.AsyncClient(base_url=address) as client:
        assert (await client.get("/dripping")).text == "drop " * 4


@asynccontextmanager
async def nobody_may_add_a_household(server: EmbeddedServer, account: Account) -> AsyncIterator[None]:
    """Hold the lock that creating a household waits for."""
    async with await psycopg.AsyncConnection.connect(
        plain_url(server.owner_url()), autocommit=True
    ) as connection:
        await connection.execute(
            "SELECT pg_advisory_lock(hashtextextended(%s, 0))",
            (f"households of {account.organization_id} False",),
        )
        yield


async def answered_in_time(send: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Send until a machine with other work to do answers in the short time that it has here."""
    async with asyncio.timeout(PATIENCE):
        while (response := await send()).status_code == 503:
            continue
    return response


async def test_what_took_too_long_is_undone_and_can_be_sent_again(
    address: str, account: Account, server: EmbeddedServer, owner_connection: psycopg.Connection, counts: Any
) -> None:
    before = counts()
    headers = account.live.headers("once")
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=30) as client:
        async with nobody_may_add_a_household(server, account):
            response = await client.post("/api/v1/employers", json=MARIA)
            assert response.status_code == 503
            assert response.json()["error"]["code"] == "service_unavailable"
            assert response.headers["Retry-After"]
            assert response.headers["X-Request-Id"] == response.json()["meta"]["requestId"]
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            assert owner_connection.execute(waiting).fetchone() == (0,)  # its transaction does not linger
            assert counts() == before
        created = await answered_in_time(lambda: client.post("/api/v1/employers", json=MARIA))
        assert created.status_code == 201
        replayed = await client.post("/api/v1/employers", json=MARIA)
        assert replayed.headers["Idempotent-Replayed"] == "true"
        assert replayed.json()["data"] == created.json()["data"]
    assert counts()["employers"] == before["employers"] + 1


async def test_requests_given_up_leave_no_connection_behind(
    address: str, account: Account, server: EmbeddedServer
) -> None:
    """More than the pool has connections, at once."""
    limits = httpx.Limits(max_connections=50)
    async with httpx.AsyncClient(
        base_url=address, headers=account.live.headers(), timeout=60, limits=limits
    ) as client:
        async with nobody_may_add_a_household(server, account):
            answers = await asyncio.gather(*(client.post("/api/v1/employers", json=MARIA) for _ in range(40)))
            assert {answer.status_code for answer in answers} == {503}
        found = await answered_in_time(lambda: client.get("/api/v1/employers"))
        assert found.json()["data"] == []
        created = await answered_in_time(lambda: client.post("/api/v1/employers", json=MARIA))
        assert created.status_code == 201


async def test_whenever_the_time_is_up_a_retry_does_it_once(
    database: Database, clock: FixedClock, account: Account, counts: Any
) -> None:
    """Cut requests off at every stage, from the first lookup to the commit; each key makes one household."""
    before = counts()
    cut_off = 0
    keys = [str(uuid4()) for _ in range(12)]
    for number, key in enumerate(keys):
        deadlines = Deadlines(body=LONG, answer=0.001 * (number + 1))
        transport = httpx.ASGITransport(create_app(database, clock, AppSettings(deadlines=deadlines)))
        async with httpx.AsyncClient(transport=transport, base_url="http://pay.example.com") as hasty:
            for _ in range(3):
                response = await hasty.post(
                    "/api/v1/employers", json=MARIA, headers=account.live.headers(key)
                )
                assert response.status_code in (201, 503), response.text
                cut_off += response.status_code == 503
        data(await account.live.post("/employers", MARIA, idempotency_key=key), 201)
    assert cut_off > 0
    added = {table: count - before[table] for table, count in counts().items()}
    assert added["employers"] == added["audit_log"] == added["idempotency_keys"] == len(keys)


async def test_a_request_in_time_is_not_disturbed(client: httpx.AsyncClient, account: Account) -> None:
    refusal(await client.get("/api/v1/nothing"), 404, "not_found")
    data(await account.live.post("/employers", MARIA), 201)
