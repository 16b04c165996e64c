"""Skipping the next period of an enrollment, or all through a day; what is scheduled for one is voided."""

import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.autopilot.models import DecidedPeriod, Enrollment
from hearthpay.autopilot.records import keep, waiting_periods
from hearthpay.autopilot.views import Managed, views_of
from hearthpay.clock import Clock
from hearthpay.payroll.voiding import void_unsent


async def skip(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    enrollment: Enrollment,
    through: datetime.date | None,
) -> Managed:
    """Skip the next period of a locked enrollment, or all that begin by a day, and void what is scheduled for them."""
    waiting = await waiting_periods(session, enrollment)
    only_next = through is None
    if through is None:
        target = await _next_unsent(session, enrollment, clock.now())
        if target is None:  # what comes next is skipped already
            (view,) = await views_of(session, clock, [enrollment])
            return Managed(view, changed=False)
        through = target
    voided: list[UUID] = []
    still_paid: list[UUID] = []
    for period in waiting:
        if period.period_start > through or period.payroll_id is None:
            continue
        found = await void_unsent(session, actor, clock, period.payroll_id, "autopilot.skip")
        (voided if found == "scheduled" else still_paid).append(period.payroll_id)
    before = enrollment.skip_through
    if not only_next or through >= enrollment.next_start:
        enrollment.skip_through = through
    changed = bool(voided) or enrollment.skip_through != before
    if changed:
        details = {"through": through, "voided": voided, "still_paid": still_paid}
        await keep(session, actor, clock, enrollment, "skip", details)
    (view,) = await views_of(session, clock, [enrollment])
    return Managed(view, changed, tuple(voided), tuple(still_paid))


async def _next_unsent(
    session: AsyncSession, enrollment: Enrollment, now: datetime.datetime
) -> datetime.date | None:
    """Return the last day of the next period whose money is not sent; None where that one is skipped already."""
    decided = await session.scalar(
        select(DecidedPeriod)
        .where(
            DecidedPeriod.enrollment_id == enrollment.id,
            (DecidedPeriod.outcome == "scheduled")
            | (DecidedPeriod.outcome.in_(("skipped", "voided")) & (DecidedPeriod.send_at > now)),
        )
        .order_by(DecidedPeriod.period_start)
        .limit(1)
        .execution_options(populate_existing=True)
    )
    if decided is not None:
        return decided.period_end if decided.outcome == "scheduled" else None
    skipped = enrollment.skip_through is not None and enrollment.next_start <= enrollment.skip_through
    return None if skipped else enrollment.next_end
