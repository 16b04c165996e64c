"""Earlier pay this year from another payroll: entered once, so that caps and sums continue from it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.employees.models import Employee
from hearthpay.jurisdictions.requirements import jurisdiction_on
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.years.prior_schemas import NewPriorWages
from hearthpay.payroll.years.prior_wages import enter_prior_wages, list_prior_wages
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.money import from_cents, to_cents
from hearthpay.taxes.prior_wages import PriorLine, lines_by_law
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import described, find_here
from hearthpay.web.household.form_parsing import Entries, problems_in
from hearthpay.web.message_text import message_text

router: Final = APIRouter(include_in_schema=False)

_FEDERAL: Final = (
    ("US-SS-EE", mark("Social Security, from the pay")),
    ("US-SS-ER", mark("Social Security, your share")),
    ("US-MED-EE", mark("Medicare, from the pay")),
    ("US-MED-ER", mark("Medicare, your share")),
    ("US-FUTA", mark("Federal unemployment (FUTA)")),
    ("US-FIT", mark("Federal income tax")),
)
_BY_HOUSEHOLD: Final = "Paid by the household"
"""The source of wages that the household paid without a service; pages say it in the reader's language."""

_PAYERS: Final = (
    ("household", mark("Yes, I paid it myself"), ""),
    ("service", mark("Yes, through another payroll service"), ""),
)
_NO_TAX: Final = mark("Enter the tax that was withheld.")
_NO_LAW: Final = mark("Enter the taxes one by one: we don't have the law of this year.")


@household_page(router, "GET", "/employees/{employee_id}/prior-wages", permission=READ_EMPLOYEES)
async def prior_wages(at: HouseholdContext) -> Response:
    """Show what was entered, and the form for more."""
    return await _page(at, {}, ())


@household_page(router, "POST", "/employees/{employee_id}/prior-wages", permission=CHANGE_EMPLOYEES)
async def enter(at: HouseholdContext) -> Response:
    """Record the amounts; differences from the law are reported."""
    entries = Entries(at.form)
    async with at.transaction() as session:
        record = await find_here(at, session)
    last_day, gross_pay = entries.day("as_of"), entries.amount("gross_pay")
    lawful = _lawful(entries, record, gross_pay, last_day)
    lines, filled_in = [], []
    for code, name in _lines(at, record.work_state):
        line = _line(entries, code, gross_pay, lawful.get(code))
        if line is not None:
            lines.append(line)
            if code in lawful and entries.text(f"line_{code}_amount") is None:
                filled_in.append(line_name(code, name, at.visitor.language))
    values = {
        "tax_year": None if last_day is None else last_day.year,
        "source": entries.text("source") or (_BY_HOUSEHOLD if at.form.get("payer") == "household" else None),
        "as_of": last_day,
        "gross_pay": gross_pay,
        "lines": lines,
    }
    new = entries.checked(NewPriorWages, values)
    if new is None:
        entries.problems.pop("lines", None)
        return await _page(at, entries.problems, ())
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            made = await enter_prior_wages(session, at.actor, at.clock, record.id, new.to_command())
    except Refusal as error:
        return await _page(at, problems_in(error, at.form), ())
    differences = [message_text(at.say, at.visitor.language, each) for each in made.differences]
    return await _page(at, {}, tuple(differences), saved=True, filled_in=tuple(filled_in))


def _lawful(
    entries: Entries, record: Employee, gross_pay: Decimal | None, last_day: datetime.date | None
) -> Mapping[str, PriorLine]:
    """Return what the law asks on the gross pay, by line: it stands for what was left blank."""
    if gross_pay is None or last_day is None:
        return {}
    try:
        return lines_by_law(
            to_cents(gross_pay, "gross_pay"), last_day, record.work_state, record.relationship
        )
    except TaxInputError as error:
        if error.field != "gross_pay":
            entries.problems.setdefault("as_of", _NO_LAW)
        return {}


def _line(
    entries: Entries, code: str, gross_pay: Decimal | None, lawful: PriorLine | None
) -> dict[str, object] | None:
    """Return the line of a tax, with the law's figures for what was left blank; None if it wasn't charged."""
    name = f"line_{code}"
    subject, taxable, amount = (
        entries.amount(f"{name}_{part}") for part in ("subject_wages", "taxable_wages", "amount")
    )
    if subject is None and taxable is None and amount is None and lawful is None:
        return None
    if subject is None:
        subject = gross_pay
    if taxable is None:
        taxable = subject if lawful is None else from_cents(lawful.taxable_wages)
    if amount is None and lawful is not None:
        amount = from_cents(lawful.amount)
    if amount is None:
        entries.problems.setdefault(f"{name}_amount", _NO_TAX)
    return {"code": code, "subject_wages": subject, "taxable_wages": taxable, "amount": amount}


def _lines(at: HouseholdContext, state: str) -> list[tuple[str, str]]:
    """Return the taxes that a form asks for, by code and name: the federal ones, and those of the work state."""
    law = jurisdiction_on(state, at.clock.today())
    names = [(code, at.say(name)) for code, name in _FEDERAL]
    return names + [(tax.code, tax.name) for tax in law.taxes]


async def _page(
    at: HouseholdContext,
    problems: dict[str, str],
    warnings: tuple[str, ...],
    *,
    saved: bool = False,
    filled_in: tuple[str, ...] = (),
) -> Response:
    async with at.transaction() as session:
        record = await find_here(at, session)
        found = await described(at, session, record)
        items = await list_prior_wages(session, at.actor, record.id)
    facts = {
        "employee": found,
        "items": items,
        "lines": _lines(at, found.work_state),
        "unfolded": any(name.startswith("line_") for name in problems),
        "may_change": at.may(CHANGE_EMPLOYEES),
        "warnings": warnings,
        "filled_in": filled_in,
        "payers": [(value, at.say(label), help_text) for value, label, help_text in _PAYERS],
        "by_household": _BY_HOUSEHOLD,
        "given_name": found.first_name,
        "notice": mark("Saved.") if saved else None,
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show("employees/prior_wages.html", facts, status=400 if problems else 200)
