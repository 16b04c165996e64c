"""Renews what is stored of numbers for display, where it was stored while fewer of their digits were shown.

Of six or seven characters, three were shown. Three are never stored any more, so such a row is outdated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.vault_store import log_readings
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import (
    OwnerKind,
    SealedNumber,
    SecretOwner,
    UnreadableSecretError,
    unseal,
)
from hearthpay.security.vault_numbers import NumberKind

_PURPOSE: Final = "vault.display"


class _OutdatedRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    owner_kind: OwnerKind
    owner_id: UUID
    kind: NumberKind
    ciphertext: bytes
    nonce: bytes
    key_id: str


_OUTDATED: Final = query(
    _OutdatedRow,
    "SELECT id, organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, nonce, key_id "
    "FROM vault WHERE length(last_four) = 3 AND id > :after ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED",
)
_RENEW: Final = text("UPDATE vault SET last_four = :last_four WHERE id = :id")


@dataclass(frozen=True, slots=True)
class RenewedEnding:
    """A number whose stored digits were renewed, by its owner."""

    owner: SecretOwner
    kind: NumberKind
    last_four: str


@dataclass(frozen=True, slots=True)
class RenewedEndings:
    """What a chunk did; ``last`` is the last row that it looked at, None if there was none."""

    renewed: Sequence[RenewedEnding]
    unreadable: int
    last: UUID | None


async def renew_vault_endings(
    session: AsyncSession, ring: KeyRing, after: UUID, limit: int
) -> RenewedEndings:
    """Renew the outdated rows that follow ``after``, at most ``limit``; each number read is on record.

    A row that the ring can't read stays as it is. Rows that others hold are left to them.
    """
    rows = await fetch_all(session, _OUTDATED, {"after": after, "limit": limit})
    renewed: list[RenewedEnding] = []
    ids: list[UUID] = []
    for row in rows:
        owner = SecretOwner(row.organization_id, row.employer_id, row.sandbox, row.owner_kind, row.owner_id)
        try:
            number = unseal(ring, owner, row.kind, SealedNumber(row.ciphertext, row.nonce, row.key_id))
        except (KeyRingError, UnreadableSecretError):
            continue
        await session.execute(_RENEW, {"id": row.id, "last_four": number.last_four})
        renewed.append(RenewedEnding(owner, row.kind, number.last_four))
        ids.append(row.id)
    if ids:
        await log_readings(session, ids, purpose=_PURPOSE)
    return RenewedEndings(renewed, len(rows) - len(ids), rows[-1].id if rows else None)
