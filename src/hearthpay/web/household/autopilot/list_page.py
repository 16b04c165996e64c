"""The Autopilot home page: payrolls that await approval, who is enrolled, and who could be."""

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import ENROLL_AUTOPILOT, READ_AUTOPILOT
from hearthpay.autopilot.eligibility import Reason, read_facts, reasons_against
from hearthpay.autopilot.models import DecidedPeriod
from hearthpay.autopilot.reading import list_autopilot
from hearthpay.banking.calendar import earliest_pay_date
from hearthpay.employees.models import Employee
from hearthpay.web.household.autopilot.words import REASONS
from hearthpay.web.household.context import HouseholdContext, household_page

router: Final = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An employee who isn't enrolled, and the reasons why not."""

    employee: Employee
    reasons: tuple[Reason, ...]


@household_page(router, "GET", "/autopilot", permission=READ_AUTOPILOT)
async def autopilot(at: HouseholdContext) -> Response:
    """Show who is paid by Autopilot, when next, and what awaits approval."""
    async with at.transaction() as session:
        views = await list_autopilot(session, at.actor, at.clock, at.id)
        people = await session.scalars(
            select(Employee).where(Employee.employer_id == at.id).order_by(Employee.id)
        )
        employees = {each.id: each for each in people}
        held = await _held(at, session)
        live = [view for view in views if view.enrollment.status != "disabled"]
        enrolled = {view.enrollment.employee_id for view in live}
        others = [each for each in employees.values() if each.status == "active" and each.id not in enrolled]
        candidates = await _candidates(at, session, others)
    facts = {
        "live": live,
        "ended": [view for view in views if view.enrollment.status == "disabled"],
        "employees": employees,
        "held": held,
        "candidates": candidates,
        "reasons_in_words": REASONS,
        "may_enroll": at.may(ENROLL_AUTOPILOT),
    }
    return at.show("autopilot/list.html", facts)


async def _held(at: HouseholdContext, session: AsyncSession) -> list[DecidedPeriod]:
    waiting = select(DecidedPeriod).where(
        DecidedPeriod.employer_id == at.id,
        DecidedPeriod.outcome == "scheduled",
        DecidedPeriod.confirmed_at.is_(None),
    )
    return [each for each in await session.scalars(waiting.order_by(DecidedPeriod.send_at)) if each.held]


async def _candidates(at: HouseholdContext, session: AsyncSession, others: list[Employee]) -> list[Candidate]:
    day = earliest_pay_date(at.clock.now())
    facts = await read_facts(
        session, [each.id for each in others], direct_deposit_enabled=at.runtime.direct_deposit
    )
    return [
        Candidate(each, reasons_against(facts[each.id], authorized=True, period_end=day, pay_date=day))
        for each in others
    ]
