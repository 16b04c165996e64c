"""Idempotency keys of requests: sending a POST again does nothing again.

`idempotent_writes` implements the keys; here the key is read from the request's header, and the answer becomes a
response. What an answer says about something that continues after the commit, such as an email, isn't stored but
determined each time.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import orjson
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import permissions_used
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import real_clock
from hearthpay.http.envelope import JsonResponse
from hearthpay.http.household_times import refuse_while_advancing
from hearthpay.http.idempotent_writes import (
    LONGEST_KEY,
    Claim,
    KeyTakenError,
    Rendered,
    find_answer,
    fingerprint_of,
    is_fit,
    run_once_per_key,
)
from hearthpay.http.json_body import read_json
from hearthpay.http.runtime import runtime_of
from hearthpay.security.key_ring import KeyRing
from hearthpay.wire.answer import Answer, render
from hearthpay.wire.secrecy import PORTAL_ONLY, key_holds_a_secret

HEADER: Final = "Idempotency-Key"
_HEADER: Final = HEADER.lower().encode("ascii")
REPLAYED: Final = {"Idempotent-Replayed": "true"}
_MADE: Final = 200

Operation = Callable[[AsyncSession], Awaitable[Answer]]
Latest = Callable[[dict[str, object]], Awaitable[dict[str, object]]]
"""Updates a response's `data`, outside of any transaction."""


async def idempotent(
    request: Request,
    actor: Actor,
    operation: Operation,
    *,
    sealed_with: KeyRing | None = None,
    latest: Latest | None = None,
) -> Response:
    """Run `operation` in one transaction of the actor's tenant, at most once per idempotency key.

    Every POST that changes state goes through here, with a key or without. `sealed_with` stores the response
    encrypted. `latest` is called after the commit, for a first response and a replayed one, and may call another
    server. Raises what `operation` and `latest` raise (for the former everything is rolled back), `validation_error`
    for a malformed key, `idempotency_conflict` if the key belongs to another request, KeyRingError, and what `allow`
    raises for a stored answer that needed more than the actor may.
    """
    runtime = runtime_of(request)
    claim = await _claim_of(request, actor)

    async def action(session: AsyncSession) -> Rendered:
        refuse_while_advancing()  # not what is replayed
        answer = await operation(session)
        return Rendered(answer.body(actor.request_id), answer.status)

    try:
        answered = await run_once_per_key(
            runtime.database,
            actor,
            claim,
            action,
            now=real_clock(runtime.clock).now(),
            sealed_with=sealed_with,
        )
    except KeyTakenError:
        raise _taken() from None
    body = answered.rendered.body
    if latest is not None:
        whole = orjson.loads(body)
        body = render(whole | {"data": await latest(whole["data"])})
    return JsonResponse(body, answered.rendered.status, REPLAYED if answered.replayed else None)


async def idempotent_name(
    request: Request, actor: Actor, make: Callable[[], Awaitable[str]]
) -> tuple[str, bool]:
    """Return the name of what ``make`` makes, or made when this key was first sent; and whether it is the earlier
    one.

    For results that are stored separately, as issued documents are: only their name is stored under the key. ``make``
    opens its own transactions, and must give the same result if run twice at once; the name stored first is kept.
    Raises what ``make`` raises, and as `idempotent` does.
    """
    runtime = runtime_of(request)
    claim = await _claim_of(request, actor)
    if claim is None:
        refuse_while_advancing()
        return await make(), False
    try:
        earlier = await find_answer(runtime.database, actor, claim)
        if earlier is not None:
            return orjson.loads(earlier.body), True
        refuse_while_advancing()
        with permissions_used(actor) as used:
            name = await make()

        async def keep_name(_: AsyncSession) -> Rendered:
            return Rendered(orjson.dumps(name), _MADE)

        answered = await run_once_per_key(
            runtime.database, actor, claim, keep_name, now=real_clock(runtime.clock).now(), needed=used
        )
    except KeyTakenError:
        raise _taken() from None
    return orjson.loads(answered.rendered.body), answered.replayed


def _taken() -> Refusal:
    return Refusal(
        "idempotency_conflict",
        f"This {HEADER} was used for another request. Send a new key with a new request.",
        details={"header": HEADER},
    )


async def _claim_of(request: Request, actor: Actor) -> Claim | None:
    """Return what the request claims: its endpoint and body under its key; None without a key."""
    key = key_of(request)
    if key is None:
        return None
    path = request.url.path
    content = await read_json(request)
    return Claim(key, fingerprint_of(actor, request.method, path, content=content), path)


def key_of(request: Request) -> str | None:
    """Return the request's idempotency key; None if it has none. Raises `validation_error` naming the header."""
    keys: list[str] = [value.decode("latin-1") for name, value in request.scope["headers"] if name == _HEADER]
    if not keys:
        return None
    key = keys[0]
    if len(keys) > 1 or not is_fit(key):
        raise invalid(HEADER, f"must be one header of 1 to {LONGEST_KEY} printable characters")
    if key_holds_a_secret(key):
        raise invalid(HEADER, PORTAL_ONLY)
    return key
