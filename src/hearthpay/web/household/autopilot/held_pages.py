"""A payroll that Autopilot holds because it is unusual: why, and approving or voiding it."""

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import ENROLL_AUTOPILOT
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.confirming import confirm_payroll, release_payroll
from hearthpay.autopilot.models import DecidedPeriod, EnrollmentVersion
from hearthpay.banking.authorizations import HIGHEST_PERCENT, LARGE_NET_PAY
from hearthpay.employees.models import Employee
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.approval import LARGE_TOTAL
from hearthpay.web.framework import id_in_path
from hearthpay.web.household.autopilot.words import HELD
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_parsing import ROOT, problems_in

router: Final = APIRouter(include_in_schema=False)

_CHOOSE: Final = mark("Choose one.")
_NOTHING_CHANGED: Final = mark("Someone else changed this first. Nothing was saved.")
_APPROVED: Final = mark("It was approved, and is sent when it is due.")
_BECAME: Final = {
    "fired": mark("Its money is on its way."),
    "paid": mark("It has been paid."),
    "failed": mark("It could not be sent or paid: the payroll says why."),
    "voided": mark("It was voided: Autopilot does not pay this period."),
}
"""What became of a payroll on hold, by its period's outcome."""


@dataclass(frozen=True, slots=True)
class HeldPayroll:
    """A period on hold with the amounts it is compared with, in cents."""

    period: DecidedPeriod
    employee: Employee
    enrolled_net: int

    @property
    def waits(self) -> bool:
        """Whether it still awaits approval."""
        return self.period.outcome == "scheduled" and self.period.confirmed_at is None

    @property
    def became(self) -> str:
        """What became of it since."""
        return _BECAME.get(self.period.outcome, _APPROVED)

    @property
    def asked_above(self) -> int:
        """The net pay above which approval is needed."""
        return self.enrolled_net * HIGHEST_PERCENT // 100


@household_page(router, "GET", "/autopilot/held/{held_id}", permission=ENROLL_AUTOPILOT, fresh=True)
async def held(at: HouseholdContext) -> Response:
    """Show why it is on hold, and what approving or voiding does."""
    return await _page(at, {})


@household_page(router, "POST", "/autopilot/held/{held_id}", permission=ENROLL_AUTOPILOT, fresh=True)
async def answer_held(at: HouseholdContext) -> Response:
    """Approve or void it, as long as it awaits approval."""
    decision = at.form.get("decision")
    if decision not in ("approve", "let_go"):
        return await _page(at, {"": _CHOOSE})
    try:
        async with at.transaction() as session:
            found = await _find(at, session)
            payroll_id = id_in_path(at.visitor, "held_id")
            if decision == "approve":
                await confirm_payroll(session, at.actor, at.clock, payroll_id)
            else:
                await release_payroll(session, at.actor, at.clock, payroll_id)
    except Refusal as error:
        return await _page(at, problems_in(error, at.form))
    return at.go(f"/autopilot/{found.period.enrollment_id}")


async def _find(at: HouseholdContext, session: AsyncSession) -> HeldPayroll:
    here = select(DecidedPeriod).where(
        DecidedPeriod.payroll_id == id_in_path(at.visitor, "held_id"), DecidedPeriod.employer_id == at.id
    )
    period = await session.scalar(here)
    if period is None or not period.held:
        raise Refusal("not_found", "We couldn't find that payroll on hold.")
    enrolled = select(EnrollmentVersion.expected_net).where(
        EnrollmentVersion.enrollment_id == period.enrollment_id, EnrollmentVersion.number == period.version
    )
    net = (await session.scalars(enrolled)).one()
    return HeldPayroll(period, await session.get_one(Employee, period.employee_id), net)


async def _page(at: HouseholdContext, problems: dict[str, str]) -> Response:
    async with at.transaction() as session:
        found = await _find(at, session)
    if problems and not found.waits:
        problems = {ROOT: _NOTHING_CHANGED}
    facts = {
        "held": found,
        "why": HELD,
        "large_net_pay": LARGE_NET_PAY,
        "large_total": LARGE_TOTAL,
        "problems": problems,
    }
    return at.show("autopilot/held.html", facts, status=400 if problems else 200)
