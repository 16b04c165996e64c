"""Who an agent at `/mcp` acts for: the one place that turns what a request carries into an Actor."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from hearthpay.access.actor import Actor
from hearthpay.http.auth import identify
from hearthpay.mcp.calls import CallTerms

HOSTED = CallTerms(hosted=True)


@dataclass(frozen=True, slots=True)
class Admitted:
    """An agent that was let in, and on which terms."""

    actor: Actor
    terms: CallTerms = HOSTED


async def authenticate_mcp(request: Request) -> Admitted:
    """Return whom the agent acts for: an API key is taken, live or test, as the API itself takes one.

    It counts nothing against the key's limits: each call of the API that a tool makes does. An access token of a grant
    is told apart here as well, and brings the grant's terms along. Raises `authentication_required`, and
    `rate_limited` after too many attempts.
    """
    return Admitted(await identify(request))
