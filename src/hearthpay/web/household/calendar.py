"""What the household must do, by when."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_CALENDAR
from hearthpay.duties.service import CalendarWanted, read_calendar
from hearthpay.web.household.place import AtHousehold, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/calendar", permission=READ_CALENDAR)
async def calendar(at: AtHousehold) -> Response:
    """Everything that is due within a year."""
    async with at.transaction() as session:
        found = await read_calendar(session, at.actor, at.clock, CalendarWanted(at.id, None, None))
    return at.show("calendar.html", {"items": found.items})
