"""The household's own home page: what comes next, what is due, and what was paid."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_HOUSEHOLD
from hearthpay.web.household.place import AtHousehold, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "", permission=READ_HOUSEHOLD)
async def overview(at: AtHousehold) -> Response:
    """Where a visit to a household begins."""
    return at.show("overview.html")
