"""Adding an employee."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.service import create_employee
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.person_form import CHOICES, read_new
from hearthpay.web.household.form_parsing import Entries, problems_in

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees/new", permission=CHANGE_EMPLOYEES)
async def add_form(at: HouseholdContext) -> Response:
    """The form about a person and the job."""
    form_values = {
        "start_date": at.clock.today().isoformat(),
        "work_state": at.household.state,
        "address_state": at.household.state,
        "pay_frequency": "biweekly",
    }
    return _form(at, {}, form_values)


@household_page(router, "POST", "/employees/new", permission=CHANGE_EMPLOYEES)
async def add_employee(at: HouseholdContext) -> Response:
    """Add the employee, and show the record."""
    entries = Entries(at.form)
    new = read_new(at, entries)
    if new is None:
        return _form(at, entries.problems, at.form)
    try:
        async with at.transaction() as session:
            noted = await create_employee(session, at.actor, at.clock, new)
    except Refusal as error:
        return _form(at, problems_in(error, at.form), at.form)
    return at.go(f"/employees/{noted.employee.id}")


def _form(at: HouseholdContext, problems: dict[str, str], form_values: object) -> Response:
    facts = {"problems": problems, "form_values": form_values, "choices": CHOICES}
    return at.show("employees/new.html", facts, status=400 if problems else 200)
