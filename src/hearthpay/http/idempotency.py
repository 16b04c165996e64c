"""Idempotency keys: a POST that is sent again does nothing again.

The key is claimed by an INSERT inside the very transaction that changes the state. A second request with the same
key waits on that INSERT until the first has committed, then replays what the first answered; had the
first rolled back, it runs itself. Key, change and answer commit together, so a crash between the commit and the
answer loses nothing: the retry finds the stored answer. A refusal changes nothing and is not stored.

An answer with a secret in it, such as a link to the portal, is kept encrypted with the vault's key. What an answer
says of something that goes on after the commit, such as an email, is not kept but found out anew each time.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import orjson
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.http.envelope import JsonResponse
from hearthpay.http.json_body import read_json
from hearthpay.http.runtime import runtime_of
from hearthpay.security.content_seal import Place, SealedContent, answer_place, open_content, seal_content
from hearthpay.security.key_ring import KeyRing, UnknownKeyError
from hearthpay.wire.answer import Answer, render
from hearthpay.wire.secrecy import PORTAL_ONLY, key_holds_a_secret

HEADER: Final = "Idempotency-Key"
_HEADER: Final = HEADER.lower().encode("ascii")
LONGEST_KEY: Final = 255
_REPLAYED: Final = {"Idempotent-Replayed": "true"}

_CLAIM: Final = text(
    "INSERT INTO idempotency_keys (organization_id, sandbox, key, request_hash, path, created_at) "
    "VALUES (:organization_id, :sandbox, :key, :request_hash, :path, :now) ON CONFLICT DO NOTHING RETURNING true"
)
_FIND: Final = text(
    "SELECT request_hash, status, body, nonce, key_id FROM idempotency_keys "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key"
)
_STORE: Final = text(
    "UPDATE idempotency_keys SET status = :status, body = :body "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key"
)
_STORE_SEALED: Final = text(
    "UPDATE idempotency_keys SET status = :status, body = :body, nonce = :nonce, key_id = :key_id "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key"
)

Operation = Callable[[AsyncSession], Awaitable[Answer]]
Latest = Callable[[dict[str, object]], Awaitable[dict[str, object]]]
"""Brings an answer's `data` up to date, outside of any transaction."""


async def idempotent(
    request: Request,
    actor: Actor,
    operation: Operation,
    *,
    sealed_with: KeyRing | None = None,
    latest: Latest | None = None,
) -> Response:
    """Run `operation` in one transaction of the actor's tenant, at most once per idempotency key.

    Every POST that changes state goes through here, with a key or without. `sealed_with` keeps the answer encrypted;
    `latest` is asked after the commit, of a first answer and of one that is replayed, and may wait for another server.
    Raises what `operation` and `latest` raise (of the former everything is rolled back), `validation_error` for a
    malformed key, `idempotency_conflict` where the key belongs to another request, and KeyRingError.
    """
    body, status, headers = await _answer_once(request, actor, operation, sealed_with)
    if latest is not None:
        whole = orjson.loads(body)
        body = render(whole | {"data": await latest(whole["data"])})
    return JsonResponse(body, status, headers)


async def _answer_once(
    request: Request, actor: Actor, operation: Operation, ring: KeyRing | None
) -> tuple[bytes, int, Mapping[str, str] | None]:
    """The answer's body, status and headers: of the operation, or what an earlier one with the same key answered."""
    runtime = runtime_of(request)
    key = key_of(request)
    if key is None:
        async with runtime.database.transaction(actor.tenant) as session:
            answer = await operation(session)
            body = answer.body(actor.request_id)  # before the commit: what cannot be answered is not done
        return body, answer.status, None

    request_hash = await _request_hash(request, actor)
    claim = {"organization_id": actor.organization_id, "sandbox": actor.sandbox, "key": key}
    place = answer_place(actor.organization_id, key, sandbox=actor.sandbox)
    async with runtime.database.transaction(actor.tenant) as session:
        new = {"request_hash": request_hash, "path": request.url.path, "now": runtime.clock.now()}
        if (await session.execute(_CLAIM, claim | new)).first() is None:
            stored = (await session.execute(_FIND, claim)).one()
            if bytes(stored.request_hash) != request_hash:
                raise Refusal(
                    "idempotency_conflict",
                    f"This {HEADER} was used for another request. Send a new key with a new request.",
                    details={"header": HEADER},
                )
            return _opened(stored, ring, place), stored.status, _REPLAYED
        answer = await operation(session)
        body = answer.body(actor.request_id)
        if ring is None:
            await session.execute(_STORE, claim | {"status": answer.status, "body": body})
        else:
            sealed = seal_content(await key_for_writing(session, ring), place, body)
            kept = {"body": sealed.ciphertext, "nonce": sealed.nonce, "key_id": sealed.key_id}
            await session.execute(_STORE_SEALED, claim | {"status": answer.status} | kept)
    return body, answer.status, None


def _opened(stored: Row[tuple[object, ...]], ring: KeyRing | None, place: Place) -> bytes:
    """The stored answer's body. Raises KeyRingError; answers from before they were sealed are plain."""
    if stored.key_id is None:
        return bytes(stored.body)
    if ring is None:
        raise UnknownKeyError(stored.key_id)
    return open_content(ring, place, SealedContent(stored.body, stored.nonce, stored.key_id))


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
    for part in (request.method, request.url.path, actor.falls_back_on):
        digest.update(part.encode("utf-8") + b"\n")
    digest.update(orjson.dumps(parsed, option=orjson.OPT_SORT_KEYS))
    return digest.digest()
