"""Whom an agent at `/mcp` acts for: the one place that turns a request's credentials into an Actor."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.http.auth import identify
from hearthpay.http.envelope import request_id_of
from hearthpay.http.request_log import note_actor
from hearthpay.http.runtime import runtime_of
from hearthpay.mcp.calls import CallTerms
from hearthpay.oauth.agent_tokens import looks_like_access
from hearthpay.oauth.routes import challenge_of, resource_of
from hearthpay.oauth.tokens import find_access

HOSTED = CallTerms(hosted=True)


@dataclass(frozen=True, slots=True)
class Admitted:
    """An authenticated agent, and its terms."""

    actor: Actor
    terms: CallTerms = HOSTED
    client_name: str | None = None
    """The program's own name when a person authorized it; None for an agent with a key."""


async def authenticate_mcp(request: Request) -> Admitted:
    """Return whom the agent acts for: by a token that a person granted, or by an API key, as in the API itself.

    It counts nothing against the limits; each tool call and each reading does. A token is looked up each time, so
    that a revoked one ends at once; it must be for this exact address (RFC 8707). Raises `authentication_required`,
    with the way to get a token, and `rate_limited` after too many attempts with keys. Tokens expire normally, and
    many people's agents share one address, so agents with tokens only learn that theirs has ended.
    """
    presented = _bearer_in(request)
    if presented is None or not looks_like_access(presented):
        try:
            return Admitted(await identify(request))
        except Refusal as refusal:
            raise _pointed(request, refusal, invalid=presented is not None) from None
    runtime = runtime_of(request)
    now = runtime.clock.now()
    async with runtime.database.transaction(None) as session:
        access = await find_access(session, now, presented, request_id_of(request))
    if access is None or access.resource != resource_of(request):
        over = "This access token is not valid: it has expired or was taken back."
        raise _pointed(request, Refusal("authentication_required", over), invalid=True)
    note_actor(request, access.actor)
    terms = CallTerms(hosted=True, demands_preview=access.demands_preview, tools=access.tools)
    return Admitted(access.actor, terms, access.client_name)


def _bearer_in(request: Request) -> str | None:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def _pointed(request: Request, refusal: Refusal, *, invalid: bool) -> Refusal:
    """Return the refusal with the header that shows an agent where to get a token."""
    if refusal.code != "authentication_required":
        return refusal
    headers = {"WWW-Authenticate": challenge_of(request, invalid=invalid)}
    return Refusal(refusal.code, refusal.message, details=refusal.details, headers=headers)
