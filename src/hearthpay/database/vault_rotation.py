"""Rotation: re-encrypts the vault and the bank files under the current key, while the service goes on with both.

Every batch is one transaction. Killed at any moment, it is simply run again: rows that carry the current key's id
are done. The older keys stay in the ring until `remaining` no longer names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Row, bindparam, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database import audit
from hearthpay.database.vault_store import vault
from hearthpay.security.file_seal import SealedFile, open_file, seal_file
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import SealedNumber, SecretOwner, UnreadableSecretError, seal, unseal
from hearthpay.security.vault_numbers import SecretNumber

SessionFactory = Callable[[], AbstractAsyncContextManager[AsyncSession]]
"""Opens a transaction of the schema's owner, who sees every tenant's rows; commits when the block ends."""

Progress = Callable[[int, int], None]
"""Told after each committed batch: rows re-encrypted so far, and rows there were to do."""

_BATCH = 200

_REPLACE = (
    update(vault)
    .where(vault.c.id == bindparam("row_id"))
    .values(
        ciphertext=bindparam("new_ciphertext"),
        nonce=bindparam("new_nonce"),
        key_id=bindparam("new_key_id"),
        rotated_at=func.now(),
    )
)

_KEYS_OF_FILES = text("SELECT key_id, count(*) FROM bank_files GROUP BY key_id ORDER BY key_id")
_CLAIM_FILE = text(
    "SELECT id, name, sealed_content, nonce, key_id FROM bank_files "
    "WHERE key_id <> :current AND id > :after ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
)
_REPLACE_FILE = text(
    "UPDATE bank_files SET sealed_content = :content, nonce = :nonce, key_id = :key_id WHERE id = :id"
)
_FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class RotationResult:
    """What a rotation has done."""

    rotated: int
    """Rows now encrypted under the current key that were not before: numbers of the vault, and bank files."""
    unreadable: tuple[UUID, ...]
    """Rows left as they were: their key is missing from the ring, or they were tampered with."""
    remaining: dict[str, int]
    """Rows still under another key, by its id; a key that is not named here may leave the ring."""


async def rotate(
    session_factory: SessionFactory, ring: KeyRing, progress: Progress, *, batch: int = _BATCH
) -> RotationResult:
    """Re-encrypt every row under the ring's current key, `batch` rows in a transaction, and a bank file in each.

    Rows that others hold locked are passed over and tried again at the end, so several rotations may share the
    work. One bad row does not hold back the others. Leaves an audit row per organization and batch.
    """
    async with session_factory() as session:
        total = sum((await keys_in_use(session, except_for=ring.current.id)).values())
    rotated = 0
    unreadable: set[UUID] = set()
    rotated_in_pass = True
    while rotated_in_pass:
        rotated_in_pass = False
        after: UUID | None = None
        while True:
            async with session_factory() as session:
                rows = await _claim(session, ring.current.id, after, batch)
                if not rows:
                    break
                bad = await _rotate_batch(session, ring, rows)
            after = rows[-1].id
            unreadable |= bad
            if len(rows) > len(bad):
                rotated += len(rows) - len(bad)
                rotated_in_pass = True
                progress(rotated, total)
        after = _FIRST
        while True:
            async with session_factory() as session:
                file = (
                    await session.execute(_CLAIM_FILE, {"current": ring.current.id, "after": after})
                ).one_or_none()
                if file is None:
                    break
                readable = await _rotate_file(session, ring, file)
            after = file.id
            if readable:
                rotated += 1
                rotated_in_pass = True
                progress(rotated, total)
            else:
                unreadable.add(file.id)
    async with session_factory() as session:
        remaining = await keys_in_use(session, except_for=ring.current.id)
    return RotationResult(rotated, tuple(sorted(unreadable)), remaining)


async def keys_in_use(session: AsyncSession, *, except_for: str | None = None) -> dict[str, int]:
    """How many numbers and bank files that the session sees each key has encrypted, by the key's id."""
    counted = select(vault.c.key_id, func.count()).group_by(vault.c.key_id).order_by(vault.c.key_id)
    counts: Counter[str] = Counter(dict((await session.execute(counted)).all()))
    counts.update(dict((await session.execute(_KEYS_OF_FILES)).all()))
    return {key_id: counts[key_id] for key_id in sorted(counts) if key_id != except_for}


async def _claim(
    session: AsyncSession, current: str, after: UUID | None, batch: int
) -> list[Row[tuple[object, ...]]]:
    """Lock the next rows under another key, in the order of their ids."""
    query = select(vault).where(vault.c.key_id != current).order_by(vault.c.id).limit(batch)
    if after is not None:
        query = query.where(vault.c.id > after)
    return list(await session.execute(query.with_for_update(skip_locked=True)))


async def _rotate_file(session: AsyncSession, ring: KeyRing, file: Row[tuple[object, ...]]) -> bool:
    """Re-encrypt the locked bank file; tells whether it could be read."""
    sealed = SealedFile(file.sealed_content, file.nonce, file.key_id)
    try:
        content = open_file(ring, file.id, file.name, sealed)
    except (KeyRingError, UnreadableSecretError):
        return False
    again = seal_file(ring, file.id, file.name, content)
    await session.execute(
        _REPLACE_FILE,
        {"id": file.id, "content": again.ciphertext, "nonce": again.nonce, "key_id": again.key_id},
    )
    return True


async def _rotate_batch(
    session: AsyncSession, ring: KeyRing, rows: list[Row[tuple[object, ...]]]
) -> set[UUID]:
    """Re-encrypt the locked rows; returns the ids of those that cannot be read."""
    bad: set[UUID] = set()
    changes: list[dict[str, object]] = []
    counts: Counter[UUID] = Counter()
    for row in rows:
        owner = SecretOwner(row.organization_id, row.employer_id, row.sandbox, row.owner_kind, row.owner_id)
        try:
            number: SecretNumber = unseal(
                ring, owner, row.kind, SealedNumber(row.ciphertext, row.nonce, row.key_id)
            )
        except (KeyRingError, UnreadableSecretError):
            bad.add(row.id)
            continue
        sealed = seal(ring, owner, number)
        changes.append(
            {
                "row_id": row.id,
                "new_ciphertext": sealed.ciphertext,
                "new_nonce": sealed.nonce,
                "new_key_id": sealed.key_id,
            }
        )
        counts[row.organization_id] += 1
    if changes:
        connection = await session.connection()
        await connection.execute(_REPLACE, changes)
    for organization_id, rows_rotated in counts.items():
        await audit.record(
            session,
            actor_kind="operator",
            actor_id=None,
            organization_id=organization_id,
            employer_id=None,
            sandbox=None,
            action="vault.rotate",
            subject_id=None,
            request_id=None,
            details={"rows": rows_rotated, "key_id": ring.current.id},
        )
    return bad
