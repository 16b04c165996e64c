"""The audit log: one row for every write by a person or a key, in the transaction which makes the change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Boolean, Column, DateTime, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.base import Base

ActorKind = Literal["user", "key", "system", "operator"]

# `at` is left to the database: evidence carries the server's real time, also where a sandbox's clock travels.
audit_log = Table(
    "audit_log",
    Base.metadata,
    Column("id", Uuid, primary_key=True),
    Column("organization_id", Uuid, nullable=False),
    Column("employer_id", Uuid),
    Column("sandbox", Boolean),
    Column("actor_kind", Text, nullable=False),
    Column("actor_id", Uuid),
    Column("action", Text, nullable=False),
    Column("subject_id", Uuid),
    Column("request_id", Text),
    Column("details", JSONB, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
)


async def record(
    session: AsyncSession,
    *,
    actor_kind: ActorKind,
    actor_id: UUID | None,
    organization_id: UUID,
    employer_id: UUID | None,
    sandbox: bool | None,
    action: str,
    subject_id: UUID | None,
    request_id: str | None,
    details: Mapping[str, Any],
) -> None:
    """Write one audit row within the session's transaction.

    `action` is `subject.verb` (`employee.create`); `details` holds what JSON can (a Decimal is stored as a
    string) and never a secret. `sandbox` is None where the deed concerns the whole organization.
    """
    await session.execute(
        audit_log.insert().values(
            id=uuid7(),
            organization_id=organization_id,
            employer_id=employer_id,
            sandbox=sandbox,
            actor_kind=actor_kind,
            actor_id=actor_id,
            action=action,
            subject_id=subject_id,
            request_id=request_id,
            details=dict(details),
        )
    )
