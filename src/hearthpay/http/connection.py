"""Connections of the web server: uvicorn's, on which a request must arrive in time and with a head of sensible size.

Uvicorn itself times only the pause after an answer. A client that never sends a byte, or one every few seconds,
would keep its connection for ever, and a head without end would fill the memory.
"""

import asyncio
from typing import ClassVar, Final, Literal

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from hearthpay.http.deadlines import Deadlines

LARGEST_HEAD: Final = 64 * 1024
"""Bytes of request line and headers; what has not ended by then is refused with 431."""

_PATIENCE: Final = 1.25
"""How much longer than the gate, which answers in words, the connection itself waits for a body."""

_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
)


class TimedConnection(HttpToolsProtocol):
    """One connection; its timer runs only while a part of a request is awaited across several packets."""

    deadlines: ClassVar[Deadlines] = Deadlines()

    _awaited: Literal["head", "body"] | None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Await the first request."""
        super().connection_made(transport)
        self._stage = 0
        self._timed_stage = -1
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._await("head")
        self._time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the timer."""
        self._await(None)
        self._time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come, and time what is still missing."""
        super().data_received(data)
        if self._awaited is None and self._is_idle():
            self._await("head")  # stray bytes between two requests: uvicorn has stopped its clock
        if self._awaited == "head":
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD and not self.transport.is_closing():
                self.transport.write(_TOO_LARGE)
                self.transport.close()
        self._time()

    def on_message_begin(self) -> None:
        """Await the head, unless it already is."""
        super().on_message_begin()
        if self._awaited is None:
            self._await("head")

    def on_headers_complete(self) -> None:
        """Await the body."""
        super().on_headers_complete()
        self._head_bytes = 0
        self._await("body")

    def on_message_complete(self) -> None:
        """Await nothing more."""
        super().on_message_complete()
        self._await(None)

    def _await(self, part: Literal["head", "body"] | None) -> None:
        self._awaited = part
        self._stage += 1

    def _time(self) -> None:
        """Start the awaited part's timer, once; stop that of a part which has come."""
        if self._stage == self._timed_stage:
            return
        self._timed_stage = self._stage
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._awaited is not None:
            late = self.deadlines.head if self._awaited == "head" else self.deadlines.body * _PATIENCE
            self._timer = self.loop.call_later(late, self._give_up)

    def _give_up(self) -> None:
        """Close the connection; where we ourselves are not reading, the client is given the same time again."""
        self._timer = None
        if self.pipeline or self.flow.read_paused:
            self._timed_stage = -1
            self._time()
        elif not self.transport.is_closing():
            self.transport.close()

    def _is_idle(self) -> bool:
        return (
            self.cycle is not None and self.cycle.response_complete and self.timeout_keep_alive_task is None
        )


def timed_by(deadlines: Deadlines) -> type[asyncio.Protocol]:
    """The connections of a server with these deadlines, as uvicorn takes them for its setting `http`."""
    return type("TimedConnection", (TimedConnection,), {"deadlines": deadlines})
