"""The four actions on an enrollment: pause, resume, skip, disable.

Locks are taken in the usual order: the household, the enrollment, its payrolls, its employee. If a person and the
worker act at once, one goes first and the other sees the result.
"""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import MANAGE_AUTOPILOT, allow
from hearthpay.access.refusal import Problem, invalid_fields
from hearthpay.autopilot.commands import LONGEST_SKIP, Manage
from hearthpay.autopilot.models import Enrollment
from hearthpay.autopilot.pausing import pause, resume
from hearthpay.autopilot.records import household_of, keep, latest_of, lock_live, waiting_periods
from hearthpay.autopilot.refusals import not_enrolled
from hearthpay.autopilot.skipping import skip
from hearthpay.autopilot.views import Managed, views_of
from hearthpay.banking.standing_authorizations import end_standing
from hearthpay.clock import Clock
from hearthpay.payroll.voiding import void_unsent


async def manage(
    session: AsyncSession, actor: Actor, clock: Clock, requested: Manage, *, direct_deposit_enabled: bool
) -> Managed:
    """Pause, resume, skip or end an enrollment. Repeating it changes nothing and returns the current state.

    `pause`: no further payrolls are generated; scheduled ones are still paid. `resume`: continues with the first
    period that can still be sent, and never pays for those in between. `skip`: doesn't pay the next period, or all
    that begin by ``through_date``, or the one that begins on ``period_start``; voids a payroll already scheduled for
    one. `disable`: ends it for good, voids what is scheduled and ends the debit authorization.

    Raises what `allow` and `resolve_employer` raise; `employee_not_in_household`; `not_found` without an enrollment;
    `invalid_state` for what can't be resumed, with the reasons in `details`, and if another period than
    ``period_start`` is next by then; and `validation_error` for a ``through_date`` in the past, more than two years
    ahead, or with an action other than skip.
    """
    allow(actor, MANAGE_AUTOPILOT)
    _check_through_date(requested, clock)
    await household_of(session, actor, requested.employer_id, requested.employee_id, hold=True)
    enrollment = await lock_live(session, requested.employee_id)
    if enrollment is None:
        ended = await latest_of(session, requested.employee_id)
        if ended is None or requested.action != "disable":
            raise not_enrolled(requested.employee_id)
        (view,) = await views_of(session, clock, [ended])
        return Managed(view, changed=False)
    match requested.action:
        case "pause":
            return await pause(session, actor, clock, enrollment)
        case "resume":
            return await resume(
                session, actor, clock, enrollment, direct_deposit_enabled=direct_deposit_enabled
            )
        case "skip":
            return await skip(
                session, actor, clock, enrollment, requested.through_date, requested.period_start
            )
        case "disable":
            return await disable(session, actor, clock, enrollment)


def _check_through_date(requested: Manage, clock: Clock) -> None:
    day, today = requested.through_date, clock.today()
    if day is None:
        return
    problems = []
    if requested.action != "skip":
        problems.append("belongs to a skip alone")
    if day < today:
        problems.append(f"must not be in the past; today is {today}")
    if day > today + LONGEST_SKIP:
        problems.append(f"must be within two years, by {today + LONGEST_SKIP}")
    if problems:
        raise invalid_fields([Problem("through_date", problem) for problem in problems])


async def disable(session: AsyncSession, actor: Actor, clock: Clock, enrollment: Enrollment) -> Managed:
    """End a locked enrollment for good: void what is scheduled and end its debit authorization."""
    now = clock.now()
    voided: list[UUID] = []
    still_paid: list[UUID] = []
    for period in await waiting_periods(session, enrollment):
        if period.payroll_id is not None:
            found = await void_unsent(session, actor, clock, period.payroll_id, "autopilot.disable")
            (voided if found == "scheduled" else still_paid).append(period.payroll_id)
    await end_standing(session, enrollment.id, now)
    enrollment.status, enrollment.generate_at, enrollment.disabled_at = "disabled", None, now
    details = {"voided": voided, "still_paid": still_paid}
    await keep(session, actor, clock, enrollment, "disable", details)
    (view,) = await views_of(session, clock, [enrollment])
    return Managed(view, True, tuple(voided), tuple(still_paid))
