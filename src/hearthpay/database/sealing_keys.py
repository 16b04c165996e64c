"""Which key encrypts, as the database says, for all processes and in the very transaction that writes.

Every writer asks `key_for_writing` and gets the current key until its transaction ends; nobody can make another key
current in the meantime. A process whose ring lacks that key doesn't write. If code ever forgets to ask, a trigger of
each table refuses what was encrypted with another key (SQLSTATE HP001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, fetch_one, fetch_optional, query
from hearthpay.security.key_ring import EncryptionKey, KeyRing, KeyRingError, UnknownKeyError
from hearthpay.security.vault_cipher import (
    OwnerKind,
    SealedNumber,
    SecretOwner,
    UnreadableSecretError,
    unseal,
)
from hearthpay.security.vault_numbers import NumberKind


class _ForWritingRow(NamedTuple):
    id: str
    proof: bytes


_FOR_WRITING: Final = query(_ForWritingRow, "SELECT id, proof FROM vault_key_for_writing(:id, :proof)")
_ALONE: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('hearthpay vault keys', 0))")


class _RegisterRow(NamedTuple):
    id: str
    proof: bytes | None
    status: str


_REGISTER: Final = query(_RegisterRow, "SELECT id, proof, status FROM vault_keys ORDER BY noted_at, id")
_RETIRE: Final = text("UPDATE vault_keys SET status = 'retired', changed_at = now() WHERE status = 'current'")
_MAKE_CURRENT: Final = text(
    "INSERT INTO vault_keys (id, proof, status) VALUES (:id, :proof, 'current') "
    "ON CONFLICT (id) DO UPDATE SET proof = excluded.proof, status = 'current', changed_at = now()"
)
_PROVE: Final = text("UPDATE vault_keys SET proof = :proof WHERE id = :id")
_REMOVE: Final = text("UPDATE vault_keys SET status = 'removed', changed_at = now() WHERE id = :id")


class _UsedRow(NamedTuple):
    key_id: str
    number: int


_USED: Final = query(
    _UsedRow,
    "SELECT key_id, sum(number)::bigint AS number FROM ("
    "SELECT key_id, count(*) AS number FROM vault GROUP BY 1 "
    "UNION ALL SELECT key_id, count(*) FROM bank_files GROUP BY 1 "
    "UNION ALL SELECT key_id, count(*) FROM mail_outbox WHERE key_id IS NOT NULL GROUP BY 1 "
    "UNION ALL SELECT key_id, count(*) FROM idempotency_keys WHERE key_id IS NOT NULL GROUP BY 1 "
    "UNION ALL SELECT key_id, count(*) FROM documents GROUP BY 1 "
    "UNION ALL SELECT key_id, count(*) FROM credentials WHERE key_id IS NOT NULL GROUP BY 1 "
    "UNION ALL SELECT key_id, count(*) FROM account_changes WHERE key_id IS NOT NULL GROUP BY 1"
    ") AS used GROUP BY 1 ORDER BY 1",
)


class _SampleRow(NamedTuple):
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    owner_kind: OwnerKind
    owner_id: UUID
    kind: NumberKind
    ciphertext: bytes
    nonce: bytes
    key_id: str


_SAMPLE: Final = query(
    _SampleRow,
    "SELECT organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, nonce, key_id "
    "FROM vault WHERE key_id = :id LIMIT 1",
)


class ForeignKeyRingError(KeyRingError):
    """The ring lacks a key that something is encrypted with, or has a different one with its id."""


class KeyInUseError(KeyRingError):
    """The key can't be removed: it is current, or something is still encrypted with it."""


async def key_for_writing(session: AsyncSession, ring: KeyRing) -> EncryptionKey:
    """Return the key that encrypts, and stays current, until the end of the session's transaction.

    A changed key file is read again first. The first writer of an installation chooses its newest key. Raises
    OutdatedKeyRingError if the ring lacks the current key: then nothing may be written.
    """
    newest = ring.newest
    found = await fetch_one(session, _FOR_WRITING, {"id": newest.id, "proof": newest.proof})
    return ring.find_proven(found.id, found.proof)


async def require_keys_for(session: AsyncSession, ring: KeyRing) -> None:
    """Check that the ring has every key that anything is encrypted with; for the start of a process.

    The session is the operator's, who sees every row. An installation without a current key gets the ring's newest.
    Raises ForeignKeyRingError naming the keys that are missing or different, and OutdatedKeyRingError.
    """
    await session.execute(_ALONE)
    register = {row.id: row for row in await fetch_all(session, _REGISTER)}
    used = await keys_in_use(session)
    missing = [key_id for key_id in used if not _has(ring, key_id)]
    if missing:
        raise ForeignKeyRingError(
            f"the key ring ({', '.join(ring.ids)}) lacks {_listed(missing)}, with which numbers of this database are "
            "encrypted: add what is missing to the key ring again, or use the database that these keys belong to"
        )
    current: _RegisterRow | None = None
    for key_id, row in register.items():
        if row.status == "current":
            current = row
        if key_id in used:
            await _require_same(session, ring, key_id, row.proof)
    if current is None:
        await session.execute(_MAKE_CURRENT, {"id": ring.newest.id, "proof": ring.newest.proof})
    else:
        ring.find_proven(current.id, current.proof)


