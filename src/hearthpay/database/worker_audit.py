"""Audit rows of what the worker does to accounts and secrets, many with one statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

_INSERT: Final = text(
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details) "
    "SELECT r.id, r.organization_id, r.employer_id, r.sandbox, 'system', :action, r.subject_id, r.details "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:organizations AS uuid[]), CAST(:employers AS uuid[]), "
    "CAST(:sandboxes AS boolean[]), CAST(:subjects AS uuid[]), CAST(:details AS jsonb[])) "
    "AS r(id, organization_id, employer_id, sandbox, subject_id, details)"
)


@dataclass(frozen=True, slots=True)
class WorkerAuditEntry:
    """One action on `subject_id` of a household; `details` contains no secret."""

    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    subject_id: UUID
    details: Mapping[str, object]


async def record_worker_audit(
    session: AsyncSession, action: str, entries: Sequence[WorkerAuditEntry]
) -> None:
    """Write one audit row for each action; the actor is the service itself."""
    if not entries:
        return
    await session.execute(
        _INSERT,
        {
            "action": action,
            "ids": [uuid7() for _ in entries],
            "organizations": [entry.organization_id for entry in entries],
            "employers": [entry.employer_id for entry in entries],
            "sandboxes": [entry.sandbox for entry in entries],
            "subjects": [entry.subject_id for entry in entries],
            "details": [orjson.dumps(dict(entry.details)).decode() for entry in entries],
        },
    )
