"""The vault: Social Security, taxpayer and bank numbers, encrypted, one row per owner and kind.

`read_secret` is the only way to a number. It writes the reader and the purpose into the audit log of the same
transaction: release a number (send the file, answer the request) only once that transaction has committed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, Protocol
from uuid import UUID

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    LargeBinary,
    Table,
    Text,
    Uuid,
    and_,
    func,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database import audit
from hearthpay.database.audit import ActorKind
from hearthpay.database.base import Base
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SealedNumber, SecretOwner, seal, unseal
from hearthpay.security.vault_numbers import NumberKind, SecretNumber

# `created_at` and `rotated_at` are set by the database, like the audit log's `at`: evidence of real time.
vault = Table(
    "vault",
    Base.metadata,
    Column("id", Uuid, primary_key=True),
    Column("organization_id", Uuid, nullable=False),
    Column("employer_id", Uuid, nullable=False),
    Column("sandbox", Boolean, nullable=False),
    Column("owner_kind", Text, nullable=False),
    Column("owner_id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("nonce", LargeBinary, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("last_four", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("rotated_at", DateTime(timezone=True)),
)

_LOG_READINGS: Final = text(
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details) "
    "SELECT new_id(), organization_id, employer_id, sandbox, 'system', 'vault.read', owner_id, "
    "jsonb_build_object('owner_kind', owner_kind, 'kind', kind, 'purpose', CAST(:purpose AS text)) "
    "FROM vault WHERE id = ANY(:ids)"
)

# Words with at most two digits each, as in `document.w2`, so that no number of the vault fits by mistake.
_PURPOSE: Final = re.compile(r"(?=.{1,64}\Z)[a-z]+[0-9]{0,2}(?:[._][a-z]+[0-9]{0,2})*")


class Reader(Protocol):
    """Stores or reads a number; the actor of a request is one."""

    @property
    def kind(self) -> ActorKind:
        """The kind of actor."""
        ...

    @property
    def id(self) -> UUID | None:
        """The user or API key; None for the service itself and the operator."""
        ...

    @property
    def request_id(self) -> str | None:
        """The request on behalf of which this happens."""
        ...


class SecretMissingError(LookupError):
    """The vault holds no such number of this owner."""


async def store_secret(
    session: AsyncSession, ring: KeyRing, actor: Reader, owner: SecretOwner, number: SecretNumber
) -> None:
    """Encrypt and store the number, replacing an earlier one of the same kind; writes an audit row.

    Raises OutdatedKeyRingError if the ring lacks the current key, SQLAlchemy's IntegrityError if the owner doesn't
    exist, DBAPIError if it is another tenant's.
    """
    sealed = seal(await key_for_writing(session, ring), owner, number)
    row = {
        "ciphertext": sealed.ciphertext,
        "nonce": sealed.nonce,
        "key_id": sealed.key_id,
        "last_four": number.last_four,
    }
    statement = insert(vault).values(
        id=uuid7(),
        organization_id=owner.organization_id,
        employer_id=owner.employer_id,
        sandbox=owner.sandbox,
        owner_kind=owner.kind,
        owner_id=owner.id,
        kind=number.kind,
        **row,
    )
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=("owner_kind", "owner_id", "kind"), set_=row | {"rotated_at": func.now()}
        )
    )
    await _leave_trace(session, actor, owner, "vault.store", {"kind": number.kind})


async def read_secret(
    session: AsyncSession,
    ring: KeyRing,
    actor: Reader,
    owner: SecretOwner,
    kind: NumberKind,
    *,
    purpose: str,
) -> SecretNumber:
    """Return the number itself, for a `purpose` such as `document.w2` or `banking.nacha_file`; writes an audit row.

    Raises SecretMissingError, UnknownKeyError if the ring lacks its key, UnreadableSecretError if the row was
    tampered with, and ValueError for a purpose that isn't a few lower-case words.
    """
    if _PURPOSE.fullmatch(purpose) is None:
        raise ValueError("a purpose is a few lower-case words joined by '.' or '_'")
    found = (
        await session.execute(
            select(vault.c.ciphertext, vault.c.nonce, vault.c.key_id).where(_place(owner, kind))
        )
    ).one_or_none()
    if found is None:
        raise SecretMissingError(f"the vault holds no {kind} of {owner.kind} {owner.id}")
    number = unseal(ring, owner, kind, SealedNumber(found.ciphertext, found.nonce, found.key_id))
    await _leave_trace(session, actor, owner, "vault.read", {"kind": kind, "purpose": purpose})
    return number


async def log_readings(session: AsyncSession, ids: Collection[UUID], *, purpose: str) -> None:
    """Record in the audit log that the service itself has read these rows of the vault, many at once."""
    await session.execute(_LOG_READINGS, {"ids": list(ids), "purpose": purpose})


async def last_four(session: AsyncSession, owner: SecretOwner, kind: NumberKind) -> str | None:
    """Return the last digits of the number for display, without decrypting it; None if there is none."""
    return await session.scalar(select(vault.c.last_four).where(_place(owner, kind)))


async def owners_of(
    session: AsyncSession, owner: SecretOwner, number: SecretNumber, *, any_digits: bool = False
) -> set[UUID]:
    """Return the household's owners of a number of this kind that ends in the same digits, or in any; decrypts
    nothing.
    """
    query = select(vault.c.owner_id).where(
        vault.c.organization_id == owner.organization_id,
        vault.c.employer_id == owner.employer_id,
        vault.c.sandbox == owner.sandbox,
        vault.c.owner_kind == owner.kind,
        vault.c.kind == number.kind,
    )
    if not any_digits:
        query = query.where(vault.c.last_four.in_({number.last_four, number.earlier_last_four}))
    return set(await session.scalars(query))


def _place(owner: SecretOwner, kind: NumberKind) -> ColumnElement[bool]:
    return and_(
        vault.c.organization_id == owner.organization_id,
        vault.c.employer_id == owner.employer_id,
        vault.c.sandbox == owner.sandbox,
        vault.c.owner_kind == owner.kind,
        vault.c.owner_id == owner.id,
        vault.c.kind == kind,
    )


async def _leave_trace(
    session: AsyncSession, actor: Reader, owner: SecretOwner, action: str, details: dict[str, str]
) -> None:
    await audit.record(
        session,
        actor_kind=actor.kind,
        actor_id=actor.id,
        organization_id=owner.organization_id,
        employer_id=owner.employer_id,
        sandbox=owner.sandbox,
        action=action,
        subject_id=owner.id,
        request_id=actor.request_id,
        details={"owner_kind": owner.kind, **details},
    )
