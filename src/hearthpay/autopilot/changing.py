"""Changing the hours or schedule of an enrollment, from an undecided period on."""

import datetime
from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import ENROLL_AUTOPILOT, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.autopilot.commands import FURTHEST_CHANGE, ChangeEnrollment, EnrolledTerms
from hearthpay.autopilot.eligibility import reason_of_code
from hearthpay.autopilot.estimates import estimate, held_for, planned
from hearthpay.autopilot.models import EnrollmentVersion
from hearthpay.autopilot.records import (
    audit,
    employee_of,
    note,
    owner_of,
    require_live,
    stages_of,
    stand_before,
    versions_of,
)
from hearthpay.autopilot.refusals import not_eligible
from hearthpay.autopilot.schedule import AutopilotPeriod, Schedule, Stage, common_starts, stage_of
from hearthpay.autopilot.versions import new_version, refuse_hours, refuse_other_pay
from hearthpay.autopilot.views import EnrollmentView, views_of
from hearthpay.clock import Clock
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.scheduling import NotPlanned
from hearthpay.taxes.messages import message

_TERMS: Final = ("standard_hours", "frequency", "pay_days_after")
"""The terms whose former and new values the audit log stores."""


async def change_enrollment(
    session: AsyncSession, actor: Actor, clock: Clock, requested: ChangeEnrollment
) -> EnrollmentView:
    """Change the hours or the schedule, from a period on that isn't decided yet.

    The periods of a new schedule begin where one of the old ends. Raises as `enroll` does, `invalid_state` if the
    employee isn't enrolled or a later change of schedule is pending, and `validation_error` naming ``from_period``
    with days that would work, or more than two years ahead.
    """
    allow(actor, ENROLL_AUTOPILOT, requested.employer_id)
    now = clock.now()
    if requested.from_period - clock.today() > FURTHEST_CHANGE:
        raise invalid("from_period", message("change_too_far"))
    employer = await resolve_employer(session, actor, requested.employer_id, hold=True)
    employee = await employee_of(session, employer.id, requested.employee_id)
    enrollment = await require_live(session, employee.id)
    versions = (await versions_of(session, [enrollment.id]))[enrollment.id]
    stages = stages_of(versions)
    terms, period = _changed(requested, versions, stages, enrollment.next_start)
    refuse_other_pay(terms.standard_hours, salaried=employee.pay_type == "salary")
    refuse_hours(terms.standard_hours, period)
    payroll = planned(owner_of(enrollment), employee.id, terms.frequency, terms.standard_hours, period, now)
    record = await estimate(session, payroll)
    if isinstance(record, NotPlanned):
        raise not_eligible((reason_of_code(record.code),))
    in_force = versions[stage_of(stages, period.start)]
    version = new_version(
        enrollment,
        actor,
        now,
        versions[-1].number + 1,
        period.start,
        terms,
        record.net_pay,
        large_confirmed=in_force.large_confirmed
        and not held_for(record, in_force.expected_net, large_confirmed=True),
    )
    session.add(version)
    if period.start == enrollment.next_start:
        stand_before(enrollment, period)
    enrollment.updated_at = now
    await session.flush()
    details = {
        "version": version.number,
        "from_period": period.start,
        "standard_hours": str(terms.standard_hours),
        "frequency": terms.frequency,
        "pay_days_after": terms.pay_days_after,
    }
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    given = {"version": version.number, "expected_net": record.net_pay}
    changed = [name for name in _TERMS if getattr(in_force, name) != getattr(terms, name)]
    sides = {
        side: {name: getattr(of, name) for name in changed}
        for side, of in (("before", in_force), ("after", terms))
    }
    await audit(session, actor, enrollment, "autopilot.change", {**details, "given": given, **sides})
    (view,) = await views_of(session, clock, [enrollment])
    return view


def _changed(
    requested: ChangeEnrollment,
    versions: Sequence[EnrollmentVersion],
    stages: Sequence[Stage],
    next_start: datetime.date,
) -> tuple[EnrolledTerms, AutopilotPeriod]:
    """Return the terms of a change and its first period; raises if it would leave a gap or an overlap."""
    old = versions[stage_of(stages, max(requested.from_period, next_start))]
    same = (requested.frequency, requested.pay_days_after) == (old.frequency, old.pay_days_after)
    fitting = common_starts(stages, requested.frequency, max(requested.from_period, next_start))
    if requested.from_period < next_start or requested.from_period != (nearest := next(fitting, None)):
        days = [
            str(day)
            for _, day in zip(range(3), common_starts(stages, requested.frequency, next_start), strict=False)
        ]
        raise invalid(
            "from_period",
            message(
                "change_not_first_day",
                days=", ".join(days) or "there is none within two years; end Autopilot and enroll anew",
            ),
        )
    if not same and any(version.from_period > nearest for version in versions):
        raise Refusal(
            "invalid_state",
            "A change from a later period on is waiting already: the schedule can only be changed after it.",
            details={"from_period": max(version.from_period for version in versions)},
        )
    anchor = old.anchor if requested.frequency == old.frequency else nearest
    terms = EnrolledTerms(
        standard_hours=requested.standard_hours,
        frequency=requested.frequency,
        anchor=anchor,
        pay_days_after=requested.pay_days_after,
    )
    try:
        return terms, Schedule(terms.frequency, anchor, terms.pay_days_after).period(nearest)
    except ValueError as error:
        raise invalid("pay_days_after", f"is no schedule: {error}") from None
