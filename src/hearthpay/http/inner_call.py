"""An internal call of the API: the same endpoints, rules and responses, for an actor who is known already.

Another interface with its own connections, such as the agents' tools, calls the API this way. The request being
answered supplies its id, its address and its deadline; the actor is already authenticated and isn't checked again.
The call counts against the same limits as a request from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlencode

import orjson
from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import Message, Scope

from hearthpay.access.actor import Actor
from hearthpay.http.auth import INSIDE_KEY
from hearthpay.http.envelope import REQUEST_ID_KEY, request_id_of
from hearthpay.http.errors import internal_error
from hearthpay.http.fast_dispatch import FastDispatch, answer_to_failure
from hearthpay.http.rate_limit import RATE_LIMIT_KEY
from hearthpay.http.request_log import note_actor

_LENT: Final = ("type", "asgi", "http_version", "scheme", "server", "client", "app")
_HOST: Final = b"host"


@dataclass(frozen=True, slots=True)
class InnerAnswer:
    """An endpoint's response: status, headers in lower case, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def call_inside(
    request: Request,
    actor: Actor,
    method: str,
    path: str,
    *,
    query: Mapping[str, str] | None = None,
    body: object = None,
    idempotency_key: str | None = None,
) -> InnerAnswer:
    """Call the endpoint at `path` on behalf of `actor`, while `request` is being answered; never raises a refusal."""
    content = b"" if body is None else orjson.dumps(body)
    headers = [each for each in request.scope["headers"] if each[0] == _HOST]
    headers.append((b"content-type", b"application/json"))
    if idempotency_key is not None:
        headers.append((b"idempotency-key", idempotency_key.encode("utf-8")))
    scope: Scope = {name: request.scope[name] for name in _LENT if name in request.scope} | {
        "method": method,
        "path": path,
        "raw_path": path.encode("ascii"),
        "root_path": "",
        "query_string": urlencode(query or {}).encode("ascii"),
        "headers": headers,
        "state": {},
        REQUEST_ID_KEY: request_id_of(request),
        INSIDE_KEY: actor,
    }
    answered = _Answered(content)
    inner = Request(scope, answered.receive, answered.send)
    note_actor(inner, actor)
    try:
        await _endpoints_of(request.app)(scope, answered.receive, answered.send)
    except Exception as failure:  # noqa: BLE001 - answered as the application answers it
        try:
            response = await answer_to_failure(inner, failure)
        except Exception as unforeseen:  # noqa: BLE001 - logged, and answered without a word
            response = internal_error(inner, unforeseen)
        await response(scope, answered.receive, answered.send)
    if RATE_LIMIT_KEY in scope:
        request.scope[RATE_LIMIT_KEY] = scope[RATE_LIMIT_KEY]
    return InnerAnswer(answered.status, answered.headers, b"".join(answered.chunks))


def _endpoints_of(app: FastAPI) -> FastDispatch:
    """Return the application's endpoints without the layers that only a connection needs."""
    way: FastDispatch | None = getattr(app.state, "inner_way", None)
    if way is None:
        way = app.state.inner_way = FastDispatch(app.router, app.router.routes)
    return way


class _Answered:
    """Passes the body to the endpoint and collects its response."""

    __slots__ = ("_content", "chunks", "headers", "status")

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.status = 0
        self.headers: dict[str, str] = {}
        self.chunks: list[bytes] = []

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._content, "more_body": False}

    async def send(self, message: Message) -> None:
        fields = cast("dict[str, Any]", message)
        if fields["type"] == "http.response.start":
            self.status = fields["status"]
            self.headers = {
                name.decode("latin-1"): value.decode("latin-1") for name, value in fields["headers"]
            }
        elif fields["type"] == "http.response.body":
            self.chunks.append(fields.get("body", b""))
