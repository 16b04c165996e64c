"""The secret link by which a calendar app reads the household's duties: shown once, renewed, revoked."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_CALENDAR
from hearthpay.duties.feed import FEED_PATH, link_in_force, make_link, revoke_link
from hearthpay.employers.service import find_employer
from hearthpay.http.runtime import address_of
from hearthpay.web.household.context import HouseholdContext, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/calendar/link", permission=KEEP_CALENDAR, fresh=True)
async def link(at: HouseholdContext) -> Response:
    """Show whether there is a link, and the actions on it."""
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        since = await link_in_force(session, at.actor, employer)
    return at.show("calendar/link.html", {"since": since, "address": None})


@household_page(router, "POST", "/calendar/link", permission=KEEP_CALENDAR, fresh=True)
async def make(at: HouseholdContext) -> Response:
    """Create a link, replacing an earlier one, and show it this once."""
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        token = await make_link(session, at.actor, at.clock, employer)
    address = f"{address_of(at.visitor.request)}{FEED_PATH}/{token.text}.ics"
    return at.show("calendar/link.html", {"since": at.clock.now(), "address": address})


@household_page(router, "POST", "/calendar/link/revoke", permission=KEEP_CALENDAR, fresh=True)
async def revoke(at: HouseholdContext) -> Response:
    """Ends the link."""
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        await revoke_link(session, at.actor, at.clock, employer)
    return at.go("/calendar/link")
