"""Connections of the web server: uvicorn's, on which requests must arrive in time, be of sensible size and be read.

Uvicorn itself times only the pause after a response. A client that never sends a byte, or one every few seconds,
would keep its connection forever, and an endless head would fill the memory. Uvicorn also treats the trailers of a
chunked body as headers; here they are counted and dropped.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import httptools
from uuid_utils import uuid7
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from hearthpay.http.connection_limits import ConnectionLimiter
from hearthpay.http.deadlines import Deadlines
from hearthpay.http.metrics import CutReason
from hearthpay.wire.answer import render

LARGEST_HEAD: Final = 64 * 1024
"""Bytes of the request line, headers and trailers together."""
MOST_LINES: Final = 100
"""Lines of headers and trailers together."""
MOST_PIECES: Final = 500_000
"""How many pieces a body may come in; each costs a call, however small it is."""
MOST_AHEAD: Final = 64
"""How many requests may be sent before the first of them is answered."""

_PATIENCE: Final = 1.25
"""The connection's timeout for a body, as a multiple of the middleware's, which responds with an error."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a connection is closed, in words for the client if it can still read them."""

    status: int
    code: str
    message: str
    reason: CutReason
    headers: tuple[bytes, ...] = ()

    def answer(self) -> bytes:
        """Return the refusal as an HTTP response, in the usual envelope."""
        error: Mapping[str, str] = {"code": self.code, "message": self.message}
        body = render({"success": False, "error": error, "meta": {"requestId": str(uuid7())}})
        lines = (b"content-type: application/json", b"connection: close", *self.headers)
        head = STATUS_LINE[self.status] + b"\r\n".join((*lines, b"content-length: %d" % len(body), b"", b""))
        return head + body


_MALFORMED: Final = _Refusal(400, "validation_error", "This is not a valid HTTP request.", "malformed")
_ONE_HOST: Final = _Refusal(
    400, "validation_error", "Host: must be sent, once; HTTP/1.1 asks for it.", "malformed"
)
_HEAD_TOO_LARGE: Final = _Refusal(
    431,
    "validation_error",
    f"The request line and headers must have at most {LARGEST_HEAD:,} bytes and {MOST_LINES} lines.",
    "large",
)
_TRAILER_TOO_LARGE: Final = _Refusal(
    413,
    "validation_error",
    f"body: what stands between and after its chunks must have at most {LARGEST_HEAD:,} bytes and "
    f"{MOST_LINES} lines.",
    "large",
)
_TOO_MANY_PIECES: Final = _Refusal(
    413, "validation_error", f"body: must come in at most {MOST_PIECES:,} pieces.", "large"
)
_TOO_FAR_AHEAD: Final = _Refusal(
    400, "validation_error", f"At most {MOST_AHEAD} requests may be sent before an answer.", "large"
)
_NO_ROOM: Final = _Refusal(
    503, "service_unavailable", "Too many connections are open. Try again.", "full", (b"retry-after: 2",)
)


class _RefusedError(Exception):
    """Stops the parser in the middle of a packet."""


