"""Key rotation: makes a new key current and re-encrypts everything under it, while the service runs with both.

The database says which key is current, so no process writes under the old one once the rotation has begun. Every
batch is one transaction. After a kill it is simply run again: rows with the current key's id are done. The older keys
stay in the ring until `remaining` no longer names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Row, TextClause, bindparam, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database import audit
from hearthpay.database.sealing_keys import key_for_writing, keys_in_use, make_newest_current
from hearthpay.database.vault_store import vault
from hearthpay.security.content_seal import (
    Place,
    SealedContent,
    account_change_place,
    answer_place,
    document_place,
    mail_place,
    open_content,
    seal_content,
    second_factor_place,
)
from hearthpay.security.file_seal import SealedFile, open_file, seal_file
from hearthpay.security.key_ring import EncryptionKey, KeyRing, KeyRingError
from hearthpay.security.vault_cipher import SealedNumber, SecretOwner, UnreadableSecretError, seal, unseal
from hearthpay.security.vault_numbers import SecretNumber

SessionFactory = Callable[[], AbstractAsyncContextManager[AsyncSession]]
"""Opens a transaction of the schema's owner, who sees every tenant's rows; commits when the block ends."""

TellRows = Callable[[int, int], None]
"""Called after each committed batch with the rows re-encrypted so far, and the total."""

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


@dataclass(frozen=True, slots=True)
class _Kept:
    """A table of contents that are re-encrypted one at a time: how to claim the next, and how to replace it."""

    claim: TextClause
    """Locks the next row under a key other than `current`; its columns end with ciphertext, nonce and key_id."""
    first: Mapping[str, object]
    """The start of the claim's order; a row's own columns of these names precede the next."""
    replace: TextClause


_BEFORE_ALL = UUID(int=0)
_FILES = _Kept(
    text(
        "SELECT id, name, sealed_content AS ciphertext, nonce, key_id FROM bank_files "
        "WHERE key_id <> :current AND id > :id ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    ),
    {"id": _BEFORE_ALL},
    text(
        "UPDATE bank_files SET sealed_content = :ciphertext, nonce = :nonce, key_id = :key_id WHERE id = :id"
    ),
)
_MAILS = _Kept(
    text(
        "SELECT id, content AS ciphertext, nonce, key_id FROM mail_outbox "
        "WHERE key_id <> :current AND id > :id ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    ),
    {"id": _BEFORE_ALL},
    text("UPDATE mail_outbox SET content = :ciphertext, nonce = :nonce, key_id = :key_id WHERE id = :id"),
)
_ANSWERS = _Kept(
    text(
        "SELECT organization_id, sandbox, key, confined_to, body AS ciphertext, nonce, key_id FROM idempotency_keys "
        "WHERE key_id <> :current AND (organization_id, sandbox, key, confined_to) "
        "> (:organization_id, :sandbox, :key, :confined_to) "
        "ORDER BY organization_id, sandbox, key, confined_to LIMIT 1 FOR UPDATE SKIP LOCKED"
    ),
    {"organization_id": _BEFORE_ALL, "sandbox": False, "key": "", "confined_to": _BEFORE_ALL},
    text(
        "UPDATE idempotency_keys SET body = :ciphertext, nonce = :nonce, key_id = :key_id "
        "WHERE organization_id = :organization_id AND sandbox = :sandbox AND key = :key "
        "AND confined_to = :confined_to"
    ),
)

_DOCUMENTS = _Kept(
    text(
        "SELECT id, sealed_content AS ciphertext, nonce, key_id FROM documents "
        "WHERE key_id <> :current AND id > :id ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    ),
    {"id": _BEFORE_ALL},
    text(
        "UPDATE documents SET sealed_content = :ciphertext, nonce = :nonce, key_id = :key_id WHERE id = :id"
    ),
)

_SECOND_FACTORS = _Kept(
    text(
        "SELECT id, person_id, secret AS ciphertext, nonce, key_id FROM credentials "
        "WHERE key_id <> :current AND id > :id ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    ),
    {"id": _BEFORE_ALL},
    text("UPDATE credentials SET secret = :ciphertext, nonce = :nonce, key_id = :key_id WHERE id = :id"),
)

_ACCOUNT_CHANGES = _Kept(
    text(
        "SELECT id, numbers AS ciphertext, nonce, key_id FROM account_changes "
        "WHERE key_id <> :current AND id > :id ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    ),
    {"id": _BEFORE_ALL},
    text("UPDATE account_changes SET numbers = :ciphertext, nonce = :nonce, key_id = :key_id WHERE id = :id"),
)


@dataclass(frozen=True, slots=True)
class RotationResult:
    """The result of a rotation."""

    rotated: int
    """Rows now encrypted under the current key that were not, of all kinds."""
    unreadable: tuple[UUID, ...]
    """Rows left as they were: their key is missing from the ring, or they were tampered with."""
    remaining: dict[str, int]
    """Rows still under another key, by its id; a key that isn't listed may be removed from the ring."""


