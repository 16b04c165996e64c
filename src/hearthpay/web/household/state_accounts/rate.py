"""The household's own unemployment rate in a state: entered from the state's notice, checked, and saved."""

import datetime
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_SUI_RATES, READ_PAYROLLS, READ_REGISTRATIONS
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.documents.figures.rate_periods import contribution_of
from hearthpay.employers.assigned_rates import (
    AssignRate,
    KeptRate,
    check_rate,
    keep_sui_rate,
    kept_rates,
    years_to_assign,
)
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.ledger.rates_charged import ChargedAtRate, read_rates_charged
from hearthpay.registrations.derivation import EVERY_ACCOUNT
from hearthpay.registrations.service import registrations_of_household
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.money import rate_of, scaled_rate
from hearthpay.taxes.rulebook import supported_years
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import day_field, field_errors
from hearthpay.web.presentation import percent_text

router: Final = APIRouter(include_in_schema=False)

_AT: Final = "/state-accounts/{state}/rate"
_NOT_THERE: Final = mark("Nothing found with this name.")
_PERCENT: Final = mark("Enter the rate as a percent, like 2.7.")
_WRITTEN: Final = re.compile(r"(?=[0-9.]*[0-9])[0-9]{0,3}(\.[0-9]{0,12})?", re.ASCII)
_EXAMPLE_WAGES: Final = 100_000
"""In cents."""


@dataclass(frozen=True, slots=True)
class RateInUse:
    """The rate that payrolls of a year use now; None where the year has no rules yet."""

    year: int
    rate: Decimal | None
    own: bool
    notice_on: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class AlreadyCharged:
    """What payrolls of the year charged at other rates, in cents, and what the rate would make of it."""

    taxable_wages: int
    amount: int
    at_rate: int


@household_page(router, "GET", _AT, permission=READ_REGISTRATIONS)
async def rate_form(at: HouseholdContext) -> Response:
    """Show which rate is used, and the form for the rate of the notice."""
    return await _form(at)


@household_page(router, "POST", _AT, permission=KEEP_SUI_RATES)
async def review_rate(at: HouseholdContext) -> Response:
    """Show what the rate changes, before it is saved."""
    try:
        assigned = _assigned(at)
        check_rate(assigned, at.clock.today())
    except Refusal as error:
        return await _form(at, field_errors(problems_of(error)))
    async with at.transaction() as session:
        await _require_account(session, at)
        kept = await kept_rates(session, at.id, (assigned.tax_year,))
        law = _law(assigned.state, assigned.tax_year, at.clock.today())
        charged = []
        if law is not None and at.may(READ_PAYROLLS):
            charged = await read_rates_charged(session, at.id, code=law.code, year=assigned.tax_year)
    facts = {
        "state": assigned.state,
        "state_name": STATES[assigned.state],
        "assigned": assigned,
        "now": _in_use(assigned.state, assigned.tax_year, kept, at.clock.today()),
        "example": _EXAMPLE_WAGES,
        "tax_of_example": _tax_of_example,
        "charged": None if law is None else _already_charged(law, charged, assigned.rate),
        "typed": {name: at.form.get(name, "") for name in ("tax_year", "rate", "notice_on")},
    }
    return at.show("state_accounts/rate_review.html", facts)


@household_page(router, "POST", f"{_AT}/save", permission=KEEP_SUI_RATES)
async def save_rate(at: HouseholdContext) -> Response:
    """Save the rate; payrolls run from now on use it."""
    try:
        assigned = _assigned(at)
        async with at.transaction() as session:
            await _require_account(session, at)
            employer = await find_employer(session, at.actor, at.id)
            await keep_sui_rate(session, at.actor, at.clock, employer, assigned)
    except Refusal as error:
        if error.code != "validation_error":
            raise
        return await _form(at, field_errors(problems_of(error)))
    return at.go(f"/state-accounts#{assigned.state}")


def percent_field(typed: str) -> Decimal:
    """Return the rate of a percentage as notices print it, "2.7" or "2.7%": 0.027. Raises `validation_error`."""
    number = typed.strip().removesuffix("%").rstrip()
    if not _WRITTEN.fullmatch(number):
        raise invalid("rate", _PERCENT)
    return Decimal(number).scaleb(-2)


def _assigned(at: HouseholdContext) -> AssignRate:
    year = at.form.get("tax_year", "")
    return AssignRate(
        int(year) if re.fullmatch("[0-9]{4}", year) else 0,
        _state(at),
        percent_field(at.form.get("rate", "")),
        day_field(at.form, "notice_on") if at.form.get("notice_on", "").strip() else None,
    )


def _state(at: HouseholdContext) -> str:
    """Return the state from the path. Raises `not_found` for none."""
    state: str = at.visitor.request.path_params["state"]
    if state not in STATES:
        raise Refusal("not_found", _NOT_THERE)
    return state


async def _require_account(session: AsyncSession, at: HouseholdContext) -> None:
    """Raise `not_found` for a state in which the household has no unemployment account, and needs none."""
    employer = await find_employer(session, at.actor, at.id)
    rows = await registrations_of_household(session, at.actor, at.clock, employer, include=EVERY_ACCOUNT)
    if not any((row.state, row.account_type) == (_state(at), "sui") for row in rows):
        raise Refusal("not_found", _NOT_THERE)


def _law(state: str, year: int, today: datetime.date) -> Contribution | None:
    """Return the state's tax at the household's own rate, as of today if the year has begun; None without rules."""
    day = max(today, datetime.date(year, 1, 1))
    return contribution_of(state, day) if year in supported_years() else None


def _in_use(state: str, year: int, kept: list[KeptRate], today: datetime.date) -> RateInUse:
    for each in kept:
        if (each.state, each.tax_year) == (state, year):
            return RateInUse(year, each.sui_rate, own=True, notice_on=each.notice_on)
    law = _law(state, year, today)
    return RateInUse(year, None if law is None else rate_of(law.rate), own=False)


def _already_charged(law: Contribution, charged: list[ChargedAtRate], rate: Decimal) -> AlreadyCharged | None:
    other = [each for each in charged if each.rate != rate]
    wages = sum(each.taxable_wages for each in other)
    if not wages:
        return None
    return AlreadyCharged(wages, sum(each.amount for each in other), law.tax(wages, scaled_rate(rate)))


def _tax_of_example(rate: Decimal) -> int:
    """Return the tax on the example's wages, in cents."""
    return int((rate * _EXAMPLE_WAGES).quantize(Decimal(1), ROUND_HALF_UP))


async def _form(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    state, today = _state(at), at.clock.today()
    years = years_to_assign(today)
    async with at.transaction() as session:
        await _require_account(session, at)
        kept = await kept_rates(session, at.id, years)
    this_year, next_year = (_in_use(state, year, kept, today) for year in years)
    facts = {
        "state": state,
        "state_name": STATES[state],
        "now": this_year,
        "next": next_year if next_year.own else None,
        "may_keep": at.may(KEEP_SUI_RATES),
        "years": [(year, year) for year in years],
        "rate_text": percent_text(this_year.rate).removesuffix("%") if this_year.own else "",
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("state_accounts/rate.html", facts, status=400 if problems else 200)
