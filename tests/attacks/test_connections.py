"""Attacks below HTTP's surface: trailers without end, silent connections, readers that never read."""

import json
import selectors
import socket
import time

import pytest

from tests.attacks.service import CALCULATION, DESCRIPTORS, Bystander, Service

CHUNKED = (
    b"POST /api/v1/calculate HTTP/1.1\r\nHost: pay.example.com\r\nTransfer-Encoding: chunked\r\n"
    b"Content-Type: application/json\r\n%s\r\n"
)
GROWTH = 40.0
"""Megabytes that the process may grow during an attack: what the allocator keeps, not what was sent."""


def flood(connection: socket.socket, piece: bytes, megabytes: int) -> int:
    """Send `piece` again and again; how many bytes went out before the service closed the connection."""
    sent = 0
    try:
        while sent < megabytes * 1_000_000:
            connection.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    return sent


@pytest.mark.parametrize(
    ("piece", "megabytes"),
    [
        pytest.param(b"X-Trailer: " + b"a" * 50 + b"\r\n", 40, id="many trailers"),
        pytest.param(b"a" * 64_000, 100, id="one trailer"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_trailers_without_end(
    attacked: Service, bystander: Bystander, bystanders_key: str, piece: bytes, megabytes: int, known: bool
) -> None:
    authorization = b"Authorization: Bearer %s\r\n" % bystanders_key.encode() if known else b""
    before = attacked.megabytes
    with bystander.beside():
        for _ in range(5):
            with attacked.connect() as connection:
                body = json.dumps(CALCULATION).encode()
                connection.sendall(CHUNKED % authorization + b"%x\r\n%s\r\n0\r\nX: " % (len(body), body))
                assert flood(connection, piece * (64_000 // len(piece) or 1), megabytes) < 20_000_000
    assert attacked.megabytes - before < GROWTH


def test_more_silent_connections_than_descriptors(attacked: Service, bystander: Bystander) -> None:
    silent = []
    try:
        with bystander.beside():
            for number in range(DESCRIPTORS + 176):
                silent.append(attacked.connect())
                if number % 3 == 0:
                    silent[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: pay.example.com\r\nX: ")
            time.sleep(1.0)
    finally:
        for connection in silent:
            connection.close()
    told = [json.loads(line) for line in attacked.log if '"connections cut"' in line]
    assert told
    assert len(told) < 10, "a flood is not a flood of log lines"
    with attacked.client() as client:
        metrics = client.get("/metrics", headers={"Authorization": "Bearer metrics"}).text
    assert 'hearthpay_connections_cut_total{reason="full"}' in metrics


def test_readers_that_never_read(attacked: Service, bystander: Bystander) -> None:
    """Each asks for a large page many times over and reads nothing; the service holds little and lets go of them."""
    before = attacked.megabytes
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: pay.example.com\r\n\r\n"
    readers = []
    with bystander.beside(), selectors.DefaultSelector() as selector:
        for _ in range(100):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(attacked.endpoint)
            connection.sendall(ask * 30)
            readers.append(connection)
            selector.register(connection, selectors.EVENT_READ)
        time.sleep(2.0)
        held = attacked.megabytes - before
        for connection in readers:
            connection.close()
    assert held < 150
