"""Letting a payroll be sent that Autopilot holds because it is out of the ordinary."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import ENROLL_AUTOPILOT, allow
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.models import DecidedPeriod, EnrollmentVersion
from hearthpay.autopilot.records import audit, lock_live, note, stages_of, versions_of
from hearthpay.autopilot.schedule import stage_of
from hearthpay.clock import Clock
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.scheduling import try_at_once


async def confirm_payroll(session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID) -> None:
    """Let a payroll that Autopilot holds be sent; what it pays is the enrolled net from then on.

    Again it changes nothing. Raises what `allow` raises, `not_found` for a payroll that Autopilot does not hold, and
    `invalid_state` where it does not wait any more.
    """
    allow(actor, ENROLL_AUTOPILOT)
    now = clock.now()
    unknown = Refusal("not_found", "Autopilot holds no such payroll.")
    found = select(DecidedPeriod).where(DecidedPeriod.payroll_id == payroll_id)
    period = await session.scalar(found)
    if period is None or not actor.reaches(period.employer_id) or not period.held:
        raise unknown
    await resolve_employer(session, actor, period.employer_id, hold=True)
    enrollment = await lock_live(session, period.employee_id)
    period = await session.scalar(found.with_for_update().execution_options(populate_existing=True))
    if period is None or enrollment is None or enrollment.id != period.enrollment_id:
        raise Refusal("invalid_state", "The enrollment of this payroll has been ended.")
    if period.confirmed_at is not None:
        return
    if period.outcome != "scheduled":
        raise Refusal(
            "invalid_state",
            f"This payroll does not wait any more: it is {period.outcome}.",
            details={"payroll_id": payroll_id, "status": period.outcome},
        )
    period.confirmed_at = now
    await try_at_once(session, [payroll_id], now)
    versions = (await versions_of(session, [enrollment.id]))[enrollment.id]
    before = versions[stage_of(stages_of(versions), period.period_start)]
    if "above_enrolled_net" in period.held and enrollment.next_start > period.period_start:
        at_present = versions[stage_of(stages_of(versions), enrollment.next_start)]
        if at_present.number == before.number:
            session.add(
                EnrollmentVersion(
                    id=uuid7(),
                    organization_id=enrollment.organization_id,
                    employer_id=enrollment.employer_id,
                    sandbox=enrollment.sandbox,
                    enrollment_id=enrollment.id,
                    number=versions[-1].number + 1,
                    from_period=enrollment.next_start,
                    frequency=before.frequency,
                    anchor=before.anchor,
                    pay_days_after=before.pay_days_after,
                    standard_hours=before.standard_hours,
                    expected_net=period.net_pay,
                    made_by_kind=actor.kind,
                    made_by=actor.id,
                    made_at=now,
                )
            )
    details = {"payroll_id": payroll_id, "confirmed": period.held}
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await audit(session, actor, enrollment, "autopilot.confirm", details)
