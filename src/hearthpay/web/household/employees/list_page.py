"""The list of the household's employees."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES
from hearthpay.employees.onboarding import onboarding_of
from hearthpay.employees.schemas import EmployeeQuery, item_of
from hearthpay.employees.service import list_employees
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.words import FREQUENCIES
from hearthpay.web.household.queries import cursor_in

router: Final = APIRouter(include_in_schema=False)

_SHOWN: Final = 50


@household_page(router, "GET", "/employees", permission=READ_EMPLOYEES)
async def employees(at: HouseholdContext) -> Response:
    """List all employees, including those who have left, newest first."""
    requested = EmployeeQuery(employer_id=at.id, limit=_SHOWN).model_copy(
        update={"cursor": cursor_in(at.visitor)}
    )
    async with at.transaction() as session:
        found, next_cursor = await list_employees(session, at.actor, at.id, requested)
        onboarding = await onboarding_of(session, at.clock, found)
    items = [item_of(each, onboarding[each.id]) for each in found]
    facts = {
        "employees": [each for each in items if each.status == "active"],
        "former": [each for each in items if each.status != "active"],
        "frequencies": FREQUENCIES,
        "states": STATES,
        "next_cursor": next_cursor,
        "first": requested.cursor is None,
        "may_change": at.may(CHANGE_EMPLOYEES),
    }
    return at.show("employees/list.html", facts)
