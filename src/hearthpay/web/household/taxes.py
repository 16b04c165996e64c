"""What the household owes to whom."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_CALENDAR
from hearthpay.duties.rules import PAID
from hearthpay.duties.service import CalendarWanted, read_calendar
from hearthpay.web.household.place import AtHousehold, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/taxes", permission=READ_CALENDAR)
async def taxes(at: AtHousehold) -> Response:
    """What is to be paid within a year, and to whom."""
    async with at.transaction() as session:
        calendar = await read_calendar(session, at.actor, at.clock, CalendarWanted(at.id, None, None))
    return at.show("taxes.html", {"items": [each for each in calendar.items if each.kind in PAID]})
