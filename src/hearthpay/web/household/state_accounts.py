"""With which agencies the household must be registered, and whether it is."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_REGISTRATIONS
from hearthpay.registrations.service import list_registrations
from hearthpay.web.household.place import AtHousehold, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/state-accounts", permission=READ_REGISTRATIONS)
async def state_accounts(at: AtHousehold) -> Response:
    """One row for each account that a state asks for."""
    async with at.transaction() as session:
        _, rows = await list_registrations(session, at.actor, at.clock, at.id)
    return at.show("state_accounts.html", {"rows": rows})
