"""The household's bank account."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_PAYROLLS
from hearthpay.banking.accounts import current_household_account
from hearthpay.web.household.place import AtHousehold, household_page

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/bank", permission=READ_PAYROLLS)
async def bank(at: AtHousehold) -> Response:
    """The account that wages are collected from, as far as it is shown."""
    async with at.transaction() as session:
        account = await current_household_account(session, at.id)
    return at.show("bank.html", {"account": account})
