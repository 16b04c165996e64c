"""Ending an employment, and resuming it."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.service import reinstate_employee, terminate_employee
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.form_parsing import Entries, problems_in

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees/{employee_id}/leave", permission=CHANGE_EMPLOYEES)
async def terminate_form(at: HouseholdContext) -> Response:
    """Which day was the last."""
    return await _form(at, "employees/leave.html", {})


@household_page(router, "POST", "/employees/{employee_id}/leave", permission=CHANGE_EMPLOYEES)
async def terminate(at: HouseholdContext) -> Response:
    """End the employment."""
    entries = Entries(at.form)
    last_day = entries.day("end_date")
    if last_day is None:
        entries.problems.setdefault("end_date", "Fill in this field.")
    if entries.problems:
        return await _form(at, "employees/leave.html", entries.problems)
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            await terminate_employee(session, at.actor, at.clock, record.id, last_day)
    except Refusal as error:
        return await _form(at, "employees/leave.html", problems_in(error, at.form))
    return at.go(f"/employees/{employee_in_path(at)}")


@household_page(router, "GET", "/employees/{employee_id}/return", permission=CHANGE_EMPLOYEES)
async def reinstate_form(at: HouseholdContext) -> Response:
    """Ask whether the employment begins again, or continues as if it had never ended."""
    return await _form(at, "employees/return.html", {})


@household_page(router, "POST", "/employees/{employee_id}/return", permission=CHANGE_EMPLOYEES)
async def reinstate(at: HouseholdContext) -> Response:
    """Employ the person again."""
    entries = Entries(at.form)
    first_day = None
    if entries.text("how") != "go_on":
        first_day = entries.day("start_date")
        if first_day is None:
            entries.problems.setdefault("start_date", "Fill in this field.")
    if entries.problems:
        return await _form(at, "employees/return.html", entries.problems)
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            await reinstate_employee(session, at.actor, at.clock, record.id, first_day)
    except Refusal as error:
        return await _form(at, "employees/return.html", problems_in(error, at.form))
    return at.go(f"/employees/{employee_in_path(at)}")


async def _form(at: HouseholdContext, template: str, problems: dict[str, str]) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    facts = {
        "employee": found,
        "today": at.clock.today(),
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show(template, facts, status=400 if problems else 200)
