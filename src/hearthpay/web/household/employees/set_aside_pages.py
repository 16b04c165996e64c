"""An employee's set-aside from each paycheck: a share, an amount, or nothing."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.employees.service import lock_employee
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.set_asides.escrow import list_movements, read_account, set_rule
from hearthpay.payroll.set_asides.rules import LARGEST_SET_ASIDE, MOST_DECIMALS, SetAsideRule
from hearthpay.taxes.money import from_cents
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.employees.employee_view import CHANGED_SINCE, SHOWN, digest_of, is_stale
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in

router: Final = APIRouter(include_in_schema=False)

_SHOWN: Final = 30
_PERCENT_RANGE: Final = mark("Enter a number above 0, up to 100.")
_AMOUNT_RANGE: Final = mark("Enter an amount above $0, up to $9,999.")
_CHOOSE: Final = mark("Choose one.")
_KINDS: Final = {
    "deposit": mark("Set aside"),
    "reversal": mark("Reversed with its paycheck"),
    "payout": mark("Paid out"),
    "payout_returned": mark("Returned"),
}


@household_page(router, "GET", "/employees/{employee_id}/set-aside", permission=RUN_PAYROLL)
async def rule_form(at: HouseholdContext) -> Response:
    """Show the current rule, and what was set aside."""
    return await _form(at, {})


@household_page(router, "POST", "/employees/{employee_id}/set-aside", permission=RUN_PAYROLL)
async def change_rule(at: HouseholdContext) -> Response:
    """Set aside by another rule from the next payroll on."""
    entries = Entries(at.form)
    rule = _rule(entries)
    if entries.problems:
        return await _form(at, entries.problems)
    try:
        async with at.transaction() as session:
            await lock_employee(session, at.actor, employee_in_path(at))
            record = await find_here(at, session)
            account = await read_account(session, record.id)
            stale = is_stale(at.form, digest_of(_held(account.rule)))
            if not stale:
                await set_rule(session, at.actor, record, rule)
    except Refusal as error:
        return await _form(at, problems_in(error, at.form))
    if stale:
        return await _form(at, {ROOT: CHANGED_SINCE}, stale=True)
    return at.go(f"/employees/{employee_in_path(at)}")


def _rule(entries: Entries) -> SetAsideRule | None:
    match entries.text("rule"):
        case "none":
            return None
        case "rate":
            percent = entries.amount("percent")
            rate = None if percent is None else percent / 100
            if rate is not None and 0 < rate <= 1 and round(rate, MOST_DECIMALS) == rate:
                return SetAsideRule(rate=rate.normalize())
            entries.problems.setdefault("percent", _PERCENT_RANGE)
        case "amount":
            dollars = entries.amount("dollars")
            cents = None if dollars is None else dollars * 100
            if cents is not None and 0 < cents <= LARGEST_SET_ASIDE and cents == int(cents):
                return SetAsideRule(amount_cents=int(cents))
            entries.problems.setdefault("dollars", _AMOUNT_RANGE)
        case _:
            entries.problems["rule"] = _CHOOSE
    return None


async def _form(at: HouseholdContext, problems: dict[str, str], *, stale: bool = False) -> Response:
    async with at.transaction() as session:
        record = await find_here(at, session)
        found = await described(at, session, record)
        account = await read_account(session, record.id)
        movements = await list_movements(session, record.id, limit=_SHOWN)
    held = _held(account.rule)
    form_values = at.form if problems and not stale else {}
    facts = {
        "employee": found,
        "account": account,
        "movements": movements,
        "kinds": _KINDS,
        "held": held,
        # The form was filled in based on what was shown then.
        "shown": form_values.get(SHOWN, digest_of(held)),
        "problems": problems,
        "form_values": form_values,
    }
    status = 409 if stale else 400 if problems else 200
    return at.show("employees/set_aside.html", facts, status=status)


def _held(rule: SetAsideRule | None) -> dict[str, str]:
    if rule is None:
        return {"rule": "none", "percent": "", "dollars": ""}
    if rule.rate is not None:
        return {"rule": "rate", "percent": f"{(rule.rate * 100).normalize():f}", "dollars": ""}
    return {"rule": "amount", "percent": "", "dollars": f"{from_cents(rule.amount_cents or 0):.2f}"}
