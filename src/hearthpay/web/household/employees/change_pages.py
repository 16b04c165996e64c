"""Changing what was told of an employee: the person and the job, the rate, and how the pay is handed over."""

from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.schemas import EmployeeChanges
from hearthpay.employees.service import rate_changes, update_employee
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.employees.person_form import CHOICES, entered_of, read_changes
from hearthpay.web.household.entry import Entries, problems_in
from hearthpay.web.household.place import AtHousehold, household_page
from hearthpay.web.household.setup import Setup

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees/{employee_id}/change", permission=CHANGE_EMPLOYEES)
async def ask_for_changes(at: AtHousehold) -> Response:
    """The form about the person and the job, as it stands."""
    return await _person(at, {}, None)


@household_page(router, "POST", "/employees/{employee_id}/change", permission=CHANGE_EMPLOYEES)
async def change_employee(at: AtHousehold) -> Response:
    """Save the person and the job."""
    entries = Entries(at.form)
    changes = read_changes(entries)
    problems = entries.problems if changes is None else await _saved(at, changes)
    if problems:
        return await _person(at, problems, at.form)
    return at.go(f"/employees/{employee_in_path(at)}")


@household_page(router, "GET", "/employees/{employee_id}/rate", permission=CHANGE_EMPLOYEES)
async def ask_for_rate(at: AtHousehold) -> Response:
    """The rate as it is, and the rates that there were."""
    return await _rate(at, {}, None)


@household_page(router, "POST", "/employees/{employee_id}/rate", permission=CHANGE_EMPLOYEES)
async def change_rate(at: AtHousehold) -> Response:
    """Pay another rate from the next payroll on."""
    entries = Entries(at.form)
    values = {"pay_rate": entries.amount("pay_rate"), "overtime_rate": entries.amount("overtime_rate")}
    if values["pay_rate"] is None:
        entries.problems.setdefault("pay_rate", "is required")
    changes = entries.checked(EmployeeChanges, values)
    problems = entries.problems if changes is None else await _saved(at, changes.to_command())
    if problems:
        return await _rate(at, problems, at.form)
    return at.go(f"/employees/{employee_in_path(at)}")


@household_page(router, "GET", "/employees/{employee_id}/method", permission=CHANGE_EMPLOYEES)
async def ask_for_method(at: AtHousehold) -> Response:
    """How the pay is handed over."""
    return await _method(at, {}, None)


@household_page(router, "POST", "/employees/{employee_id}/method", permission=CHANGE_EMPLOYEES)
async def change_method(at: AtHousehold) -> Response:
    """Hand the pay over another way from the next payroll on."""
    entries = Entries(at.form)
    changes = entries.checked(EmployeeChanges, {"payment_method": entries.text("payment_method") or "?"})
    problems = entries.problems if changes is None else await _saved(at, changes.to_command())
    if problems:
        return await _method(at, problems, at.form)
    if Setup.of(at).under_way:
        return at.go("/setup")
    return at.go(f"/employees/{employee_in_path(at)}")


async def _saved(at: AtHousehold, changes: ChangeEmployee) -> dict[str, str]:
    """Save the changes; return what is wrong with them, by field."""
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            await update_employee(session, at.actor, at.clock, record.id, changes)
    except Refusal as error:
        return problems_in(error, at.form)
    return {}


async def _person(at: AtHousehold, problems: dict[str, str], entered: Mapping[str, str] | None) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    facts = {
        "employee": found,
        "choices": CHOICES,
        "problems": problems,
        "entered": entered_of(found) if entered is None else entered,
    }
    return at.show("employees/change.html", facts, status=400 if problems else 200)


async def _rate(at: AtHousehold, problems: dict[str, str], entered: Mapping[str, str] | None) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
        history = await rate_changes(session, at.actor, found.id)
    facts = {"employee": found, "history": history, "problems": problems, "entered": entered or {}}
    return at.show("employees/rate.html", facts, status=400 if problems else 200)


async def _method(at: AtHousehold, problems: dict[str, str], entered: Mapping[str, str] | None) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    facts = {
        "employee": found,
        "problems": problems,
        "entered": entered or {},
        "setup": Setup.of(at, "method"),
    }
    return at.show("employees/method.html", facts, status=400 if problems else 200)
