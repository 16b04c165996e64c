"""The audit trail of what people and keys do, written in the same transaction as the action."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database import audit


async def record_audit(
    session: AsyncSession,
    actor: Actor,
    action: str,
    *,
    employer_id: UUID | None,
    subject_id: UUID | None,
    details: Mapping[str, object] | None = None,
) -> None:
    """Record that `actor` did `action` to `subject_id`.

    `details` must not contain secrets; for changed settings it holds the values before and after.
    """
    await audit.record(
        session,
        actor_kind=actor.kind,
        actor_id=actor.id,
        organization_id=actor.organization_id,
        employer_id=employer_id,
        sandbox=actor.sandbox,
        action=action,
        subject_id=subject_id,
        request_id=actor.request_id,
        details=dict(details or {}),
    )


def audit_row(actor: Actor, action: str, *, details: Mapping[str, object]) -> audit.AuditRow:
    """Return the row of an action that concerns nothing stored, for `database.audit.record_all`."""
    return audit.new_row(
        actor_kind=actor.kind,
        actor_id=actor.id,
        organization_id=actor.organization_id,
        employer_id=actor.tenant.employer_id,
        sandbox=actor.sandbox,
        action=action,
        subject_id=None,
        request_id=actor.request_id,
        details=details,
    )
