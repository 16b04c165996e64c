"""The standing authorization of an Autopilot enrollment: what was authorized, by whom, when and from where."""

import datetime
import hashlib
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import ENROLL_AUTOPILOT, allow
from hearthpay.access.refusal import Refusal
from hearthpay.banking.accounts import current_household_account
from hearthpay.banking.models import StandingAuthorization
from hearthpay.employers.models import Employer


async def authorize_standing(
    session: AsyncSession,
    actor: Actor,
    employer: Employer,
    enrollment_id: UUID,
    now: datetime.datetime,
    *,
    text_version: str,
    agreed_text: str,
    address: str | None,
) -> dict[str, object]:
    """Record that the household authorized debits of its current account for an enrollment, from now on.

    Return what was authorized, for the enrollment's audit row. The previous one ends. Raises
    `direct_deposit_unavailable` without an account, and what `allow` raises.
    """
    allow(actor, ENROLL_AUTOPILOT, employer.id)
    account = await current_household_account(session, employer.id)
    if account is None:
        raise Refusal(
            "direct_deposit_unavailable",
            "The household has not connected a bank account that could be debited.",
            details={"employer_id": employer.id},
        )
    await end_standing(session, enrollment_id, now)
    authorization_id = uuid7()
    session.add(
        StandingAuthorization(
            id=authorization_id,
            organization_id=employer.organization_id,
            employer_id=employer.id,
            sandbox=employer.sandbox,
            enrollment_id=enrollment_id,
            bank_account_id=account.id,
            text_version=text_version,
            agreed_text=agreed_text,
            authorized_by_kind=actor.kind,
            authorized_by=actor.id,
            address=address,
            request_id=actor.request_id,
            authorized_at=now,
            ended_at=None,
            revoked_at=None,
        )
    )
    await session.flush()
    return {
        "id": authorization_id,
        "bank_account_id": account.id,
        "text_version": text_version,
        "text_sha256": hashlib.sha256(agreed_text.encode()).hexdigest(),
        "authorized_at": now,
    }


async def end_standing(session: AsyncSession, enrollment_id: UUID, now: datetime.datetime) -> None:
    """End the enrollment's authorization: no payroll made from now on may be debited under it."""
    in_force = select(StandingAuthorization).where(
        StandingAuthorization.enrollment_id == enrollment_id, StandingAuthorization.ended_at.is_(None)
    )
    for authorization in await session.scalars(in_force):
        authorization.ended_at = now
    await session.flush()
