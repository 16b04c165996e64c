"""The gate every request passes: it names the request, hardens the answer's headers and lets no failure out.

Plain ASGI, because it runs on every request: one id, one header list, one `try`.
"""

from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7

from hearthpay.http.envelope import REQUEST_ID_KEY
from hearthpay.http.errors import internal_error

_HARDENING: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
_DEFAULTS: Final = {
    b"cache-control": b"no-store",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
}
"""Sent where the answer says nothing else: wages do not belong in caches, and JSON loads nothing."""

_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")


class Gate:
    """ASGI middleware; the id is ours alone, one sent by the client is ignored."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens inside."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = str(uuid7())
        scope[REQUEST_ID_KEY] = request_id
        started = False

        async def send_hardened(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = message.setdefault("headers", [])
                present = {name for name, _ in headers}
                message["headers"] = [
                    *headers,
                    (b"x-request-id", request_id.encode("ascii")),
                    *_HARDENING,
                    *(default for default in _DEFAULTS.items() if default[0] not in present),
                    *((_HSTS,) if scope["scheme"] == "https" else ()),
                ]
            await send(message)

        try:
            await self.app(scope, receive, send_hardened)
        except Exception as cause:
            if started:  # the answer is under way; all that is left is to break it off
                raise
            response = internal_error(Request(scope, receive), cause)
            await response(scope, receive, send_hardened)