async def rotate(
    session_factory: SessionFactory, ring: KeyRing, progress: TellRows, *, batch: int = _BATCH
) -> RotationResult:
    """Make the ring's newest key current, and re-encrypt every row under it, `batch` numbers per transaction.

    Bank files, queued mails, stored answers, documents and second factors go one by one. Locked rows are skipped and
    tried again at the end, so several rotations may share the work; if another key becomes current in the meantime,
    all continue with that. A bad row doesn't delay the others. Writes an audit row per organization and batch of
    numbers. Raises KeyRingError.
    """
    async with session_factory() as session:
        newest = await make_newest_current(session, ring)
    async with session_factory() as session:
        total = sum((await keys_in_use(session, except_for=newest.id)).values())
    rotated = 0
    unreadable: set[UUID] = set()
    rotated_in_pass = True
    while rotated_in_pass:
        rotated_in_pass = False
        after: UUID | None = None
        while True:
            async with session_factory() as session:
                key = await key_for_writing(session, ring)
                rows = await _claim(session, key.id, after, batch)
                if not rows:
                    break
                bad = await _rotate_batch(session, ring, key, rows)
            after = rows[-1].id
            unreadable |= bad
            if len(rows) > len(bad):
                rotated += len(rows) - len(bad)
                rotated_in_pass = True
                progress(rotated, total)
        for kept in (_FILES, _MAILS, _ANSWERS, _DOCUMENTS, _SECOND_FACTORS, _ACCOUNT_CHANGES):
            place = dict(kept.first)
            while True:
                async with session_factory() as session:
                    key = await key_for_writing(session, ring)
                    row = (await session.execute(kept.claim, {"current": key.id, **place})).one_or_none()
                    if row is None:
                        break
                    readable = await _rotate_one(session, ring, key, kept, row)
                place = {name: getattr(row, name) for name in kept.first}
                if readable:
                    rotated += 1
                    rotated_in_pass = True
                    progress(rotated, total)
                elif kept is not _ANSWERS:  # an answer has no id; `remaining` counts it
                    unreadable.add(row.id)
    async with session_factory() as session:
        key = await key_for_writing(session, ring)
        remaining = await keys_in_use(session, except_for=key.id)
    return RotationResult(rotated, tuple(sorted(unreadable)), remaining)


async def _claim(
    session: AsyncSession, current: str, after: UUID | None, batch: int
) -> list[Row[tuple[object, ...]]]:
    """Lock the next rows under another key, in the order of their ids."""
    query = select(vault).where(vault.c.key_id != current).order_by(vault.c.id).limit(batch)
    if after is not None:
        query = query.where(vault.c.id > after)
    return list(await session.execute(query.with_for_update(skip_locked=True)))


async def _rotate_one(
    session: AsyncSession, ring: KeyRing, key: EncryptionKey, kept: _Kept, row: Row[tuple[object, ...]]
) -> bool:
    """Re-encrypt the locked file, mail, answer or document; return whether it could be read."""
    ciphertext, nonce, key_id = row.ciphertext, row.nonce, row.key_id
    again: SealedFile | SealedContent
    try:
        if kept is _FILES:
            content = open_file(ring, row.id, row.name, SealedFile(ciphertext, nonce, key_id))
            again = seal_file(key, row.id, row.name, content)
        else:
            place = _place_of(kept, row)
            opened = open_content(ring, place, SealedContent(ciphertext, nonce, key_id))
            again = seal_content(key, place, opened)
    except (KeyRingError, UnreadableSecretError):
        return False
    same = {name: getattr(row, name) for name in kept.first}
    replaced = {"ciphertext": again.ciphertext, "nonce": again.nonce, "key_id": again.key_id}
    await session.execute(kept.replace, same | replaced)
    return True


def _place_of(kept: _Kept, row: Row[tuple[object, ...]]) -> Place:
    if kept is _MAILS:
        return mail_place(row.id)
    if kept is _DOCUMENTS:
        return document_place(row.id)
    if kept is _SECOND_FACTORS:
        return second_factor_place(row.person_id, row.id)
    if kept is _ACCOUNT_CHANGES:
        return account_change_place(row.id)
    return answer_place(row.organization_id, row.key, sandbox=row.sandbox)


async def _rotate_batch(
    session: AsyncSession, ring: KeyRing, key: EncryptionKey, rows: list[Row[tuple[object, ...]]]
) -> set[UUID]:
    """Re-encrypt the locked rows; return the ids of those that cannot be read."""
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
        sealed = seal(key, owner, number)
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
            details={"rows": rows_rotated, "key_id": key.id},
        )
    return bad
