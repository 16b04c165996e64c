"""Reading Autopilot: the state of an employee or a household, and the history."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_AUTOPILOT, allow
from hearthpay.autopilot.commands import HistoryQuery
from hearthpay.autopilot.eligibility import read_facts, reasons_against
from hearthpay.autopilot.models import AutopilotEvent, Enrollment
from hearthpay.autopilot.proposals import proposed_periods
from hearthpay.autopilot.records import employee_of, find_live, household_of
from hearthpay.autopilot.views import AutopilotView, EnrollmentView, reasons_of, views_of
from hearthpay.banking.calendar import earliest_pay_date
from hearthpay.clock import Clock
from hearthpay.employers.service import resolve_employer
from hearthpay.wire.paging import page_of


async def read_autopilot(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer_id: UUID | None,
    employee_id: UUID,
    *,
    direct_deposit_enabled: bool,
) -> AutopilotView:
    """Return an employee's state; for one who isn't enrolled, what enrolling now would give.

    An ended enrollment counts as none. Raises what `allow` and `resolve_employer` raise, and
    `employee_not_in_household`.
    """
    allow(actor, READ_AUTOPILOT)
    employer_id = await household_of(session, actor, employer_id, employee_id)
    enrollment = await find_live(session, employee_id)
    if enrollment is None:
        return await _not_enrolled(
            session, clock, employer_id, employee_id, direct_deposit_enabled=direct_deposit_enabled
        )
    (view,) = await views_of(session, clock, [enrollment])
    reasons = await reasons_of(session, view, clock, direct_deposit_enabled=direct_deposit_enabled)
    return AutopilotView(employer_id, view, reasons, view.coming)


async def _not_enrolled(
    session: AsyncSession, clock: Clock, employer_id: UUID, employee_id: UUID, *, direct_deposit_enabled: bool
) -> AutopilotView:
    facts = (await read_facts(session, [employee_id], direct_deposit_enabled=direct_deposit_enabled))[
        employee_id
    ]
    paid = earliest_pay_date(clock.now())
    reasons = reasons_against(facts, authorized=True, period_end=paid, pay_date=paid)
    if reasons:
        return AutopilotView(employer_id, None, reasons, ())
    employee = await employee_of(session, employer_id, employee_id)
    coming = await proposed_periods(session, employee, clock.now(), clock.today())
    first = coming[0]
    reasons = reasons_against(facts, authorized=True, period_end=first.end, pay_date=first.pay_date)
    return AutopilotView(employer_id, None, reasons, () if reasons else coming)


async def list_autopilot(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID
) -> list[EnrollmentView]:
    """Return a household's live enrollments (active and paused), newest first.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_AUTOPILOT, employer_id)
    await resolve_employer(session, actor, employer_id)
    statement = (
        select(Enrollment)
        .where(Enrollment.employer_id == employer_id, Enrollment.status != "disabled")
        .order_by(Enrollment.id.desc())
    )
    return await views_of(session, clock, (await session.scalars(statement)).all())


async def read_history(
    session: AsyncSession, actor: Actor, requested: HistoryQuery
) -> tuple[Sequence[AutopilotEvent], str | None]:
    """Return one page of the history, newest first, and the cursor of the next.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_AUTOPILOT)
    if requested.employee_id is None:
        employer_id = (await resolve_employer(session, actor, requested.employer_id)).id
    else:
        employer_id = await household_of(session, actor, requested.employer_id, requested.employee_id)
    statement = select(AutopilotEvent).where(AutopilotEvent.employer_id == employer_id)
    if requested.employee_id is not None:
        statement = statement.where(AutopilotEvent.employee_id == requested.employee_id)
    return await page_of(session, statement, AutopilotEvent.id, requested)
