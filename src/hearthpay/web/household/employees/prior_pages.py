"""Earlier pay this year from another payroll: entered once, so that caps and sums continue from it."""

from decimal import Decimal
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.jurisdictions.requirements import jurisdiction_on
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.years.prior_schemas import NewPriorWages
from hearthpay.payroll.years.prior_wages import enter_prior_wages, list_prior_wages
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
_LINE: Final = mark("Fill in all three fields, or none.")
_NO_LINES: Final = mark("Fill in at least one line.")


@household_page(router, "GET", "/employees/{employee_id}/prior-wages", permission=READ_EMPLOYEES)
async def prior_wages(at: HouseholdContext) -> Response:
    """Show what was entered, and the form for more."""
    return await _page(at, {}, ())


@household_page(router, "POST", "/employees/{employee_id}/prior-wages", permission=CHANGE_EMPLOYEES)
async def enter(at: HouseholdContext) -> Response:
    """Record the amounts; differences from the law are reported."""
    entries = Entries(at.form)
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    lines = []
    for code, _ in _lines(at, found.work_state):
        line = _line(entries, code)
        if line is not None:
            lines.append(line)
    last_day = entries.day("as_of")
    values = {
        "tax_year": None if last_day is None else last_day.year,
        "source": entries.text("source"),
        "as_of": last_day,
        "gross_pay": entries.amount("gross_pay"),
        "lines": lines,
    }
    if not lines and not entries.problems:
        entries.problems[""] = _NO_LINES
    new = entries.checked(NewPriorWages, values)
    if new is None:
        return await _page(at, entries.problems, ())
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            made = await enter_prior_wages(session, at.actor, at.clock, record.id, new.to_command())
    except Refusal as error:
        return await _page(at, problems_in(error, at.form), ())
    differences = [message_text(at.say, at.visitor.language, each) for each in made.differences]
    return await _page(at, {}, tuple(differences), saved=True)


def _line(entries: Entries, code: str) -> dict[str, object] | None:
    """Return the line of a tax; None if it wasn't filled in completely."""
    name = f"line_{code}"
    parts: dict[str, Decimal | None] = {
        part: entries.amount(f"{name}_{part}") for part in ("subject_wages", "taxable_wages", "amount")
    }
    filled = [amount for amount in parts.values() if amount is not None]
    if not filled:
        return None
    if len(filled) < len(parts):
        for part, amount in parts.items():
            if amount is None:
                entries.problems.setdefault(f"{name}_{part}", _LINE)
        return None
    return {"code": code, **parts}


def _lines(at: HouseholdContext, state: str) -> list[tuple[str, str]]:
    """Return the taxes that a form asks for, by code and name: the federal ones, and those of the work state."""
    law = jurisdiction_on(state, at.clock.today())
    names = [(code, at.say(name)) for code, name in _FEDERAL]
    return names + [(tax.code, tax.name) for tax in law.taxes]


async def _page(
    at: HouseholdContext, problems: dict[str, str], warnings: tuple[str, ...], *, saved: bool = False
) -> Response:
    async with at.transaction() as session:
        record = await find_here(at, session)
        found = await described(at, session, record)
        items = await list_prior_wages(session, at.actor, record.id)
    facts = {
        "employee": found,
        "items": items,
        "lines": _lines(at, found.work_state),
        "may_change": at.may(CHANGE_EMPLOYEES),
        "warnings": warnings,
        "notice": mark("Saved.") if saved else None,
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show("employees/prior_wages.html", facts, status=400 if problems else 200)
