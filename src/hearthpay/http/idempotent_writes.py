"""Doing something once: a repeated request with the same key gets the same answer and does nothing.

The key is claimed by an INSERT inside the same transaction that changes the state. A second request with the same key
waits on that INSERT until the first has committed, then replays the first one's answer; if the first was rolled back,
it runs itself. Key, change and answer commit together, so a crash between the commit and the response loses nothing:
the retry finds the stored answer. A refusal changes nothing and is not stored.

A stored answer is given only to an actor who has every permission that was needed for it, also those that depend on
the request's content. Keys belong to an organization and mode; those of an actor who is confined to one household, to
that household, so that a confined key takes none away from others.

An answer with a secret in it, such as a link to the portal, is stored encrypted with the vault's key. Nothing here
depends on a protocol: a route claims with the header of its request (`idempotency`), any other interface with its own
key.
"""

import datetime
import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CHANGE_ADDRESSES, allow_all, permissions_used
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_one, fetch_optional, query
from hearthpay.security.content_seal import Place, SealedContent, answer_place, open_content, seal_content
from hearthpay.security.key_ring import KeyRing, UnknownKeyError

LONGEST_KEY: Final = 255

_NO_HOUSEHOLD: Final = UUID(int=0)
"""In place of a household, for the keys of everybody who isn't confined to one, and those from before any was."""

_UNRECORDED: Final = (CHANGE_ADDRESSES.name,)
"""What is needed for an encrypted answer from before permissions were stored: its link may be for a bank account."""

_CLAIM: Final = text(
    "INSERT INTO idempotency_keys (organization_id, sandbox, key, request_hash, path, created_at) "
    "SELECT CAST(:organization_id AS uuid), CAST(:sandbox AS boolean), CAST(:key AS text), "
    "CAST(:request_hash AS bytea), CAST(:path AS text), CAST(:now AS timestamptz) "
    "WHERE NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.organization_id = :organization_id "
    "AND k.sandbox = :sandbox AND k.key = :key AND k.confined_to = :nobodys AND k.request_hash = :request_hash) "
    "ON CONFLICT DO NOTHING RETURNING true"
)
"""The database fills in the household, from the transaction's tenant. Not claimed again is what the same actor claimed
before households were noted."""


class _FindRow(NamedTuple):
    request_hash: bytes
    status: int
    body: bytes
    nonce: bytes | None
    key_id: str | None
    permissions: list[str] | None


_FIND: Final = query(
    _FindRow,
    "SELECT request_hash, status, body, nonce, key_id, permissions FROM idempotency_keys "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key "
    "AND (confined_to = :household OR confined_to = :nobodys AND request_hash = :request_hash) "
    "ORDER BY request_hash = :request_hash DESC LIMIT 1",
)
_STORE: Final = text(
    "UPDATE idempotency_keys SET status = :status, body = :body, permissions = CAST(:permissions AS text[]) "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key AND confined_to = :household"
)
_STORE_SEALED: Final = text(
    "UPDATE idempotency_keys SET status = :status, body = :body, nonce = :nonce, key_id = :key_id, "
    "permissions = CAST(:permissions AS text[]) "
    "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key AND confined_to = :household"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """The key of a request, and what makes two requests the same.

    Keys belong to an organization and mode, or to one household of them, whichever interface they come from. ``path``
    says what was requested, for later inspection of the keys: those ending in `/payroll/run` are kept forever.
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
    """Return the answer stored under the key, decrypted; None if there is none.

    Raises KeyTakenError, and what `allow` raises where the actor lacks a permission that the answer needed.
    """
    async with database.transaction(actor.tenant) as session:
        stored = await fetch_optional(session, _FIND, _whose(actor, claim))
    if stored is None:
        return None
    _refuse_others(actor, claim, stored)
    return Rendered(bytes(stored.body), stored.status)


async def run_once_per_key(
    database: Database,
    actor: Actor,
    claim: Claim | None,
    action: DeedOnce,
    *,
    now: datetime.datetime,
    sealed_with: KeyRing | None = None,
    needed: Iterable[str] = (),
) -> Answered:
    """Run ``deed`` in one transaction of the actor's tenant, at most once per key; without a claim, every time.

    ``sealed_with`` stores the answer encrypted. ``needed`` names permissions that were needed before. Raises what
    ``deed`` raises, with everything rolled back, KeyTakenError, KeyRingError, and what `allow` raises where the actor
    lacks a permission that the stored answer needed.
    """
    if claim is None:
        async with database.transaction(actor.tenant) as session:
            rendered = await action(session)
        return Answered(rendered, replayed=False)

    whose = _whose(actor, claim)
    place = answer_place(actor.organization_id, claim.key, sandbox=actor.sandbox)
    async with database.transaction(actor.tenant) as session:
        if (await session.execute(_CLAIM, whose | {"path": claim.path, "now": now})).first() is None:
            stored = await fetch_one(session, _FIND, whose)
            _refuse_others(actor, claim, stored)
            return Answered(Rendered(_opened(stored, sealed_with, place), stored.status), replayed=True)
        with permissions_used(actor) as used:
            rendered = await action(session)
        answered = {"status": rendered.status, "permissions": sorted(used.union(needed))}
        if sealed_with is None:
            await session.execute(_STORE, whose | answered | {"body": rendered.body})
        else:
            sealed = seal_content(await key_for_writing(session, sealed_with), place, rendered.body)
            kept = {"body": sealed.ciphertext, "nonce": sealed.nonce, "key_id": sealed.key_id}
            await session.execute(_STORE_SEALED, whose | answered | kept)
    return Answered(rendered, replayed=False)


def _whose(actor: Actor, claim: Claim) -> dict[str, object]:
    return {
        "organization_id": actor.organization_id,
        "sandbox": actor.sandbox,
        "key": claim.key,
        "request_hash": claim.fingerprint,
        "household": actor.tenant.employer_id or _NO_HOUSEHOLD,
        "nobodys": _NO_HOUSEHOLD,
    }


def _refuse_others(actor: Actor, claim: Claim, stored: _FindRow) -> None:
    """Raise if the stored answer is another request's, or not for this actor, who may have come since."""
    if bytes(stored.request_hash) != claim.fingerprint:
        raise KeyTakenError
    needed: Iterable[str] | None = stored.permissions
    if needed is None:
        needed = () if stored.key_id is None else _UNRECORDED
    allow_all(actor, needed)


def _opened(stored: _FindRow, ring: KeyRing | None, place: Place) -> bytes:
    """Return the stored answer's body. Raises KeyRingError; older answers, from before encryption, are plain."""
    if stored.key_id is None or stored.nonce is None:
        return bytes(stored.body)
    if ring is None:
        raise UnknownKeyError(stored.key_id)
    return open_content(ring, place, SealedContent(stored.body, stored.nonce, stored.key_id))
