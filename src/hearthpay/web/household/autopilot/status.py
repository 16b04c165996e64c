"""The subject of the Autopilot pages: an enrollment of this household, found by its id, and its state."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.eligibility import Reason
from hearthpay.autopilot.models import DecidedPeriod, Enrollment
from hearthpay.autopilot.records import owner_of, stages_of, versions_of, waiting_periods
from hearthpay.autopilot.schedule import stage_of
from hearthpay.autopilot.views import EnrollmentView, reasons_of, views_of
from hearthpay.employees.models import Employee
from hearthpay.web.framework import id_in_path
from hearthpay.web.household.autopilot.forecast import Cost, cost_of
from hearthpay.web.household.context import HouseholdContext


@dataclass(frozen=True, slots=True)
class AutopilotStatus:
    """An enrollment for its pages. `waiting`: periods whose payrolls are scheduled and unsent."""

    view: EnrollmentView
    employee: Employee
    waiting: tuple[DecidedPeriod, ...]

    @property
    def enrollment(self) -> Enrollment:
        """The enrollment itself."""
        return self.view.enrollment

    @property
    def live(self) -> bool:
        """Whether it hasn't ended."""
        return self.enrollment.status != "disabled"

    @property
    def held(self) -> tuple[DecidedPeriod, ...]:
        """The periods that await approval."""
        return tuple(each for each in self.waiting if each.held and each.confirmed_at is None)

    @property
    def path(self) -> str:
        """The path of its pages, relative to the household's address."""
        return f"/autopilot/{self.enrollment.id}"


async def find_status(at: HouseholdContext, session: AsyncSession) -> AutopilotStatus:
    """Return the enrollment named in the path. Raises `not_found` for another household's."""
    requested = id_in_path(at.visitor, "enrollment_id")
    here = select(Enrollment).where(Enrollment.id == requested, Enrollment.employer_id == at.id)
    enrollment = await session.scalar(here)
    if enrollment is None:
        raise Refusal("not_found", "Enrollment not found.")
    employee = await session.get_one(Employee, enrollment.employee_id)
    (view,) = await views_of(session, at.clock, [enrollment])
    waiting = sorted(await waiting_periods(session, enrollment), key=lambda each: each.period_start)
    return AutopilotStatus(view, employee, tuple(waiting))


async def find_live(at: HouseholdContext, session: AsyncSession) -> AutopilotStatus:
    """Return the enrollment named in the path. Raises as `find_status` does, and for an ended one."""
    status = await find_status(at, session)
    if not status.live:
        raise Refusal("not_found", "This enrollment has been ended.")
    return status


async def what_it_costs(
    at: HouseholdContext, session: AsyncSession, status: AutopilotStatus
) -> tuple[Cost | None, tuple[Reason, ...]]:
    """Return what the next payday costs now, and the reasons not to pay it."""
    reasons = await reasons_of(
        session, status.view, at.clock, direct_deposit_enabled=at.runtime.direct_deposit
    )
    if reasons or not status.view.coming:
        return None, reasons
    period = status.view.coming[0]
    versions = (await versions_of(session, [status.enrollment.id]))[status.enrollment.id]
    version = versions[stage_of(stages_of(versions), period.start)]
    found = await cost_of(
        session,
        owner_of(status.enrollment),
        status.employee.id,
        version.frequency,
        version.standard_hours,
        period,
        at.clock.now(),
    )
    return (found, ()) if isinstance(found, Cost) else (None, (found,))


def require_same(status: AutopilotStatus, enrollment_id: UUID) -> None:
    """Raise `invalid_state` if a service changed another enrollment than the page's: nothing is saved then."""
    if status.enrollment.id != enrollment_id:
        raise Refusal("invalid_state", "This enrollment has ended.")