async def make_newest_current(session: AsyncSession, ring: KeyRing) -> EncryptionKey:
    """Make the ring's newest key current in every process from the end of this transaction on.

    Blocks until writers in progress have ended. A key file is read again under the lock, so concurrent rotations
    choose the same key. Raises KeyRingError for a key that was current before and has been replaced.
    """
    await session.execute(_ALONE)
    ring.read_again()
    newest = ring.newest
    register = {row.id: row for row in await fetch_all(session, _REGISTER)}
    known = register.get(newest.id)
    if known is not None:
        if known.proof not in (None, newest.proof):
            raise _different(newest.id)
        if known.status == "current":
            return newest
        if known.status != "known":
            raise KeyRingError(
                f"the key {newest.id!r} has been replaced before and encrypts no more: put a new key in front"
            )
    await session.execute(_RETIRE)
    await session.execute(_MAKE_CURRENT, {"id": newest.id, "proof": newest.proof})
    return newest


async def release_key(session: AsyncSession, key_id: str) -> None:
    """Record that nothing needs the key any more, after checking while nobody can write.

    Raises KeyInUseError if it is current or something is still encrypted with it. Backups aren't checked.
    """
    await session.execute(_ALONE)
    register = {row.id: row for row in await fetch_all(session, _REGISTER)}
    if key_id in register and register[key_id].status == "current":
        raise KeyInUseError(
            f"the key {key_id!r} is the one that encrypts: rotate first (hearthpay vault rotate)"
        )
    number = (await keys_in_use(session)).get(key_id, 0)
    if number:
        raise KeyInUseError(
            f"{number} rows are still encrypted with the key {key_id!r}: finish the rotation first "
            "(hearthpay vault rotate --resume)"
        )
    await session.execute(_REMOVE, {"id": key_id})


async def keys_in_use(session: AsyncSession, *, except_for: str | None = None) -> dict[str, int]:
    """Return how many of the rows that the session sees each key has encrypted, by key id.

    Counts numbers of the vault, bank files, queued mails, stored answers, documents, second factors, and pending
    accounts.
    """
    counts = {row.key_id: row.number for row in await fetch_all(session, _USED)}
    return {key_id: number for key_id, number in counts.items() if key_id != except_for}


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A key for the operator: its role in this database, and how many rows it has encrypted."""

    key_id: str
    status: str
    rows: int
    in_ring: bool


async def keys_and_uses(session: AsyncSession, ring: KeyRing) -> list[KeyUse]:
    """Return every key that the database knows or uses, or the ring holds, in order of appearance."""
    status = {row.id: row.status for row in await fetch_all(session, _REGISTER)}
    used = await keys_in_use(session)
    key_ids = dict.fromkeys((*status, *used, *reversed(ring.ids)))
    return [
        KeyUse(key_id, status.get(key_id, "new"), used.get(key_id, 0), key_id in ring.ids)
        for key_id in key_ids
    ]


def _has(ring: KeyRing, key_id: str) -> bool:
    try:
        ring.find(key_id)
    except UnknownKeyError:
        return False
    return True


async def _require_same(session: AsyncSession, ring: KeyRing, key_id: str, proof: bytes | None) -> None:
    """Refuse a different key with the same id; for a key from before proofs were recorded, decrypt one number as a
    test.
    """
    key = ring.find(key_id)
    if proof is not None:
        if proof != key.proof:
            raise _different(key_id)
        return
    sample = await fetch_optional(session, _SAMPLE, {"id": key_id})
    if sample is None:
        return
    owner = SecretOwner(
        sample.organization_id, sample.employer_id, sample.sandbox, sample.owner_kind, sample.owner_id
    )
    try:
        unseal(ring, owner, sample.kind, SealedNumber(sample.ciphertext, sample.nonce, key_id))
    except UnreadableSecretError:
        raise _different(key_id) from None
    await session.execute(_PROVE, {"id": key_id, "proof": key.proof})


def _different(key_id: str) -> ForeignKeyRingError:
    return ForeignKeyRingError(
        f"the key {key_id!r} of the key ring is not the one of this id that this database was encrypted with"
    )


def _listed(key_ids: list[str]) -> str:
    return ("the keys " if len(key_ids) > 1 else "the key ") + ", ".join(repr(each) for each in key_ids)
