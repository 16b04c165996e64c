"""The list of the household's employees."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_EMPLOYEES
from hearthpay.employees.schemas import EmployeeQuery
from hearthpay.employees.service import list_employees
from hearthpay.web.household.place import AtHousehold, household_page
from hearthpay.web.household.queries import cursor_in

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees", permission=READ_EMPLOYEES)
async def employees(at: AtHousehold) -> Response:
    """Everybody, who has left as well, the newest first."""
    wanted = EmployeeQuery(employer_id=at.id, limit=50).model_copy(update={"cursor": cursor_in(at.visitor)})
    async with at.transaction() as session:
        found, next_cursor = await list_employees(session, at.actor, at.id, wanted)
    return at.show("employees.html", {"employees": found, "next_cursor": next_cursor})
