"""Doing something once: a repeated request with the same key gets the same answer and does nothing.

The key is claimed by an INSERT inside the same transaction that changes the state. A second request with the same key
waits on that INSERT until the first has committed, then replays the first one's answer; if the first was rolled back,
it runs itself. Key, change and answer commit together, so a crash between the commit and the response loses nothing:
the retry finds the stored answer. A refusal changes nothing and is not stored.

An answer with a secret in it, such as a link to the portal, is stored encrypted with the vault's key. Nothing here
depends on a protocol: a route claims with the header of its request (`idempotency`), any other interface with its own
key.
"""

import datetime
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_one, fetch_optional, query
from hearthpay.security.content_seal import Place, SealedContent, answer_place, open_content, seal_content
from hearthpay.security.key_ring import KeyRing, UnknownKeyError

LONGEST_KEY: Final = 255

_CLAIM: Final = text(
    "INSERT INTO idempotency_keys (organization_id, sandbox, key, request_hash, path, created_at) "
    "VALUES (:organization_id, :sandbox, :key, :request_hash, :path, :now) ON CONFLICT DO NOTHING RETURNING true"
)


class _FindRow(NamedTuple):
    request_hash: bytes
    status: int
    body: bytes
    nonce: bytes | None
    key_id: str | None


_FIND: Final = query(
    _FindRow,
    "SELECT request_hash, status, body, nonce, key_id FROM idempotency_keys "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key",
)
_STORE: Final = text(
    "UPDATE idempotency_keys SET status = :status, body = :body "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key"
)
_STORE_SEALED: Final = text(
    "UPDATE idempotency_keys SET status = :status, body = :body, nonce = :nonce, key_id = :key_id "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """The key of a request, and what makes two requests the same.

    Keys belong to an organization and mode, whichever interface they come from. ``path`` says what was requested, for
    later inspection of the keys: those ending in `/payroll/run` are kept forever.
    """

    key: str
    fingerprint: bytes
    path: str

    def __post_init__(self) -> None:
        if not is_fit(self.key):
            raise ValueError(f"a key has 1 to {LONGEST_KEY} printable characters")


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer as it is stored and replayed: its body, and a status as the protocol defines it."""

    body: bytes
    status: int


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and whether it comes from an earlier request."""

    rendered: Rendered
    replayed: bool


class KeyTakenError(Exception):
    """The key belongs to another request."""


DeedOnce = Callable[[AsyncSession], Awaitable[Rendered]]
"""Does the work in the session's transaction and renders the answer: what can't be answered isn't done."""


def is_fit(key: str) -> bool:
    """Return whether a text is valid as a key."""
    return 1 <= len(key) <= LONGEST_KEY and key.isprintable()


def fingerprint_of(actor: Actor, *asked: str, content: object) -> bytes:
    """Return what makes two requests the same: the operation, the default household, and the content.

    ``content`` is plain JSON, in which the order of names doesn't matter.
    """
    digest = hashlib.sha256()
    for part in (*asked, actor.falls_back_on):
        digest.update(part.encode("utf-8") + b"\n")
    digest.update(orjson.dumps(content, option=orjson.OPT_SORT_KEYS))
    return digest.digest()


async def find_answer(database: Database, actor: Actor, claim: Claim) -> Rendered | None:
    """Return the answer stored under the key, decrypted; None if there is none. Raises KeyTakenError."""
    whose = {"organization_id": actor.organization_id, "sandbox": actor.sandbox, "key": claim.key}
    async with database.transaction(actor.tenant) as session:
        stored = await fetch_optional(session, _FIND, whose)
    if stored is None:
        return None
    if bytes(stored.request_hash) != claim.fingerprint:
        raise KeyTakenError
    return Rendered(bytes(stored.body), stored.status)


async def run_once_per_key(
    database: Database,
    actor: Actor,
    claim: Claim | None,
    action: DeedOnce,
    *,
    now: datetime.datetime,
    sealed_with: KeyRing | None = None,
) -> Answered:
    """Run ``deed`` in one transaction of the actor's tenant, at most once per key; without a claim, every time.

    ``sealed_with`` stores the answer encrypted. Raises what ``deed`` raises, with everything rolled back,
    KeyTakenError and KeyRingError.
    """
    if claim is None:
        async with database.transaction(actor.tenant) as session:
            rendered = await action(session)
        return Answered(rendered, replayed=False)

    whose = {"organization_id": actor.organization_id, "sandbox": actor.sandbox, "key": claim.key}
    place = answer_place(actor.organization_id, claim.key, sandbox=actor.sandbox)
    async with database.transaction(actor.tenant) as session:
        new = {"request_hash": claim.fingerprint, "path": claim.path, "now": now}
        if (await session.execute(_CLAIM, whose | new)).first() is None:
            stored = await fetch_one(session, _FIND, whose)
            if bytes(stored.request_hash) != claim.fingerprint:
                raise KeyTakenError
            return Answered(Rendered(_opened(stored, sealed_with, place), stored.status), replayed=True)
        rendered = await action(session)
        answered = {"status": rendered.status}
        if sealed_with is None:
            await session.execute(_STORE, whose | answered | {"body": rendered.body})
        else:
            sealed = seal_content(await key_for_writing(session, sealed_with), place, rendered.body)
            kept = {"body": sealed.ciphertext, "nonce": sealed.nonce, "key_id": sealed.key_id}
            await session.execute(_STORE_SEALED, whose | answered | kept)
    return Answered(rendered, replayed=False)


def _opened(stored: _FindRow, ring: KeyRing | None, place: Place) -> bytes:
    """Return the stored answer's body. Raises KeyRingError; older answers, from before encryption, are plain."""
    if stored.key_id is None or stored.nonce is None:
        return bytes(stored.body)
    if ring is None:
        raise UnknownKeyError(stored.key_id)
    return open_content(ring, place, SealedContent(stored.body, stored.nonce, stored.key_id))
