"""The feed of a household's calendar for calendar apps, read by the secret in its address, without a key.

Anyone who may not see it gets the same response, whatever the reason. Guesses are counted by the client's network,
apart from failed keys; a link in force is never refused for them, and may be read a limited number of times a day.
"""

import hashlib
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.duties.feed import FEED_PATH, OpenLink, open_link
from hearthpay.http.runtime import runtime_of
from hearthpay.security.portal_tokens import parse_token
from hearthpay.todos.feed import read_feed

READINGS_PER_DAY: Final = 500
"""Each app reads a feed a few times a day."""

router: Final = APIRouter(include_in_schema=False)

_PRIVATE: Final = {"Cache-Control": "private, no-cache", "X-Robots-Tag": "noindex"}
_NOT_MODIFIED: Final = 304


@router.get(f"{FEED_PATH}/{{token}}.ics")
async def get_feed(request: Request) -> Response:
    """Return the household's calendar, or the response that there is none."""
    runtime = runtime_of(request)
    link = await _link_of(request)
    feed = None
    if link is not None:
        await _spend(request, link)
        async with runtime.fair_share.place(link.tenant.organization_id):
            feed = await read_feed(runtime.database, runtime.clock, link)
    if feed is None:
        return Response("There is no such calendar.\n", 404, media_type="text/plain")
    tag = f'"{hashlib.sha256(feed).hexdigest()[:32]}"'
    headers = _PRIVATE | {"ETag": tag}
    if tag in {
        known.strip().removeprefix("W/") for known in request.headers.get("if-none-match", "").split(",")
    }:
        return Response(status_code=_NOT_MODIFIED, headers=headers)
    return Response(
        feed,
        media_type="text/calendar",
        headers=headers | {"Content-Disposition": 'inline; filename="hearthpay.ics"'},
    )


async def _link_of(request: Request) -> OpenLink | None:
    """Return the link in the address, or None; raises `rate_limited` after too many invalid ones."""
    runtime = runtime_of(request)
    address = None if request.client is None else request.client.host
    token = parse_token(request.path_params["token"])
    token_hash = None if token is None else token.hash
    due = runtime.attempts.wait_for_link(address, token_hash)
    if token is not None and token_hash is not None:
        async with runtime.attempts.turn(address, due):
            link = await open_link(runtime.database, token)
        if link is not None:
            runtime.attempts.succeeded(token_hash)
            return link
    if not due:
        due = await runtime.attempts.link_failed(address, token_hash)
    if due:
        raise Refusal(
            "rate_limited",
            "Too many addresses that open nothing. Check the link, and wait.",
            details={"retry_after": due},
            headers={"Retry-After": str(due)},
        )
    return None


async def _spend(request: Request, link: OpenLink) -> None:
    allowance = await runtime_of(request).rate_limits.spend(link.id, READINGS_PER_DAY)
    if allowance is not None and allowance.exceeded:
        raise Refusal(
            "rate_limited",
            f"This calendar has been read {READINGS_PER_DAY} times today. The count starts again at midnight UTC.",
            details={"limit": READINGS_PER_DAY, "retry_after": allowance.reset},
            headers={"Retry-After": str(allowance.reset)},
        )
