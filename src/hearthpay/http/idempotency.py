"""Idempotency keys: a POST that is sent again does nothing again.

The key is claimed by an INSERT inside the very transaction that changes the state. A second request with the same
key waits on that INSERT until the first has committed, then replays what the first answered; had the
first rolled back, it runs itself. Key, change and answer commit together, so a crash between the commit and the
answer loses nothing: the retry finds the stored answer. A refusal changes nothing and is not stored.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Final

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.http.actor import Actor
from hearthpay.http.envelope import Answer, JsonResponse
from hearthpay.http.errors import ApiError, invalid
from hearthpay.http.json_body import read_json
from hearthpay.http.runtime import runtime_of
from hearthpay.http.secrecy import PORTAL_ONLY, key_holds_a_secret

HEADER: Final = "Idempotency-Key"
_HEADER: Final = HEADER.lower().encode("ascii")
LONGEST_KEY: Final = 255
_REPLAYED: Final = {"Idempotent-Replayed": "true"}

_CLAIM: Final = text(
    "INSERT INTO idempotency_keys (organization_id, sandbox, key, request_hash, path, created_at) "
    "VALUES (:organization_id, :sandbox, :key, :request_hash, :path, :now) ON CONFLICT DO NOTHING RETURNING true"
)
_FIND: Final = text(
    "SELECT request_hash, status, body FROM idempotency_keys "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key"
)
_STORE: Final = text(
    "UPDATE idempotency_keys SET status = :status, body = :body "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key"
)

Operation = Callable[[AsyncSession], Awaitable[Answer]]


async def idempotent(request: Request, actor: Actor, operation: Operation) -> Response:
    """Run `operation` in one transaction of the actor's tenant, at most once per idempotency key.

    Every POST that changes state goes through here, with a key or without. Raises what `operation` raises
    (everything is rolled back), `validation_error` for a malformed key and `idempotency_conflict` where the
    key belongs to another request.
    """
    runtime = runtime_of(request)
    key = key_of(request)
    if key is None:
        async with runtime.database.transaction(actor.tenant) as session:
            answer = await operation(session)
            body = answer.body(actor.request_id)  # before the commit: what cannot be answered is not done
        return JsonResponse(body, answer.status)

    request_hash = await _request_hash(request, actor)
    claim = {"organization_id": actor.organization_id, "sandbox": actor.sandbox, "key": key}
    async with runtime.database.transaction(actor.tenant) as session:
        new = {"request_hash": request_hash, "path": request.url.path, "now": runtime.clock.now()}
        if (await session.execute(_CLAIM, claim | new)).first() is None:
            stored = (await session.execute(_FIND, claim)).one()
            if bytes(stored.request_hash) != request_hash:
                raise ApiError(
                    "idempotency_conflict",
                    f"This {HEADER} was used for another request. Send a new key with a new request.",
                    details={"header": HEADER},
                )
            return JsonResponse(bytes(stored.body), stored.status, _REPLAYED)
        answer = await operation(session)
        body = answer.body(actor.request_id)
        await session.execute(_STORE, claim | {"status": answer.status, "body": body})
    return JsonResponse(body, answer.status)


def key_of(request: Request) -> str | None:
    """The request's idempotency key; None without one. Raises `validation_error` naming the header."""
    keys: list[str] = [value.decode("latin-1") for name, value in request.scope["headers"] if name == _HEADER]
    if not keys:
        return None
    key = keys[0]
    if len(keys) > 1 or not 1 <= len(key) <= LONGEST_KEY or not key.isprintable():
        raise invalid(HEADER, f"must be one header of 1 to {LONGEST_KEY} printable characters")
    if key_holds_a_secret(key):
        raise invalid(HEADER, PORTAL_ONLY)
    return key


async def _request_hash(request: Request, actor: Actor) -> bytes:
    """What makes two requests the same one: the endpoint, the household they fall back on, and the body."""
    parsed = await read_json(request)
    digest = hashlib.sha256()
    falls_back_on = f"{'only ' if actor.confined else ''}{actor.employer_id or ''}"
    for part in (request.method, request.url.path, falls_back_on):
        digest.update(part.encode("utf-8") + b"\n")
    digest.update(orjson.dumps(parsed, option=orjson.OPT_SORT_KEYS))
    return digest.digest()
