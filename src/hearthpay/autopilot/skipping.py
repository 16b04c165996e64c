"""Skipping the next period of an enrollment, or all through a day, and voiding what is scheduled for them."""

import datetime
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.models import DecidedPeriod, Enrollment
from hearthpay.autopilot.records import keep, stages_of, versions_of, waiting_periods
from hearthpay.autopilot.schedule import first_still_sent, is_skipped, periods_of
from hearthpay.autopilot.views import Managed, views_of
from hearthpay.clock import Clock
from hearthpay.payroll.voiding import void_unsent
from hearthpay.taxes.messages import message


async def skip(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    enrollment: Enrollment,
    through: datetime.date | None,
    start: datetime.date | None = None,
) -> Managed:
    """Skip the next period of a locked enrollment, or all that begin by a day, and void what is scheduled for them.

    With the ``start`` of the next period as the caller saw it, only that one is skipped: raises `invalid_state` if
    another one is next already. Skipping it again changes nothing.
    """
    waiting = await waiting_periods(session, enrollment)
    only_next = through is None
    if through is None:
        if start is None:
            target = await _next_unsent(session, enrollment, clock.now())
        else:
            target = await _next_as_seen(session, enrollment, waiting, start, clock.now())
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
        if period.period_start == start and found != "scheduled":  # sent at this very moment
            raise _another(start, None)
        (voided if found == "scheduled" else still_paid).append(period.payroll_id)
    before = enrollment.skip_through
    if not only_next or through >= enrollment.next_start:
        enrollment.skip_through = through
    changed = bool(voided) or enrollment.skip_through != before
    if changed:
        details = {
            "through": through,
            "skip_through": enrollment.skip_through,
            "voided": voided,
            "still_paid": still_paid,
        }
        await keep(session, actor, clock, enrollment, "skip", details)
    (view,) = await views_of(session, clock, [enrollment])
    return Managed(view, changed, tuple(voided), tuple(still_paid))


async def _next_unsent(
    session: AsyncSession, enrollment: Enrollment, now: datetime.datetime
) -> datetime.date | None:
    """Return the last day of the next unsent period; None if it is already skipped."""
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


async def _next_as_seen(
    session: AsyncSession,
    enrollment: Enrollment,
    waiting: Sequence[DecidedPeriod],
    start: datetime.date,
    now: datetime.datetime,
) -> datetime.date | None:
    """Return the last day of the period that begins on the day, if it is the next to be paid; None if it is already
    skipped. Raises `invalid_state` if another one is next.
    """
    decided = await session.scalar(
        select(DecidedPeriod.outcome).where(
            DecidedPeriod.enrollment_id == enrollment.id, DecidedPeriod.period_start == start
        )
    )
    if decided in ("skipped", "voided"):
        return None
    if enrollment.skip_through is not None and enrollment.next_start <= start <= enrollment.skip_through:
        return None
    first: tuple[datetime.date, datetime.date]
    if waiting:
        first = min((each.period_start, each.period_end) for each in waiting)
    else:
        stages = stages_of((await versions_of(session, [enrollment.id]))[enrollment.id])
        # An active enrollment still pays its next period, however late.
        next_start = enrollment.next_start
        if enrollment.status == "paused":
            next_start = first_still_sent(stages, next_start, now).start
        coming = periods_of(stages, next_start)
        first = next(
            (each.start, each.end) for each in coming if not is_skipped(each, enrollment.skip_through)
        )
    if first[0] != start:
        raise _another(start, first[0])
    return first[1]


def _another(seen: datetime.date, following: datetime.date | None) -> Refusal:
    return Refusal(
        "invalid_state",
        message("autopilot_period_passed", day=seen),
        details={"period_start": seen, "next": following},
    )
