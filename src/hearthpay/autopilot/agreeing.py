"""Authorizing debits: the standing authorization, when enrolling and when renewing it."""

import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import ENROLL_AUTOPILOT, allow
from hearthpay.access.refusal import invalid
from hearthpay.autopilot.commands import Agreement
from hearthpay.autopilot.models import Enrollment
from hearthpay.autopilot.records import (
    STANDING_TEXT_VERSION,
    audit,
    employee_of,
    note,
    require_live,
    standing_text,
    waiting_periods,
)
from hearthpay.banking.standing_authorizations import authorize_standing
from hearthpay.clock import Clock
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.scheduling import try_at_once


async def renew_agreement(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer_id: UUID,
    employee_id: UUID,
    agreement: Agreement,
) -> None:
    """Replace the standing authorization with one for the account that is connected now.

    Raises as `enroll` does, `invalid_state` if the employee isn't enrolled, and `direct_deposit_unavailable` without
    an account.
    """
    allow(actor, ENROLL_AUTOPILOT, employer_id)
    now = clock.now()
    employer = await resolve_employer(session, actor, employer_id, hold=True)
    await employee_of(session, employer_id, employee_id)
    enrollment = await require_live(session, employee_id)
    agreed = await record_agreement(session, actor, employer, enrollment, agreement, now)
    waiting = await waiting_periods(session, enrollment)
    await try_at_once(session, [period.payroll_id for period in waiting if period.payroll_id], now)
    details = {"text_version": agreement.text_version, "authorized_anew": True}
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await audit(
        session, actor, enrollment, "autopilot.authorize", {**details, "given": {"authorization": agreed}}
    )


async def record_agreement(
    session: AsyncSession,
    actor: Actor,
    employer: Employer,
    enrollment: Enrollment,
    agreement: Agreement,
    now: datetime.datetime,
) -> dict[str, object]:
    """Record the authorization of debits for the account that is connected now, replacing an earlier one.

    Return what was authorized, for the audit log. Raises `validation_error` if another text was agreed to, and
    `direct_deposit_unavailable` without an account.
    """
    if agreement.text_version != STANDING_TEXT_VERSION:
        raise invalid(
            "text_version",
            f"is not the version of the authorization that is asked for now, {STANDING_TEXT_VERSION}",
        )
    return await authorize_standing(
        session,
        actor,
        employer,
        enrollment.id,
        now,
        text_version=agreement.text_version,
        agreed_text=standing_text(),
        address=agreement.address,
    )
