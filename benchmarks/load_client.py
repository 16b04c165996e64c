"""A lean HTTP/1.1 client on raw sockets, so that the server under load is what limits the throughput.

One thread, many keep-alive connections, each with one request under way; it reads as much of an answer as it
needs to know that it is whole and that it is a success.
"""

import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length: "


@dataclass(frozen=True, slots=True)
class Load:
    """What came of one stretch of load."""

    answers: int
    seconds: float
    client_cpu_seconds: float

    @property
    def per_second(self) -> float:
        return self.answers / self.seconds


def drive(address: str, requests: Iterator[bytes], *, connections: int, seconds: float) -> Load:
    """Send endless `requests` over `connections` for a time. RuntimeError for anything but a success."""
    target = urlsplit(address)
    assert target.hostname is not None
    assert target.port is not None
    with selectors.DefaultSelector() as selector:
        sockets = [socket.create_connection((target.hostname, target.port)) for _ in range(connections)]
        try:
            for connected in sockets:
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(connected, selectors.EVENT_READ, bytearray())
            return _exchange(selector, sockets, requests, seconds)
        finally:
            for connected in sockets:
                connected.close()


def _exchange(
    selector: selectors.BaseSelector, sockets: list[socket.socket], following: Iterator[bytes], seconds: float
) -> Load:
    clock, cpu = time.perf_counter, time.thread_time
    started, cpu_started = clock(), cpu()
    deadline = started + seconds
    for connected in sockets:
        connected.sendall(next(following))
    answers = 0
    now = started
    under_way = len(sockets)
    finished = Load(0, 0, 0)
    while under_way:
        for key, _ in selector.select():
            ready = key.fileobj
            assert isinstance(ready, socket.socket)
            received: bytearray = key.data
            received += ready.recv(65536) or _closed()
            if not _is_whole(received):
                continue
            received.clear()
            if now < deadline:
                answers += 1
                ready.sendall(next(following))
            else:
                under_way -= 1
        now = clock()
        if now >= deadline and not finished.answers:
            finished = Load(answers, now - started, cpu() - cpu_started)
    return finished


def _is_whole(received: bytearray) -> bool:
    head_end = received.find(_HEAD_END)
    if head_end < 0:
        return False
    if not received.startswith(b"HTTP/1.1 20"):
        raise RuntimeError(f"the server refused: {bytes(received)!r}")
    at = received.index(_LENGTH) + len(_LENGTH)
    length = int(received[at : received.index(b"\r\n", at)])
    return len(received) == head_end + len(_HEAD_END) + length


def _closed() -> bytes:
    raise RuntimeError("the server closed a connection")
