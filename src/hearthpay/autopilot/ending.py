"""Ending an enrollment for good, with the authorization of its debits and what waits to be sent."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.autopilot.models import Enrollment
from hearthpay.autopilot.records import keep, waiting_periods
from hearthpay.autopilot.views import Managed, views_of
from hearthpay.banking.standing_authorizations import end_standing
from hearthpay.clock import Clock
from hearthpay.payroll.voiding import void_unsent


async def disable(session: AsyncSession, actor: Actor, clock: Clock, enrollment: Enrollment) -> Managed:
    """End a locked enrollment for good: void what is scheduled, end the authorization of its debits."""
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
