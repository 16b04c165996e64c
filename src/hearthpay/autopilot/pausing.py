"""Pausing an enrollment, and resuming it without paying for the time in between."""

import datetime
from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.autopilot.eligibility import (
    FOR_THE_OPERATOR,
    authorized_enrollments,
    read_facts,
    reason_of_code,
    reasons_against,
)
from hearthpay.autopilot.estimates import estimate, planned
from hearthpay.autopilot.models import DecidedPeriod, Enrollment, EnrollmentVersion
from hearthpay.autopilot.records import keep, owner_of, stages_of, stand_before, versions_of, waiting_periods
from hearthpay.autopilot.refusals import not_eligible
from hearthpay.autopilot.schedule import first_still_sent, is_skipped, periods_of, stage_of
from hearthpay.autopilot.views import Managed, views_of
from hearthpay.clock import Clock
from hearthpay.payroll.scheduling import NotPlanned


async def pause(session: AsyncSession, actor: Actor, clock: Clock, enrollment: Enrollment) -> Managed:
    """Pause a locked enrollment: no further payrolls are generated, and scheduled ones are still paid."""
    still_paid = tuple(
        period.payroll_id for period in await waiting_periods(session, enrollment) if period.payroll_id
    )
    changed = enrollment.status == "active" or enrollment.pause_reason == "employee_inactive"
    if changed:  # a former employee is paid again automatically after a reinstatement, unless paused
        enrollment.pause_reason = None
        enrollment.status, enrollment.generate_at = "paused", None
        await keep(session, actor, clock, enrollment, "pause", {"still_paid": still_paid})
    (view,) = await views_of(session, clock, [enrollment])
    return Managed(view, changed, still_paid=still_paid)


async def resume(
    session: AsyncSession, actor: Actor, clock: Clock, enrollment: Enrollment, *, direct_deposit_enabled: bool
) -> Managed:
    """Resume with the first period that can still be sent; those in between are never paid.

    Raises `invalid_state` with the reasons in `details` if the household can fix what stops Autopilot. What only the
    operator or the law can fix doesn't prevent it: the period stays open until then.
    """
    if enrollment.status == "active":
        (view,) = await views_of(session, clock, [enrollment])
        return Managed(view, changed=False)
    now = clock.now()
    versions = (await versions_of(session, [enrollment.id]))[enrollment.id]
    stages = stages_of(versions)
    period = first_still_sent(stages, enrollment.next_start, now)
    version = versions[stage_of(stages, period.start)]
    facts = (
        await read_facts(session, [enrollment.employee_id], direct_deposit_enabled=direct_deposit_enabled)
    )[enrollment.employee_id]
    authorized = enrollment.id in await authorized_enrollments(session, [enrollment.id])
    reasons = reasons_against(
        facts,
        authorized=authorized,
        period_start=period.start,
        period_end=period.end,
        pay_date=period.pay_date,
    )
    if not reasons:
        payroll = planned(
            owner_of(enrollment),
            enrollment.employee_id,
            version.frequency,
            version.standard_hours,
            period,
            now,
        )
        record = await estimate(session, payroll)
        reasons = (reason_of_code(record.code),) if isinstance(record, NotPlanned) else ()
    if not FOR_THE_OPERATOR.issuperset(reasons):
        raise not_eligible(reasons)
    missed = paused_periods(enrollment, versions, period.start, now)
    session.add_all(missed)
    enrollment.status, enrollment.pause_reason, enrollment.failure_count = "active", None, 0
    stand_before(enrollment, period)
    details = {
        "next_period": {"start": period.start, "end": period.end, "pay_date": period.pay_date},
        "not_paid": [{"start": each.period_start, "end": each.period_end} for each in missed],
    }
    await keep(session, actor, clock, enrollment, "resume", details)
    (view,) = await views_of(session, clock, [enrollment])
    return Managed(view, changed=True)


def paused_periods(
    enrollment: Enrollment,
    versions: Sequence[EnrollmentVersion],
    until: datetime.date,
    now: datetime.datetime,
) -> list[DecidedPeriod]:
    """Return the periods that passed while the enrollment was paused: Autopilot never pays them."""
    stages = stages_of(versions)
    missed: list[DecidedPeriod] = []
    for period in periods_of(stages, enrollment.next_start):
        if period.start >= until:
            return missed
        skipped = is_skipped(period, enrollment.skip_through)
        missed.append(
            DecidedPeriod(
                id=uuid7(),
                organization_id=enrollment.organization_id,
                employer_id=enrollment.employer_id,
                sandbox=enrollment.sandbox,
                enrollment_id=enrollment.id,
                employee_id=enrollment.employee_id,
                version=versions[stage_of(stages, period.start)].number,
                period_start=period.start,
                period_end=period.end,
                pay_date=period.pay_date,
                send_at=period.send_at,
                outcome="skipped" if skipped else "paused",
                by_hand=[],
                reasons=[],
                held=[],
                decided_at=now,
            )
        )
    raise AssertionError("periods never end")
