"""The household's payrolls."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_PAYROLLS
from hearthpay.payroll.commands import PayrollsWanted
from hearthpay.payroll.service import list_payrolls
from hearthpay.web.household.place import AtHousehold, household_page
from hearthpay.web.household.queries import cursor_in

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/payrolls", permission=READ_PAYROLLS)
async def payrolls(at: AtHousehold) -> Response:
    """All payrolls, the newest first."""
    wanted = PayrollsWanted(employer_id=at.id, cursor=cursor_in(at.visitor))
    async with at.transaction() as session:
        found, next_cursor = await list_payrolls(session, at.actor, wanted)
    return at.show(
        "payrolls.html", {"payrolls": found, "next_cursor": next_cursor, "first": wanted.cursor is None}
    )