class TimedConnection(HttpToolsProtocol):
    """One connection; its timer runs only while part of a request is awaited across several packets."""

    deadlines: ClassVar[Deadlines] = Deadlines()
    limiter: ClassVar[ConnectionLimiter]

    _awaited: Literal["head", "body"] | None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Await the first request, if there is room for this client."""
        super().connection_made(transport)
        self._stage = 0
        self._timed_stage = -1
        self._timer: asyncio.TimerHandle | None = None
        self._packet_bytes = 0
        self._head_bytes = 0
        self._lines = 0
        self._hosts = 0
        self._pieces = 0
        self._bare_bytes = 0
        self._body_came = False
        self._refusal = _MALFORMED
        if not self.limiter.enter(self, None if self.client is None else self.client[0]):
            self._awaited = None
            transport.write(_NO_ROOM.answer())
            transport.close()
            return
        self._await("head")
        self._time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.limiter.leave(self)
        self._await(None)
        self._time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process what has arrived, and time what is still missing."""
        self._unset_keepalive_if_required()
        self._body_came = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # No other protocol is supported; the request itself has been read and is answered as it is.
            self._await(None)
        except httptools.HttpParserError:
            self._refuse(self._refusal)
            return
        if self._awaited is None and self._is_idle():
            self._await("head")  # stray bytes between two requests: uvicorn has stopped its clock
        if self._awaited == "head":
            self._packet_bytes += len(data)
            if self._packet_bytes > LARGEST_HEAD:
                self._refuse(_HEAD_TOO_LARGE)
        elif self._awaited == "body":
            # Chunk sizes, their extensions and trailers: the parser keeps what it can't pass on yet.
            self._bare_bytes = 0 if self._body_came else self._bare_bytes + len(data)
            if self._bare_bytes > LARGEST_HEAD:
                self._refuse(_TRAILER_TOO_LARGE)
        self._time()

    def on_message_begin(self) -> None:
        """Await the head, unless it is awaited already."""
        if len(self.pipeline) >= MOST_AHEAD:
            self._stop(_TOO_FAR_AHEAD)
        super().on_message_begin()
        self._lines = self._hosts = self._pieces = self._head_bytes = 0
        if self._awaited is None:
            self._await("head")

    def on_url(self, url: bytes) -> None:
        """Process a part of the request line."""
        super().on_url(url)
        self._head_bytes += len(url)
        if self._head_bytes > LARGEST_HEAD:
            self._stop(_HEAD_TOO_LARGE)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Process a header; a trailer is not a header, whatever its name."""
        self._lines += 1
        self._head_bytes += len(name) + len(value) + 4
        in_head = self._awaited == "head"
        if self._lines > MOST_LINES or self._head_bytes > LARGEST_HEAD:
            self._stop(_HEAD_TOO_LARGE if in_head else _TRAILER_TOO_LARGE)
        if not in_head:
            return
        if len(name) == 4 and name.lower() == b"host":
            self._hosts += 1
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Await the body."""
        if self._hosts != 1 and (self._hosts or self.parser.get_http_version() != "1.0"):
            self._stop(_ONE_HOST)
        self.limiter.at_work(self)
        super().on_headers_complete()
        self._packet_bytes = self._bare_bytes = 0
        self._body_came = True  # what of this packet was the head is not counted as the body's framing
        self._await("body")

    def on_body(self, body: bytes) -> None:
        """Process a piece of the body."""
        self._body_came = True
        self._pieces += 1
        if self._pieces > MOST_PIECES:
            self._stop(_TOO_MANY_PIECES)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Await nothing more."""
        super().on_message_complete()
        self._await(None)

    def on_response_complete(self) -> None:
        """Begin the next response; with none to send, this connection can be closed to make room."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self.limiter.silent(self)

    def unsent(self) -> int:
        """Return how many bytes are waiting for the client to read them."""
        return self.transport.get_write_buffer_size()

    def cut(self) -> None:
        """End the connection at once, whatever is still to be sent."""
        self.transport.abort()

    def _stop(self, refusal: _Refusal) -> None:
        """Stop the parser; `data_received` then refuses."""
        self._refusal = refusal
        raise _RefusedError

    def _refuse(self, refusal: _Refusal) -> None:
        """Close the connection, with the refusal unless it would end up inside another response."""
        if self.transport.is_closing():
            return
        self.limiter.note(refusal.reason)
        cycle = self.cycle
        answered = cycle is None or cycle.response_complete
        untold = not (answered or cycle.response_started or self.pipeline)
        # With a malformed head, an unanswered request is the previous one.
        if untold if self._awaited == "body" else answered:
            self.transport.write(refusal.answer())
        if not answered:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()

    def _await(self, part: Literal["head", "body"] | None) -> None:
        self._awaited = part
        self._stage += 1

    def _time(self) -> None:
        """Start the awaited part's timer, once; stop the timer of a part that has arrived."""
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
        """Close the connection; if we aren't reading ourselves, the client gets the same time again."""
        self._timer = None
        if self.pipeline or self.flow.read_paused:
            self._timed_stage = -1
            self._time()
        elif not self.transport.is_closing():
            self.limiter.note("late")
            self.transport.close()

    def _is_idle(self) -> bool:
        return (
            self.cycle is not None and self.cycle.response_complete and self.timeout_keep_alive_task is None
        )


def timed_by(deadlines: Deadlines, limiter: ConnectionLimiter) -> type[asyncio.Protocol]:
    """Return the connection class with these deadlines and this limiter, as uvicorn takes it for its setting `http`."""
    return type("TimedConnection", (TimedConnection,), {"deadlines": deadlines, "limiter": limiter})
