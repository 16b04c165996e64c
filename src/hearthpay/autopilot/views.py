"""The state of an enrollment, for those who read or change it."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.eligibility import Reason, authorized_enrollments, read_facts, reasons_against
from hearthpay.autopilot.models import DecidedPeriod, Enrollment, EnrollmentVersion
from hearthpay.autopilot.records import stages_of, versions_of
from hearthpay.autopilot.schedule import AutopilotPeriod, as_sent_from, first_still_sent, preview, stage_of
from hearthpay.banking.calendar import earliest_pay_date
from hearthpay.clock import Clock


@dataclass(frozen=True, slots=True)
class EnrollmentView:
    """The state of an enrollment; amounts in cents. ``next_pay_date`` is None if nothing is to be paid."""

    enrollment: Enrollment
    version: EnrollmentVersion
    next_pay_date: datetime.date | None
    coming: tuple[AutopilotPeriod, ...]


@dataclass(frozen=True, slots=True)
class AutopilotView:
    """An employee's Autopilot: the live enrollment, the reasons not to pay, and the next periods.

    Without an enrollment, ``coming`` is what enrolling now would give; empty if that isn't possible.
    """

    employer_id: UUID
    enrolled: EnrollmentView | None
    reasons: tuple[Reason, ...]
    coming: tuple[AutopilotPeriod, ...]


@dataclass(frozen=True, slots=True)
class Managed:
    """The result of an action: whether anything changed, which payrolls were voided, and which are still paid."""

    view: EnrollmentView
    changed: bool
    voided: tuple[UUID, ...] = ()
    still_paid: tuple[UUID, ...] = ()


async def views_of(
    session: AsyncSession, clock: Clock, enrollments: Sequence[Enrollment]
) -> list[EnrollmentView]:
    """Return the states of the enrollments, in the same order."""
    ids = [enrollment.id for enrollment in enrollments]
    versions = await versions_of(session, ids)
    under_way = select(DecidedPeriod).where(
        DecidedPeriod.enrollment_id.in_(ids),
        DecidedPeriod.outcome.in_(("scheduled", "fired")),
        DecidedPeriod.pay_date >= clock.today(),
    )
    paid: dict[UUID, list[datetime.date]] = {}
    for period in await session.scalars(under_way.execution_options(populate_existing=True)):
        paid.setdefault(period.enrollment_id, []).append(period.pay_date)
    views = []
    for enrollment in enrollments:
        own = versions[enrollment.id]
        stages = stages_of(own)
        coming: tuple[AutopilotPeriod, ...] = ()
        if enrollment.status != "disabled":
            start = enrollment.next_start
            if enrollment.status == "paused":
                start = first_still_sent(stages, start, clock.now()).start
            following = preview(stages, start, skip_through=enrollment.skip_through)
            coming = tuple(as_sent_from(period, clock.now()) for period in following)
        days = paid.get(enrollment.id, [])
        if enrollment.status == "active":
            days = [*days, coming[0].pay_date]
        at_present = own[stage_of(stages, enrollment.next_start)]
        views.append(EnrollmentView(enrollment, at_present, min(days, default=None), coming))
    return views


async def reasons_of(
    session: AsyncSession, view: EnrollmentView, clock: Clock, *, direct_deposit_enabled: bool
) -> tuple[Reason, ...]:
    """Return the reasons not to pay the next period of an enrollment."""
    enrollment = view.enrollment
    facts = (
        await read_facts(session, [enrollment.employee_id], direct_deposit_enabled=direct_deposit_enabled)
    )[enrollment.employee_id]
    ended = enrollment.status == "disabled"  # a new enrollment needs a new authorization
    authorized = ended or enrollment.id in await authorized_enrollments(session, [enrollment.id])
    if not view.coming:
        paid = earliest_pay_date(clock.now())
        return reasons_against(facts, authorized=authorized, period_end=paid, pay_date=paid)
    coming = view.coming[0]
    return reasons_against(
        facts,
        authorized=authorized,
        period_start=coming.start,
        period_end=coming.end,
        pay_date=coming.pay_date,
    )
