"""Freezing an organization: for a day after an alarm, nobody new gets access and no bank account changes.

Payroll continues as before. Frozen are who may act, where money goes and where warnings go.
"""

import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.refusal import Refusal

FROZEN_FOR: Final = datetime.timedelta(hours=24)

_FREEZE: Final = text("SELECT freeze_organization(:until)")
_UNTIL: Final = text(
    "SELECT frozen_until FROM organizations WHERE id = :organization AND frozen_until > :now"
)


async def freeze_organization(
    session: AsyncSession, actor: Actor, now: datetime.datetime, why: str
) -> datetime.datetime:
    """Freeze the actor's organization for FROZEN_FOR from now, and return the end of the freeze.

    `why` is a code recorded in the audit trail; owners are notified, as of every sensitive action.
    """
    until = now + FROZEN_FOR
    await session.execute(_FREEZE, {"until": until})
    await record_audit(
        session,
        actor,
        "organization.freeze",
        employer_id=None,
        subject_id=actor.organization_id,
        details={"until": until, "why": why},
    )
    return until


async def frozen_until(
    session: AsyncSession, organization_id: UUID, now: datetime.datetime
) -> datetime.datetime | None:
    """Return the end of the organization's freeze; None if it isn't frozen."""
    found: datetime.datetime | None = await session.scalar(
        _UNTIL, {"organization": organization_id, "now": now}
    )
    return found


async def refuse_frozen(session: AsyncSession, actor: Actor, now: datetime.datetime) -> None:
    """Refuse new access, and changes of where money or warnings go, while the organization is frozen.

    Raises `invalid_state`. The operator is allowed through.
    """
    if actor.kind != "operator" and not actor.sandbox:
        await refuse_frozen_organization(session, actor.organization_id, now)


async def refuse_frozen_organization(
    session: AsyncSession, organization_id: UUID, now: datetime.datetime
) -> None:
    """Refuse likewise, for every actor. Raises `invalid_state`."""
    until = await frozen_until(session, organization_id, now)
    if until is not None:
        raise Refusal(
            "invalid_state",
            "Somebody reported an act that was not theirs. Until the time given, nothing new is let in here, and no "
            "bank account or address changes. Payroll goes on.",
            details={"frozen_until": until},
        )
