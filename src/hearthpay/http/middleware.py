"""Request middleware: gives each request an id and a timer, counts it, sets the security headers of the response,
and catches every failure.

Plain ASGI, because it runs on every request: one id, one header list, one timer, one `try`.
"""

import asyncio
from time import perf_counter
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, reset_contextvars
from uuid_utils import uuid7

from hearthpay.access.refusal import Problem, Refusal
from hearthpay.http.deadlines import Deadlines
from hearthpay.http.envelope import REQUEST_ID_KEY
from hearthpay.http.errors import error_response, internal_error
from hearthpay.http.metrics import Metrics
from hearthpay.http.rate_limit import RATE_LIMIT_KEY
from hearthpay.http.request_log import UNANSWERED, log_request, route_of
from hearthpay.http.statuses import HttpRefusal

_HARDENING: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
_DEFAULTS: Final = {
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}
"""Sent unless the response sets something else: wages don't belong in caches, and JSON loads nothing."""

_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
_REPLAYED: Final = b"idempotent-replayed"
_RETRY_AFTER: Final = "2"
_REQUEST_TIMEOUT: Final = 408


class RequestMiddleware:
    """ASGI middleware; the id is always ours, and one sent by the client is ignored."""

    def __init__(self, app: ASGIApp, metrics: Metrics, deadlines: Deadlines) -> None:
        self.app = app
        self._metrics = metrics
        self._deadlines = deadlines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens inside; then log and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = str(uuid7())
        scope[REQUEST_ID_KEY] = request_id
        method = scope["method"]
        if method == "HEAD":
            scope["method"] = "GET"  # the same answer; who sends it off knows to leave out the body
        exchange = _Exchange(scope, receive, send, request_id, self._deadlines, method)
        context = bind_contextvars(request_id=request_id)
        self._metrics.in_flight += 1
        began = perf_counter()
        try:
            await exchange.run(self.app)
        finally:
            seconds = perf_counter() - began
            self._metrics.in_flight -= 1
            route = route_of(scope)
            self._metrics.count(scope["method"], route, exchange.status, seconds, replayed=exchange.replayed)
            log_request(scope, route, exchange.status, seconds)
            reset_contextvars(**context)


class _Exchange:
    """One request and its response, under one timer.

    The timer is set once and checks what is due when it fires: resetting it at each step, as `asyncio.timeout`
    requires, took longer than the rest of the middleware together.
    """

    __slots__ = (
        "_awaiting_body",
        "_body_until",
        "_cancelling",
        "_expired",
        "_loop",
        "_method",
        "_receive",
        "_request_id",
        "_scope",
        "_send",
        "_task",
        "_timer",
        "_until",
        "replayed",
        "status",
    )

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        request_id: str,
        deadlines: Deadlines,
        method: str,
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._request_id = request_id
        self._method = method
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._body_until: float | None = min(now + deadlines.body, now + deadlines.answer)
        self._until = now + deadlines.answer
        self._awaiting_body = False
        self._expired = False
        self.status = UNANSWERED
        self.replayed = False

    async def run(self, app: ASGIApp) -> None:
        """Have `app` respond; what it doesn't answer in time, or at all, is answered here."""
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._timer = self._loop.call_at(self._body_until or self._until, self._ring)
        try:
            try:
                await app(self._scope, self.receive, self.send)
            finally:
                self._timer.cancel()
                ours = self._expired and task.uncancel() <= self._cancelling
        except asyncio.CancelledError:
            if not ours or self.status != UNANSWERED:
                raise
            await self._late()(self._scope, self.receive, self.send)
        except Exception as cause:
            if self.status != UNANSWERED:  # the answer is under way; all that is left is to break it off
                raise
            response = self._late() if ours else internal_error(Request(self._scope), cause)
            await response(self._scope, self.receive, self.send)

    def _ring(self) -> None:
        """End the request if it is late, else check again when it may be. A response that has begun has no deadline."""
        if self.status != UNANSWERED:
            return
        due = self._body_until if self._awaiting_body and self._body_until is not None else self._until
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._ring)
            return
        self._expired = True
        self._task.cancel()

    async def receive(self) -> Message:
        """Return what the client sends next; the body's deadline applies until its body is complete."""
        if self._body_until is None:
            return await self._receive()
        self._awaiting_body = True
        message = await self._receive()
        if not message.get("more_body", False):
            self._awaiting_body = False
            self._body_until = None
        return message

    async def send(self, message: Message) -> None:
        """Pass on the response with hardened headers."""
        if message["type"] == "http.response.start":
            self._scope["method"] = self._method
            self.status = message["status"]
            headers = message.setdefault("headers", [])
            present = {name for name, _ in headers}
            self.replayed = _REPLAYED in present
            message["headers"] = [
                *headers,
                (b"x-request-id", self._request_id.encode("ascii")),
                *self._scope.get(RATE_LIMIT_KEY, ()),
                *_HARDENING,
                *(default for default in _DEFAULTS.items() if default[0] not in present),
                *((_HSTS,) if self._scope["scheme"] == "https" else ()),
            ]
        await self._send(message)

    def _late(self) -> Response:
        """Return the refusal for a client that didn't send its body in time, or our own 503.

        The transaction was rolled back when the time ran out; only a commit already in progress may have succeeded,
        as with any lost connection.
        """
        if self._awaiting_body:
            problem = Problem("body", "did not arrive in time")
            refusal: Refusal = HttpRefusal(
                "validation_error",
                f"{problem.field}: {problem.message}",
                details=[problem],
                headers={"Connection": "close"},  # the rest of the body may still come
                status=_REQUEST_TIMEOUT,
            )
        else:
            refusal = Refusal(
                "service_unavailable",
                "The answer took too long and was given up. Try again; a POST is safe to repeat with its "
                "Idempotency-Key.",
                headers={"Retry-After": _RETRY_AFTER},
            )
        return error_response(Request(self._scope), refusal)
