"""Withholding from pay: Form W-4, the state's certificate according to the rulebook, and local taxes."""

from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.service import lock_employee, update_employee
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.employees.employee_view import CHANGED_SINCE, SHOWN, is_stale
from hearthpay.web.household.employees.withholding_form import Withheld
from hearthpay.web.household.employees.words import FILING_STATUSES, HOUSEHOLD_RULES, OLD_STATUSES
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees/{employee_id}/withholding", permission=CHANGE_EMPLOYEES)
async def withholding_page(at: HouseholdContext) -> Response:
    """Show the certificates as they are."""
    return await _form(at, {}, {})


@household_page(router, "POST", "/employees/{employee_id}/withholding", permission=CHANGE_EMPLOYEES)
async def change_withholding(at: HouseholdContext) -> Response:
    """Save the changes of the certificates and of the employee's residence, but not over other changes made in the
    meantime.
    """
    entries = Entries(at.form)
    try:
        async with at.transaction() as session:
            await lock_employee(session, at.actor, employee_in_path(at))
            withheld = await _withheld(at, session)
            stale = is_stale(at.form, withheld.digest)
            command = None if stale else withheld.changes(entries)
            if command is not None:
                await update_employee(session, at.actor, at.clock, withheld.employee.id, command)
    except Refusal as error:
        return await _form(at, problems_in(error, at.form), at.form)
    if stale:
        return await _form(at, {ROOT: CHANGED_SINCE}, {}, status=409)
    if command is None:
        return await _form(at, entries.problems, at.form)
    return at.go(f"/employees/{employee_in_path(at)}")


async def _withheld(at: HouseholdContext, session: AsyncSession) -> Withheld:
    record = await find_here(at, session)
    return Withheld.of(record, await described(at, session, record), at.clock.today())


async def _form(
    at: HouseholdContext, problems: dict[str, str], form_values: Mapping[str, str], *, status: int = 400
) -> Response:
    async with at.transaction() as session:
        found = await _withheld(at, session)
    facts = {
        "employee": found.employee,
        "law": found.law,
        "w4": found.w4,
        "old_form": found.employee.federal_withholding.pre_2020,
        "questions": found.questions(at),
        "place": found.place,
        "places": found.place_options(),
        # The form was filled in based on what was shown then.
        "shown": form_values.get(SHOWN, found.digest),
        "states": tuple(STATES.items()),
        "filing_statuses": FILING_STATUSES,
        "old_statuses": OLD_STATUSES,
        "household_rules": HOUSEHOLD_RULES,
        "problems": problems,
        "form_values": form_values,
    }
    return at.show("employees/withholding.html", facts, status=status if problems else 200)
