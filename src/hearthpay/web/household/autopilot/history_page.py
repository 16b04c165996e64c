"""The history of enrollments in words, newest first."""

from typing import Final

from fastapi import APIRouter
from sqlalchemy import select
from starlette.responses import Response

from hearthpay.access.permissions import READ_AUTOPILOT
from hearthpay.autopilot.commands import HistoryQuery
from hearthpay.autopilot.reading import read_history
from hearthpay.employees.models import Employee
from hearthpay.web.household.autopilot.timeline import lines_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.queries import cursor_in

router: Final = APIRouter(include_in_schema=False)

_SHOWN: Final = 30


@household_page(router, "GET", "/autopilot/history", permission=READ_AUTOPILOT)
async def history(at: HouseholdContext) -> Response:
    """A page of the household's ledger of Autopilot."""
    requested = HistoryQuery(employer_id=at.id, cursor=cursor_in(at.visitor), limit=_SHOWN)
    async with at.transaction() as session:
        events, next_cursor = await read_history(session, at.actor, requested)
        people = await session.scalars(
            select(Employee).where(Employee.id.in_({each.employee_id for each in events}))
        )
        names = {each.id: each.name for each in people}
    facts = {
        "lines": lines_of(events, at.visitor.language),
        "names": names,
        "next_cursor": next_cursor,
        "first": requested.cursor is None,
    }
    return at.show("autopilot/history.html", facts)
