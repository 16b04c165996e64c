"""`/mcp`: the tools over Streamable HTTP, inside the process, with nothing kept between two requests.

Any process of the installation can answer any request. A client gives its name only when it introduces itself, so the
name is returned to it as the session's id, which is nothing more: there is no session behind it, and it grants no
right.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Final

import anyio
import orjson
import structlog
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.http.daily_limit import refuse_over_daily_limit
from hearthpay.http.hosts import misdirected, place_of_address, place_of_host
from hearthpay.http.inner_call import call_inside
from hearthpay.http.json_body import read_json
from hearthpay.http.request_log import describe_failure
from hearthpay.http.runtime import runtime_of
from hearthpay.http.statuses import FORBIDDEN, HttpRefusal
from hearthpay.mcp.audit import plain_name, record_resource_read, record_tool_call
from hearthpay.mcp.authentication import Admitted, authenticate_mcp
from hearthpay.mcp.calls import API, ApiAnswer, ApiCall, CallTerms
from hearthpay.wire.secrecy import PORTAL_ONLY, holds_a_secret, key_holds_a_secret

if TYPE_CHECKING:
    from hearthpay.mcp.resource_results import Reading
    from hearthpay.mcp.server import Context
    from hearthpay.mcp.tool_results import ToolAnswer
    from hearthpay.mcp.transport import Transport

PATH: Final = "/mcp"

_ADMITTED_KEY: Final = "hearthpay.agent"
_SESSION_HEADER: Final = b"mcp-session-id"
_SESSION_PREFIX: Final = "hp."
_MADE: Final = 200

_log = structlog.get_logger("hearthpay.mcp")


class HostedTools:
    """The endpoint, as ASGI; the SDK is imported with the first authenticated request."""

    path: Final = PATH
    """The endpoint's name in the request log and the metrics."""

    def __init__(self) -> None:
        self._transport: Transport | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises Refusal for a request that isn't authenticated."""
        scope["route"] = self
        request = Request(scope, receive, send)
        refuse_rebound(request)
        scope[_ADMITTED_KEY] = await authenticate_mcp(request)
        message = await read_json(request)
        _refuse_secrets(request, message)
        await self._sdk().handle(scope, _once(orjson.dumps(message), receive), _introduced(message, send))

    def _sdk(self) -> Transport:
        if self._transport is None:
            from hearthpay.mcp.server import agents_server
            from hearthpay.mcp.transport import Transport

            # The SDK logs the beginning and end of each request; our own log has its line for that.
            logging.getLogger("mcp").setLevel(logging.ERROR)
            self._transport = Transport(agents_server(_caller_of, _noted, _read))
        return self._transport


def _refuse_secrets(request: Request, message: object) -> None:
    """Refuse a message in which anything but a tool's arguments reads like a number of the vault.

    The protocol's errors repeat what they refuse: a method, an id, a version, a value of another type. Tools answer for
    their arguments themselves. Digits alone are an id or a time wherever clients make them up.
    """
    texts = [value for name, value in request.headers.items() if name.startswith("mcp-")]
    pending: list[tuple[str, object]] = [("", message)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, str):
            texts.append(value)
            if name in ("method", "uri") and holds_a_secret(value):
                raise invalid("body", PORTAL_ONLY)
        elif isinstance(value, dict):
            texts += value
            of_tool = value.get("method") == "tools/call"
            if name != "clientInfo":  # the audit log withholds its texts
                pending += [
                    (each, _without_arguments(item) if of_tool else item) for each, item in value.items()
                ]
        elif isinstance(value, list):
            pending += [(name, item) for item in value]
    if any(map(key_holds_a_secret, texts)):
        raise invalid("body", PORTAL_ONLY)


def _without_arguments(params: object) -> object:
    """Return a call's parameters without the tool's arguments, if these are what the tool takes."""
    if not isinstance(params, dict) or not isinstance(params.get("arguments"), dict):
        return params
    return {name: item for name, item in params.items() if name != "arguments"}


def refuse_rebound(request: Request) -> None:
    """Refuse what a web page could send by having its own name resolve to this machine, or from its own origin.

    The address must be the installation's (HEARTHPAY_PUBLIC_URL), or this machine's; an `Origin` must be the same.
    Raises `invalid_state` (421, 403).
    """
    public = runtime_of(request).public_url
    own = None if public is None else place_of_address(public)
    host = place_of_host(request.headers.get("host", ""))
    if host is None or not (host.is_loopback or (own is not None and host.is_of(own))):
        raise misdirected()
    origin = request.headers.get("origin")
    if origin is not None:
        came_from = place_of_address(origin)
        if came_from is None or not (came_from == host or (own is not None and came_from.is_of(own))):
            raise HttpRefusal(
                "invalid_state", "This request comes from a page of another site.", status=FORBIDDEN
            )


