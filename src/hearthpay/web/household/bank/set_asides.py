"""Employees' set-asides: balances, their changes, and payouts."""

from decimal import Decimal
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.employees.models import Employee
from hearthpay.employees.service import find_employee
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.set_asides.escrow import (
    PAYMENT_METHODS,
    accounts_of_household,
    list_movements,
    payout,
    read_account,
)
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import field_errors, id_in
from hearthpay.web.household.idempotent_forms import new_form_id, submit_once
from hearthpay.web.presentation import dollars_text
from hearthpay.wire.typed_numbers import typed_decimal

router: Final = APIRouter(include_in_schema=False)

_AMOUNT: Final = mark("Enter an amount with at most 2 decimals, like 25.50.")
_METHOD: Final = mark("Choose one.")
_TOO_MUCH: Final = mark("only {available} can be paid out this way")
_NO_ACCOUNT: Final = mark("this employee has no bank account that works: pay by check or cash")
_MOST_MOVEMENTS: Final = 100


@household_page(router, "GET", "/bank/set-asides", permission=READ_PAYROLLS)
async def set_asides(at: HouseholdContext) -> Response:
    """List the balances."""
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        accounts = await accounts_of_household(session, at.actor, employer)
    return at.show("bank/set_asides.html", {"accounts": accounts})


@household_page(router, "GET", "/bank/set-asides/{employee_id}", permission=READ_PAYROLLS)
async def set_aside(at: HouseholdContext) -> Response:
    """Show one employee's balance, its changes, and the payout form."""
    return await _page(at)


@household_page(router, "POST", "/bank/set-asides/{employee_id}", permission=RUN_PAYROLL, fresh=True)
async def pay_out(at: HouseholdContext) -> Response:
    """Pay money out of the balance; sending the same form again pays nothing more."""
    try:
        amount, method = _amount(at.form.get("amount", "")), at.form.get("method", "")
        if method not in PAYMENT_METHODS:
            raise invalid("method", _METHOD)
        note = at.form.get("note", "").strip() or None

        async def book(session: AsyncSession) -> str:
            employee = await _employee(at, session)
            await payout(session, at.actor, at.clock, employee, amount=amount, method=method, note=note)
            return f"/bank/set-asides/{employee.id}"

        return await submit_once(at, {"amount": str(amount), "method": method, "note": note}, book)
    except Refusal as error:
        return await _page(at, _problems(at, error))


def _problems(at: HouseholdContext, error: Refusal) -> dict[str, str]:
    """Return the problems by field; raises the error itself if it concerns no field."""
    if error.code == "direct_deposit_unavailable":
        return {"method": _NO_ACCOUNT}
    if error.code == "invalid_state" and isinstance(error.details, dict) and "available" in error.details:
        return {"amount": at.say(_TOO_MUCH, available=dollars_text(error.details["available"]))}
    return field_errors(problems_of(error))


def _amount(typed: str) -> Decimal:
    amount = typed_decimal(typed.strip().removeprefix("$"))
    if amount is None:
        raise invalid("amount", _AMOUNT)
    return amount


async def _employee(at: HouseholdContext, session: AsyncSession) -> Employee:
    employee = await find_employee(session, at.actor, id_in(at.visitor, "employee_id"))
    if employee.employer_id != at.id:
        raise Refusal("not_found", mark("Nothing found with this name."))
    return employee


async def _page(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        employee = await _employee(at, session)
        account = await read_account(session, employee.id)
        movements = await list_movements(session, employee.id, limit=_MOST_MOVEMENTS)
    facts = {
        "employee": employee,
        "account": account,
        "movements": movements,
        "form_id": new_form_id(),
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
        "may_pay": at.may(RUN_PAYROLL),
        "fresh": at.visitor.signed_in.is_fresh(at.clock.now()),
    }
    return at.show("bank/set_aside.html", facts, status=400 if problems else 200)
