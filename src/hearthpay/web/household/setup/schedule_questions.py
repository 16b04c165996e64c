"""Questions 4 and 5 of setup: how often is paid, and how; with what a usual paycheck costs."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES, RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.salaries import Salary
from hearthpay.employees.schemas import EmployeeChanges
from hearthpay.employees.setup_questions import FREQUENCY, METHOD, answer_question
from hearthpay.jurisdictions.requirements import jurisdiction_on
from hearthpay.unchanged import UNCHANGED
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import find_here
from hearthpay.web.household.employees.low_pay import low_pay
from hearthpay.web.household.employees.words import FREQUENCIES
from hearthpay.web.household.form_parsing import Entries, problems_in
from hearthpay.web.household.payrolls.wage_form import proposed_dates
from hearthpay.web.household.setup.estimate import usual_paycheck
from hearthpay.web.household.setup.questions import LEAVE, missing, question_facts
from hearthpay.web.message_text import message_text

router: Final = APIRouter(include_in_schema=False)

_PARTS: Final[Mapping[int, tuple[str, str]]] = {
    FREQUENCY: ("pay_frequency", "frequency"),
    METHOD: ("payment_method", "method"),
}
"""The field of each question, and the last part of its address."""

_FIRST_OPTIONS: Final = {"pay_frequency": "pay_frequency-weekly", "payment_method": "payment_method-check"}


@household_page(router, "GET", "/setup/{employee_id}/frequency", permission=CHANGE_EMPLOYEES)
async def frequency_form(at: HouseholdContext) -> Response:
    """Ask how often is paid."""
    return await _frequency(at, {}, None)


@household_page(router, "POST", "/setup/{employee_id}/frequency", permission=CHANGE_EMPLOYEES)
async def save_frequency(at: HouseholdContext) -> Response:
    """Save how often is paid, and ask how."""
    saved = await _saved(at, FREQUENCY)
    if isinstance(saved, dict):
        return await _frequency(at, saved, at.form)
    return at.go("/setup" if at.form.get(LEAVE) else f"/setup/{saved.id}/method")


@household_page(router, "GET", "/setup/{employee_id}/method", permission=CHANGE_EMPLOYEES)
async def method_form(at: HouseholdContext) -> Response:
    """Ask how the pay is handed over."""
    return await _method(at, {}, None)


@household_page(router, "POST", "/setup/{employee_id}/method", permission=CHANGE_EMPLOYEES)
async def save_method(at: HouseholdContext) -> Response:
    """Save how is paid; then the first payroll, if it is paid by hand and a period has been worked."""
    saved = await _saved(at, METHOD)
    if isinstance(saved, dict):
        return await _method(at, saved, at.form)
    return at.go("/setup" if at.form.get(LEAVE) or not _runs_next(at, saved) else "/payrolls/new")


async def _saved(at: HouseholdContext, question: int) -> Employee | dict[str, str]:
    """Store the answer and return the employee; or what is wrong with it, by field."""
    entries = Entries(at.form)
    name, _ = _PARTS[question]
    values = {name: entries.text(name)}
    missing(entries.problems, values, (name,))
    changes = entries.checked(EmployeeChanges, values)
    if changes is None:
        return entries.problems
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            command = _with_salary(changes.to_command(), record)
            noted = await answer_question(session, at.actor, at.clock, record.id, question, command)
            return noted.employee
    except Refusal as error:
        return problems_in(error, at.form)


def _with_salary(command: ChangeEmployee, employee: Employee) -> ChangeEmployee:
    """Return the changes, with the salary of a pay period, which goes with how often it is paid."""
    if command.pay_frequency is UNCHANGED or employee.salary is None or employee.salary_per != "period":
        return command
    return replace(command, salary=Salary(employee.salary, "period"))


def _runs_next(at: HouseholdContext, employee: Employee) -> bool:
    """Return whether the first payroll can follow at once."""
    if employee.payment_method == "direct_deposit" or not at.may(RUN_PAYROLL):
        return False
    today = at.clock.today()
    dates = proposed_dates(None, [employee], "hours", today, at.clock.now())
    return employee.start_date <= dates.end <= today


async def _frequency(
    at: HouseholdContext, problems: Mapping[str, str], form_values: Mapping[str, str] | None
) -> Response:
    employee = await _employee(at)
    # Nothing is chosen before it is answered.
    held = {} if employee.setup_question == FREQUENCY else {"pay_frequency": employee.pay_frequency}
    back = f"{at.root}/setup/{employee.id}/pay"
    facts = question_facts(
        FREQUENCY, back, problems, held if form_values is None else form_values, _FIRST_OPTIONS
    )
    # How often is paid decides what a salary for each payday comes to.
    unknown = employee.salary_per == "period" and employee.setup_question == FREQUENCY
    facts |= {
        "employee": employee,
        "frequencies": FREQUENCIES,
        "low_pay": "" if unknown else _low_pay(at, employee),
    }
    return at.show("setup/frequency.html", facts, status=400 if problems else 200)


async def _method(
    at: HouseholdContext, problems: Mapping[str, str], form_values: Mapping[str, str] | None
) -> Response:
    employee = await _employee(at)
    asked = employee.setup_question in (FREQUENCY, METHOD)
    held = {} if asked else {"payment_method": employee.payment_method}
    back = f"{at.root}/setup/{employee.id}/frequency"
    facts = question_facts(
        METHOD, back, problems, held if form_values is None else form_values, _FIRST_OPTIONS
    )
    today = at.clock.today()
    facts |= {
        "employee": employee,
        "flow": "broad",
        "paycheck": usual_paycheck(employee, today),
        "low_pay": _low_pay(at, employee),
        "certificate": state_form(employee.work_state, today),
    }
    return at.show("setup/method.html", facts, status=400 if problems else 200)


def _low_pay(at: HouseholdContext, employee: Employee) -> str:
    """Return the warning that the pay is below the minimum wage, in the reader's words; empty if it isn't."""
    found = low_pay(employee, at.clock.today(), at.home_address)
    return "" if found is None else message_text(at.say, at.visitor.language, found)


def state_form(state: str, on: datetime.date) -> str | None:
    """Return the name of a state's own withholding certificate; None if it has none, or none for households."""
    certificate = jurisdiction_on(state, on).certificate
    if certificate is None or certificate.household == "prohibited":
        return None
    name = certificate.form.partition(",")[0]
    return None if name.startswith(("federal", "none")) else name


async def _employee(at: HouseholdContext) -> Employee:
    async with at.transaction() as session:
        return await find_here(at, session)
