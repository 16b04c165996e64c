"""Approving or releasing a payroll that Autopilot holds because it is unusual."""

from typing import Final
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
from hearthpay.payroll.voiding import void_unsent
from hearthpay.taxes.messages import message

_LET_GO: Final = "Let go: Autopilot held it because its amount was out of the ordinary"
"""The reason recorded for voiding a released payroll."""


async def confirm_payroll(session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID) -> None:
    """Approve a payroll that Autopilot holds, so that it is sent; its net pay becomes the enrolled net pay.

    Repeating it changes nothing. Raises what `allow` raises, `not_found` for a payroll that isn't on hold, and
    `invalid_state` if it no longer awaits approval.
    """
    allow(actor, ENROLL_AUTOPILOT)
    now = clock.now()
    found = select(DecidedPeriod).where(DecidedPeriod.payroll_id == payroll_id)
    held = await _held(session, actor, payroll_id)
    await resolve_employer(session, actor, held.employer_id, hold=True)
    enrollment = await lock_live(session, held.employee_id)
    period = await session.scalar(found.with_for_update().execution_options(populate_existing=True))
    if period is None or enrollment is None or enrollment.id != period.enrollment_id:
        raise Refusal("invalid_state", "The enrollment of this payroll has been ended.")
    if period.confirmed_at is not None:
        return
    if period.outcome != "scheduled":
        raise _no_longer_pending(payroll_id, period.outcome)
    period.confirmed_at = now
    given: dict[str, object] = {}
    await try_at_once(session, [payroll_id], now)
    versions = (await versions_of(session, [enrollment.id]))[enrollment.id]
    before = versions[stage_of(stages_of(versions), period.period_start)]
    if "above_enrolled_net" in period.held and enrollment.next_start > period.period_start:
        at_present = versions[stage_of(stages_of(versions), enrollment.next_start)]
        if at_present.number == before.number:
            given = {"given": {"version": versions[-1].number + 1, "expected_net": period.net_pay}}
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
                    large_confirmed=before.large_confirmed,
                    made_by_kind=actor.kind,
                    made_by=actor.id,
                    made_at=now,
                )
            )
    details = {"payroll_id": payroll_id, "confirmed": period.held}
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await audit(session, actor, enrollment, "autopilot.confirm", {**details, **given})


async def release_payroll(session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID) -> None:
    """Void a payroll that Autopilot holds and nobody has approved: its period isn't paid.

    Repeating it changes nothing. Raises what `allow` raises, `not_found` for a payroll that isn't on hold, and
    `invalid_state` if it has been approved or sent.
    """
    allow(actor, ENROLL_AUTOPILOT)
    period = await _held(session, actor, payroll_id)
    await resolve_employer(session, actor, period.employer_id, hold=True)
    # An approval locks the enrollment, and sending locks the payroll: wait for both.
    await lock_live(session, period.employee_id)
    await session.refresh(period)
    if period.confirmed_at is not None:
        raise _no_longer_pending(payroll_id, "confirmed")
    status = await void_unsent(session, actor, clock, payroll_id, _LET_GO)
    if status not in ("scheduled", "voided"):
        raise _no_longer_pending(payroll_id, str(status))


async def _held(session: AsyncSession, actor: Actor, payroll_id: UUID) -> DecidedPeriod:
    """Return the period whose payroll is, or was, on hold. Raises `not_found`."""
    period = await session.scalar(select(DecidedPeriod).where(DecidedPeriod.payroll_id == payroll_id))
    if period is None or not actor.reaches(period.employer_id) or not period.held:
        raise Refusal("not_found", "We couldn't find that payroll on hold.")
    return period


def _no_longer_pending(payroll_id: UUID, status: str) -> Refusal:
    return Refusal(
        "invalid_state",
        message("autopilot_payroll_decided", status=status),
        details={"payroll_id": payroll_id, "status": status},
    )
