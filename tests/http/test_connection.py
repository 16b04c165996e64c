"""What a connection takes: trailers are no headers, one `Host`, and nothing without measure."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from ipaddress import ip_network

import pytest

from hearthpay.app import create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.connection import LARGEST_HEAD, MOST_AHEAD, MOST_LINES
from hearthpay.http.connection_limits import ConnectionLimits, connection_limits, room_within
from hearthpay.http.deadlines import Deadlines
from hearthpay.http.metrics import metrics_of
from hearthpay.server import running
from tests.conditions import PATIENCE, until
from tests.http.api import Account

HOST = b"Host: pay.example.com\r\n"
GET = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
CALCULATE = (
    b"POST /api/v1/calculate HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n%s\r\n%s0\r\n%s\r\n"
)
BODY = json.dumps({"state": "CA", "annual_wages": 35_000}).encode()
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Connection]]


@pytest.fixture
async def address(database: Database, clock: FixedClock) -> AsyncIterator[str]:
    limits = ConnectionLimits(total=8, per_address=5, proxies=(ip_network("127.0.0.2/32"),))
    async with running(create_app(database, clock), "127.0.0.1", 0, Deadlines(), limits) as (address, _):
        yield address


async def connect(address: str, source: str = "127.0.0.1") -> Connection:
    port = int(address.rsplit(":", 1)[1])
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))


async def said(connection: Connection, request: bytes) -> bytes:
    """The first answer to `request`."""
    reader, writer = connection
    writer.write(request)
    async with asyncio.timeout(PATIENCE):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        return head + await reader.readexactly(int(length.split(b":")[1]))


async def ask(address: str, request: bytes) -> bytes:
    connection = await connect(address)
    try:
        return await said(connection, request)
    finally:
        connection[1].close()


async def test_a_key_in_a_trailer_opens_nothing(address: str, account: Account) -> None:
    key = b"Authorization: Bearer %s\r\n" % account.live.key.encode()
    for trailers in (key, b"X-One: 1\r\n" + key, key.replace(b"Authorization: Bearer", b"X-API-Key:")):
        assert (await ask(address, CALCULATE % (b"", CHUNK, trailers))).startswith(b"HTTP/1.1 401")


async def test_a_trailer_replaces_no_header(address: str, account: Account) -> None:
    key = b"Authorization: Bearer %s\r\n" % account.live.key.encode()
    other = b"Authorization: Bearer hp_live_x\r\nIdempotency-Key: 078-05-1120\r\n"
    connection = await connect(address)
    for _ in range(2):  # nor one of the next request
        assert (await said(connection, CALCULATE % (key, CHUNK, other))).startswith(b"HTTP/1.1 200")
    assert (await said(connection, CALCULATE % (b"", CHUNK, b""))).startswith(b"HTTP/1.1 401")
    connection[1].close()


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n", b"", 400),
        (b"GET /healthz HTTP/1.1\r\n", HOST * 2, 400),
        (b"GET /healthz HTTP/1.0\r\n", HOST * 2, 400),
        (b"GET /healthz HTTP/1.0\r\n", b"", 200),
        (b"GET /healthz HTTP/1.1\r\n", HOST + b"Upgrade: websocket\r\nConnection: Upgrade\r\n", 200),
        (b"GET /healthz HTTP/1.1\r\n", HOST + b"X: 1\r\n" * (MOST_LINES - 1), 200),
        (b"GET /healthz HTTP/1.1\r\n", HOST + b"X: 1\r\n" * MOST_LINES, 431),
        (b"GET /healthz HTTP/1.1\r\n", HOST + b"X: %s\r\n" % (b"a" * LARGEST_HEAD), 431),
        (b"GET /healthz?%s HTTP/1.1\r\n" % (b"a" * LARGEST_HEAD), HOST, 431),
        (b"what is this\r\n", b"", 400),
    ],
)
async def test_heads(address: str, request_line: bytes, headers: bytes, status: int) -> None:
    answer = await ask(address, request_line + headers + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    if status != 200:
        told = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert told["success"] is False
        assert told["error"]["code"] == "validation_error"
        assert told["meta"]["requestId"]


@pytest.mark.parametrize("trailers", [b"X: 1\r\n" * MOST_LINES, b"X: %s\r\n" % (b"a" * LARGEST_HEAD)])
async def test_trailers_have_an_end(address: str, account: Account, trailers: bytes) -> None:
    key = b"Authorization: Bearer %s\r\n" % account.live.key.encode()
    connection = await connect(address)
    assert (await said(connection, CALCULATE % (key, CHUNK, trailers))).startswith(b"HTTP/1.1 413")
    async with asyncio.timeout(PATIENCE):
        assert await connection[0].read() == b""


async def test_a_chunk_extension_without_end_is_cut(address: str, account: Account) -> None:
    reader, writer = await connect(address)
    key = b"Authorization: Bearer %s\r\nExpect: 100-continue\r\n" % account.live.key.encode()
    writer.write((CALCULATE % (key, b"", b"")).partition(b"0\r\n\r\n")[0])
    async with asyncio.timeout(PATIENCE):
        # The head is over: what follows doesn't count to it, however busy the server is.
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        answer = asyncio.create_task(reader.readline())
        writer.write(b"5;")
        # A write after the server has closed would discard the answer that is waiting to be read.
        while not answer.done():
            writer.write(b"a" * (LARGEST_HEAD // 2))
            await asyncio.sleep(0.05)
        assert answer.result().startswith(b"HTTP/1.1 413")
    writer.close()


async def test_requests_sent_far_ahead_are_not_piled_up(address: str) -> None:
    reader, writer = await connect(address)
    writer.write(GET * MOST_AHEAD * 10)
    answers = b""
    async with asyncio.timeout(PATIENCE):
        try:
            while more := await reader.read(65536):
                answers += more
        except ConnectionError:
            pass
    assert answers.count(b"HTTP/1.1 ") <= MOST_AHEAD + 1


async def test_one_address_has_its_share_and_a_proxy_more(address: str) -> None:
    own = [await connect(address) for _ in range(5)]
    assert (await said(own[0], GET)).startswith(b"HTTP/1.1 200")
    reader, _ = await connect(address)
    async with asyncio.timeout(PATIENCE):
        refused = await reader.read()
    assert refused.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 2" in refused
    own[1][1].close()

    async def lets_in() -> bool:  # the server hears of the end a moment later
        with contextlib.suppress(ConnectionError):
            return (await ask(address, GET)).startswith(b"HTTP/1.1 200")
        return False

    await until(lets_in)
    proxied = [await connect(address, "127.0.0.2") for _ in range(7)]
    assert (await said(proxied[-1], GET)).startswith(b"HTTP/1.1 200")
    for _, writer in own + proxied:
        writer.close()


async def test_in_a_full_house_the_longest_silent_leaves(address: str) -> None:
    guests = [await connect(address, "127.0.0.2") for _ in range(8)]
    assert (await said(guests[7], GET)).startswith(b"HTTP/1.1 200")  # all are in
    assert (await said(guests[0], GET)).startswith(b"HTTP/1.1 200")  # not the longest silent any more
    newcomer = await connect(address, "127.0.0.2")
    assert (await said(newcomer, GET)).startswith(b"HTTP/1.1 200")
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(ConnectionError):
            assert await guests[1][0].read() == b""
    assert (await said(guests[0], GET)).startswith(b"HTTP/1.1 200")
    for _, writer in [*guests, newcomer]:
        writer.close()


async def test_who_does_not_read_is_cut(database: Database, clock: FixedClock) -> None:
    """The client reads only once the server has cut it: what it then finds is less than the answers."""
    app = create_app(database, clock)
    async with running(app, "127.0.0.1", 0, Deadlines(reading=0.4)) as (address, _):
        page = len(await ask(address, b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"))
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", int(address.rsplit(":", 1)[1]), limit=1024
        )
        for _ in range(MOST_AHEAD):
            writer.write(b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n")

        async def is_cut() -> bool:
            return bool(
                re.search(
                    r'connections_cut_total\{reason="unread"\} 1', metrics_of(app).exposition().decode()
                )
            )

        await until(is_cut)
        received = 0
        async with asyncio.timeout(PATIENCE):
            try:
                while more := await reader.read(65536):
                    received += len(more)
            except ConnectionError:
                pass
        assert received < page * MOST_AHEAD


def test_settings_are_read_strictly() -> None:
    named = connection_limits(
        {
            "HEARTHPAY_MAX_CONNECTIONS": "50",
            "HEARTHPAY_MAX_CONNECTIONS_PER_ADDRESS": "7",
            "HEARTHPAY_TRUSTED_PROXIES": "10.0.0.5, fd00::/8",
        }
    )
    assert named == ConnectionLimits(50, 7, (ip_network("10.0.0.5/32"), ip_network("fd00::/8")))
    assert connection_limits({}) == ConnectionLimits()
    for variable, value in (
        ("HEARTHPAY_MAX_CONNECTIONS", "0"),
        ("HEARTHPAY_MAX_CONNECTIONS_PER_ADDRESS", "many"),
        ("HEARTHPAY_TRUSTED_PROXIES", "proxy.example"),
    ):
        with pytest.raises(ValueError, match=variable):
            connection_limits({variable: value})


def test_there_is_room_for_fewer_connections_than_descriptors() -> None:
    assert room_within(ConnectionLimits(), 1024) == 640
    assert room_within(ConnectionLimits(), None) == room_within(ConnectionLimits(), 65_536) == 4_000