def _caller_of(context: Context) -> InnerCaller:
    request = _request_of(context)
    return InnerCaller(request, request.scope[_ADMITTED_KEY])


def _request_of(context: Context) -> Request:
    request = context.request
    assert isinstance(request, Request), "the transport hands on the request that it serves"
    return request


async def _noted(context: Context, tool: str, answer: ToolAnswer | None) -> None:
    request, client = _request_of(context), _client_of(context)
    runtime, actor = runtime_of(request), request.scope[_ADMITTED_KEY].actor
    row = record_tool_call(runtime.database, runtime.deferred_audit, actor, client, tool, answer)
    await _left(row, tool)


async def _read(context: Context, reading: Reading | None) -> None:
    request, client = _request_of(context), _client_of(context)
    database, actor = runtime_of(request).database, request.scope[_ADMITTED_KEY].actor
    await _left(record_resource_read(database, actor, client, reading), "resource")


async def _left(row: Awaitable[None], what: str) -> None:
    """Write the audit row, even for a call that is being cut off; a row that can't be written undoes no action."""
    with anyio.CancelScope(shield=True):
        try:
            await row
        except Exception as failure:  # noqa: BLE001 - the answer stands; that its row is missing goes to the log
            _log.error("agent's call without its audit row", tool=what, exception=describe_failure(failure))


def _client_of(context: Context) -> str | None:
    """Return the program's name, as given now or in its introduction, otherwise as the grant has it."""
    from hearthpay.mcp.server import client_of

    request = _request_of(context)
    admitted: Admitted = request.scope[_ADMITTED_KEY]
    return client_of(context) or _named_in(request.headers.get("mcp-session-id")) or admitted.client_name


def _once(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that first delivers the body, which was read before, then whatever follows."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def _introduced(message: object, send: Send) -> Send:
    """Return a sender that adds the client's name to the response to an introduction; its status is a plain number."""
    name = _name_told(message)
    header = b"" if name is None else base64.urlsafe_b64encode(name.encode("utf-8")).rstrip(b"=")

    async def sent(answer: Message) -> None:
        if answer["type"] == "http.response.start":
            answer["status"] = int(answer["status"])
            if header and answer["status"] == _MADE:
                named = (_SESSION_HEADER, _SESSION_PREFIX.encode("ascii") + header)
                answer["headers"] = [*answer.get("headers", ()), named]
        await send(answer)

    return sent


def _name_told(message: object) -> str | None:
    if not isinstance(message, dict) or message.get("method") != "initialize":
        return None
    params = message.get("params")
    info = params.get("clientInfo") if isinstance(params, dict) else None
    if not isinstance(info, dict):
        return None
    return plain_name(f"{info.get('name', '')} {info.get('version', '')}")


def _named_in(session: str | None) -> str | None:
    """Return the name in a session's id; None for any other text."""
    if session is None or not session.startswith(_SESSION_PREFIX):
        return None
    encoded = session.removeprefix(_SESSION_PREFIX)
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


class InnerCaller:
    """Calls the API for an agent while its request is being answered."""

    __slots__ = ("_admitted", "_request")

    def __init__(self, request: Request, admitted: Admitted) -> None:
        self._request = request
        self._admitted = admitted

    @property
    def terms(self) -> CallTerms:
        """The agent's terms."""
        return self._admitted.terms

    async def call(self, call: ApiCall) -> ApiAnswer:
        """Make the call with the agent's actor."""
        answered = await call_inside(
            self._request,
            self._admitted.actor,
            call.method,
            API + call.path,
            query=call.query,
            body=call.body,
            idempotency_key=call.idempotency_key,
        )
        media_type = answered.headers.get("content-type", "").partition(";")[0]
        return ApiAnswer(answered.status, media_type, answered.body)

    async def count(self) -> Mapping[str, Any] | None:
        """Count it against the requests of the day, like each call of the API."""
        try:
            await refuse_over_daily_limit(self._request, self._admitted.actor)
        except Refusal as refusal:
            return {"code": refusal.code, "message": refusal.message, "details": refusal.details}
        return None
