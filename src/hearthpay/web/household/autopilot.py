"""Recurring payroll of the household."""

from typing import Final

from fastapi import APIRouter
from sqlalchemy import select
from starlette.responses import Response

from hearthpay.access.permissions import READ_AUTOPILOT
from hearthpay.autopilot.reading import list_autopilot
from hearthpay.employees.models import Employee
from hearthpay.web.household.place import AtHousehold, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/autopilot", permission=READ_AUTOPILOT)
async def autopilot(at: AtHousehold) -> Response:
    """Who is paid by Autopilot, and when next."""
    async with at.transaction() as session:
        enrolled = await list_autopilot(session, at.actor, at.clock, at.id)
        people = await session.scalars(select(Employee).where(Employee.employer_id == at.id))
        names = {each.id: f"{each.first_name} {each.last_name}" for each in people}
    return at.show("autopilot.html", {"enrolled": enrolled, "names": names})
