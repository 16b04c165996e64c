"""Question 3 of setup: how much is paid. The minimum wage and overtime of the work state are shown with it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.models import Employee
from hearthpay.employees.schemas import EmployeeChanges
from hearthpay.employees.service import lock_employee
from hearthpay.employees.setup_questions import PAY, answer_question
from hearthpay.employees.work_places import work_places
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.labor_law.minimum_wages import (
    FEDERAL_LAW,
    awaited_minimum_wage,
    governing_minimum_wage,
    places_with_more,
)
from hearthpay.taxes.labor_law.overtime import overtime_rules
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import employee_in_path, find_here
from hearthpay.web.household.employees.employee_view import CHANGED_SINCE, SHOWN, digest_of, is_stale
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in
from hearthpay.web.household.setup.questions import LEAVE, missing, question_facts

router: Final = APIRouter(include_in_schema=False)

HOURLY: Final = "hourly"
_PER: Final = {"period": "period", "year": "year"}
_FIELDS: Final = {
    "pay_rate": "pay",
    "salary": "pay",
    "salary_amount": "pay",
    "pay_type": "paid_by",
    "overtime_rate": "pay",
}
"""The fields of the form by those of a request."""

_ANCHORS: Final = {"paid_by": "paid_by-hourly"}
_CHOOSE: Final = mark("Choose how you pay: by the hour, each payday or a year.")
_LARGEST_SALARY: Final = Decimal("9999999.99")
_LARGEST_RATE: Final = Decimal("9999.99")
_RANGE: Final = mark("Enter an amount above $0, up to $9,999,999.99.")
_RATE_RANGE: Final = mark("Enter hourly pay above $0, up to $9,999.99.")


@dataclass(frozen=True, slots=True)
class PayLaw:
    """What the law says of an hour's pay: cents, and the hours after which it is overtime, None if no rule says so."""

    where: str
    """The state, or the place in it, whose minimum wage it is."""

    minimum: int
    weekly_hours: int | None
    daily_hours: int | None
    outdated: bool
    """Whether the minimum wage has changed since, and the new one isn't known here."""

    higher_places: int
    """How many places of the state ask for more, if no address tells whether the work is done in one."""


@household_page(router, "GET", "/setup/{employee_id}/pay", permission=CHANGE_EMPLOYEES)
async def pay_form(at: HouseholdContext) -> Response:
    """Ask how much is paid."""
    return await _page(at, {}, None)


@household_page(router, "POST", "/setup/{employee_id}/pay", permission=CHANGE_EMPLOYEES)
async def save_pay(at: HouseholdContext) -> Response:
    """Save the pay, and ask how often it is paid; not over other changes made in the meantime."""
    entries = Entries(at.form)
    changes = entries.checked(EmployeeChanges, _values(entries))
    try:
        async with at.transaction() as session:
            record = await lock_employee(session, at.actor, employee_in_path(at))
            stale = is_stale(at.form, digest_of(_held(await find_here(at, session))))
            if changes is not None and not stale:
                command = changes.to_command()
                await answer_question(session, at.actor, at.clock, record.id, PAY, command)
    except Refusal as error:
        return await _page(at, _named(problems_in(error, _as_sent(at.form))), at.form)
    if stale:
        return await _page(at, {ROOT: CHANGED_SINCE}, None, status=409)
    if changes is None:
        return await _page(at, _named(entries.problems), at.form)
    return at.go("/setup" if at.form.get(LEAVE) else f"/setup/{employee_in_path(at)}/frequency")


def pay_law(employee: Employee, on: datetime.date, household_address: Mapping[str, str] | None) -> PayLaw:
    """Return the minimum wage and the overtime rules for one employee's work on a day."""
    state, places = employee.work_state, work_places(employee, household_address)
    wage = governing_minimum_wage(state, places, on, lives_in=employee.lives_in, employees=1)
    awaited = awaited_minimum_wage(state, places, on, lives_in=employee.lives_in, employees=1)
    state_name = STATES[state]
    own = wage.law not in (FEDERAL_LAW, state_name)
    rules = overtime_rules(employee.work_state, on, lives_in=employee.lives_in)
    weekly = [rule.weekly_hours for rule in rules]
    daily = [
        rule.daily_hours
        for rule in rules
        if rule.daily_hours is not None and rule.daily_below_percent_of_minimum is None
    ]
    return PayLaw(
        where=f"{wage.law} ({state_name})" if own else state_name,
        minimum=wage.cents,
        weekly_hours=min(weekly, default=None),
        daily_hours=min(daily, default=None),
        outdated=awaited is not None,
        higher_places=0 if places else places_with_more(state, wage.cents, on),
    )


def _values(entries: Entries) -> dict[str, object]:
    """Return the answer as in a request; what is missing or too much becomes a problem of its field."""
    paid_by = entries.text("paid_by") or ""
    pay, hours = entries.amount("pay"), entries.amount("usual_weekly_hours")
    missing(entries.problems, {"pay": pay, "usual_weekly_hours": hours}, ("pay", "usual_weekly_hours"))
    if paid_by != HOURLY and paid_by not in _PER:
        entries.problems.setdefault("paid_by", _CHOOSE)
    hourly = paid_by == HOURLY
    if pay is not None and not 0 < pay <= (_LARGEST_RATE if hourly else _LARGEST_SALARY):
        entries.problems.setdefault("pay", _RATE_RANGE if hourly else _RANGE)
    if "pay" in entries.problems or "paid_by" in entries.problems:
        return {"usual_weekly_hours": hours}
    if hourly:
        return {"pay_type": HOURLY, "pay_rate": pay, "usual_weekly_hours": hours}
    salary = {"amount": pay, "per": _PER[paid_by]}
    return {"pay_type": "salary", "salary": salary, "usual_weekly_hours": hours}


def _named(problems: Mapping[str, str]) -> dict[str, str]:
    return {_FIELDS.get(name, name): problem for name, problem in problems.items()}


def _as_sent(form: Mapping[str, str]) -> dict[str, str]:
    """Return the form with the fields' names of a request, so that each problem finds its field."""
    return dict(form) | dict.fromkeys(_FIELDS, "")


def _held(employee: Employee) -> dict[str, str]:
    """Return the form's values before anything was typed."""
    hours, pay = (
        employee.usual_weekly_hours,
        employee.pay_rate if employee.salary is None else employee.salary,
    )
    return {
        "paid_by": HOURLY if employee.pay_type == HOURLY else employee.salary_per or "period",
        "pay": "" if pay is None else f"{pay:.2f}",
        "usual_weekly_hours": "" if hours is None else f"{hours.normalize():f}",
    }


async def _page(
    at: HouseholdContext,
    problems: Mapping[str, str],
    form_values: Mapping[str, str] | None,
    *,
    status: int = 400,
) -> Response:
    async with at.transaction() as session:
        employee = await find_here(at, session)
    held = _held(employee)
    back = f"{at.root}/setup/{employee.id}/person"
    typed = held if form_values is None else form_values
    facts = question_facts(PAY, back, problems, typed, _ANCHORS) | {
        "employee": employee,
        "law": pay_law(employee, at.clock.today(), at.home_address),
        # The form was filled in based on what was shown then.
        "shown": digest_of(held) if form_values is None else form_values.get(SHOWN, ""),
    }
    return at.show("setup/pay.html", facts, status=status if problems else 200)
