"""Changing an employee's details: profile and job, pay rate, and payment method."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.payable import default_overtime_rate
from hearthpay.employees.salaries import PaidBy, regular_rate
from hearthpay.employees.schemas import EmployeeChanges, EmployeeDetail
from hearthpay.employees.service import lock_employee, rate_changes, update_employee
from hearthpay.unchanged import UNCHANGED
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.employees.employee_view import CHANGED_SINCE, SHOWN, digest_of, is_stale
from hearthpay.web.household.employees.person_form import CHOICES, form_values_of, pay_in, read_changes
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees/{employee_id}/change", permission=CHANGE_EMPLOYEES)
async def change_form(at: HouseholdContext) -> Response:
    """Show the form for profile and job with the current values."""
    return await _person(at, {}, None)


@household_page(router, "POST", "/employees/{employee_id}/change", permission=CHANGE_EMPLOYEES, fresh=True)
async def change_employee(at: HouseholdContext) -> Response:
    """Save the person and the job."""
    entries = Entries(at.form)
    changes = read_changes(entries)
    try:
        async with at.transaction() as session:
            record = await lock_employee(session, at.actor, employee_in_path(at))
            found = await described(at, session, await find_here(at, session))
            stale = is_stale(at.form, digest_of(form_values_of(found)))
            if changes is not None and not stale:
                await update_employee(session, at.actor, at.clock, record.id, changes)
    except Refusal as error:
        return await _person(at, problems_in(error, at.form), at.form)
    if stale:
        return await _person(at, {ROOT: CHANGED_SINCE}, None, status=409)
    if changes is None:
        return await _person(at, entries.problems, at.form)
    return at.go(f"/employees/{employee_in_path(at)}")


@household_page(router, "GET", "/employees/{employee_id}/rate", permission=CHANGE_EMPLOYEES)
async def rate_form(at: HouseholdContext) -> Response:
    """Show the current rate and earlier rates."""
    return await _rate(at, {}, None)


@household_page(router, "POST", "/employees/{employee_id}/rate", permission=CHANGE_EMPLOYEES)
async def change_rate(at: HouseholdContext) -> Response:
    """Pay another rate from the next payroll on."""
    entries = Entries(at.form)
    values = pay_in(entries)
    requested = "salary" if values["pay_type"] == "salary" else "pay_rate"
    if values[requested] is None:
        entries.problems.setdefault(requested, "Fill in this field.")
    changes = entries.checked(EmployeeChanges, values)
    if changes is None:
        return await _rate(at, entries.problems, at.form)
    try:
        async with at.transaction() as session:
            record = await lock_employee(session, at.actor, employee_in_path(at))
            stale = is_stale(at.form, _pay_digest(await described(at, session, await find_here(at, session))))
            if not stale:
                await update_employee(session, at.actor, at.clock, record.id, _pay_of(changes.to_command()))
    except Refusal as error:
        return await _rate(at, problems_in(error, at.form), at.form)
    if stale:
        return await _rate(at, {ROOT: CHANGED_SINCE}, None, status=409)
    return at.go(f"/employees/{employee_in_path(at)}")


@household_page(router, "GET", "/employees/{employee_id}/method", permission=CHANGE_EMPLOYEES)
async def method_form(at: HouseholdContext) -> Response:
    """How the pay is handed over."""
    return await _method(at, {}, None)


@household_page(router, "POST", "/employees/{employee_id}/method", permission=CHANGE_EMPLOYEES)
async def change_method(at: HouseholdContext) -> Response:
    """Change the payment method from the next payroll on."""
    entries = Entries(at.form)
    changes = entries.checked(EmployeeChanges, {"payment_method": entries.text("payment_method") or "?"})
    problems = entries.problems if changes is None else await _saved(at, changes.to_command())
    if problems:
        return await _method(at, problems, at.form)
    return at.go(f"/employees/{employee_in_path(at)}")


async def _saved(at: HouseholdContext, changes: ChangeEmployee) -> dict[str, str]:
    """Save the changes; return what is wrong with them, by field."""
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            await update_employee(session, at.actor, at.clock, record.id, changes)
    except Refusal as error:
        return problems_in(error, at.form)
    return {}


def _pay_of(changes: ChangeEmployee) -> ChangeEmployee:
    """Return the changes of the pay: empty fields are cleared, and overtime follows the hourly pay."""
    return replace(
        changes,
        overtime_rate=None if changes.overtime_rate is UNCHANGED else changes.overtime_rate,
        usual_weekly_hours=None if changes.usual_weekly_hours is UNCHANGED else changes.usual_weekly_hours,
    )


def _own_overtime_rate(employee: EmployeeDetail) -> Decimal | None:
    """Return the overtime rate if it doesn't follow the hourly pay."""
    salary = employee.salary
    rate = regular_rate(
        PaidBy(
            employee.pay_type,
            employee.pay_rate,
            None if salary is None else salary.amount,
            None if salary is None else salary.per,
            employee.pay_frequency,
            employee.usual_weekly_hours,
        )
    )
    if rate is not None and employee.overtime_rate == default_overtime_rate(rate):
        return None
    return employee.overtime_rate


async def _person(
    at: HouseholdContext,
    problems: dict[str, str],
    form_values: Mapping[str, str] | None,
    *,
    status: int = 400,
) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    held = form_values_of(found)
    facts = {
        "employee": found,
        "choices": CHOICES,
        "problems": problems,
        "form_values": held if form_values is None else form_values,
        # The form was filled in based on what was shown then.
        "shown": digest_of(held) if form_values is None else form_values.get(SHOWN, ""),
    }
    return at.show("employees/change.html", facts, status=status if problems else 200)


def _pay_digest(employee: EmployeeDetail) -> str:
    """Return the digest of the pay as the form shows it."""
    salary = employee.salary
    return digest_of(
        employee.pay_type,
        employee.pay_rate,
        None if salary is None else (salary.amount, salary.per),
        employee.overtime_rate,
        employee.usual_weekly_hours,
        employee.pay_frequency,
    )


async def _rate(
    at: HouseholdContext,
    problems: dict[str, str],
    form_values: Mapping[str, str] | None,
    *,
    status: int = 400,
) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
        history = await rate_changes(session, at.actor, found.id)
    facts = {
        "employee": found,
        "own_overtime_rate": _own_overtime_rate(found),
        "choices": CHOICES,
        "history": history,
        "problems": problems,
        "form_values": form_values or {},
        "shown": _pay_digest(found) if form_values is None else form_values.get(SHOWN, ""),
    }
    return at.show("employees/rate.html", facts, status=status if problems else 200)


async def _method(
    at: HouseholdContext, problems: dict[str, str], form_values: Mapping[str, str] | None
) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    facts = {
        "employee": found,
        "problems": problems,
        "form_values": form_values or {},
    }
    return at.show("employees/method.html", facts, status=400 if problems else 200)
