"""Tax payments that the household recorded: the list, recording one, and reversing it."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_TAX_LEDGER, READ_TAX_LEDGER
from hearthpay.access.refusal import Refusal
from hearthpay.employers.service import find_employer
from hearthpay.filing.commands import METHODS, LedgerQuery
from hearthpay.filing.reversals import preview_payment_reversal
from hearthpay.filing.schemas import LedgerReversal, NewTaxPayment
from hearthpay.filing.service import (
    EarlierPayment,
    balances_of_household,
    find_earlier_payment,
    payments_of_household,
    record_payment_of_household,
    reverse_payment_of_household,
)
from hearthpay.languages.catalogue import Sentence, mark
from hearthpay.taxes.money import from_cents
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in
from hearthpay.web.household.form_values import id_in
from hearthpay.web.household.idempotent_forms import new_form_id, submit_once
from hearthpay.web.household.queries import cursor_in
from hearthpay.web.household.taxes.ledger_words import METHOD_WORDS
from hearthpay.web.household.taxes.payment_choices import PaidFor, paid_for, payment_choices
from hearthpay.web.household.taxes.payment_rows import payment_row

router: Final = APIRouter(include_in_schema=False)

AT_ONCE: Final = 25
_PAID_FOR: Final = mark("Choose what the payment was for.")
_METHOD: Final = mark("Choose one.")
_AMOUNT: Final = mark("Enter an amount above 0.")
_EARLY: Final = mark("Enter a date on or after {day}, when the period begins.")
_IS_REVERSED: Final = mark("This payment is already reversed.")
_ANOTHER: Final = "confirm_another"
_FIELDS: Final = dict.fromkeys(("agency", "account_type", "state_code", "period"), "paid_for")


class RecordedBeforeError(Exception):
    """A recorded payment is probably the same one; the form doesn't confirm another."""

    def __init__(self, earlier: EarlierPayment) -> None:
        super().__init__("recorded before")
        self.earlier: Final = earlier


@household_page(router, "GET", "/taxes/payments", permission=READ_TAX_LEDGER)
async def payments(at: HouseholdContext) -> Response:
    """List them, the last recorded first; reversed ones as well."""
    cursor = cursor_in(at.visitor)
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        found, next_cursor = await payments_of_household(
            session, at.actor, employer, LedgerQuery(at.id, cursor, AT_ONCE)
        )
    facts = {
        "payments": [payment_row(at, each) for each in found],
        "methods": METHOD_WORDS,
        "next_cursor": next_cursor,
        "first": cursor is None,
        "may_keep": at.may(KEEP_TAX_LEDGER),
    }
    return at.show("taxes/payments.html", facts)


@household_page(router, "GET", "/taxes/payments/new", permission=KEEP_TAX_LEDGER)
async def new_payment(at: HouseholdContext) -> Response:
    """The form, filled in for the account and period of the query, with what is open of it."""
    query = at.visitor.request.query_params
    asked = paid_for("/".join(query.get(name, "") for name in ("agency", "account", "period")))
    return await _form(at, asked)


@household_page(router, "POST", "/taxes/payments/new", permission=KEEP_TAX_LEDGER)
async def record(at: HouseholdContext) -> Response:
    """Record it; sending the same form again records nothing more.

    If a recorded payment is probably the same, it is shown, and a second one has to be confirmed.
    """
    asked = paid_for(at.form.get("paid_for", ""))
    entries = Entries(at.form)
    checked = _read(entries, asked)
    if checked is None:
        return await _form(at, asked, entries.problems)
    command = checked.to_command()

    async def book(session: AsyncSession) -> str:
        employer = await find_employer(session, at.actor, at.id)
        recorded = await record_payment_of_household(session, at.actor, at.clock, employer, command)
        earlier = await find_earlier_payment(session, recorded)
        if earlier is not None and at.form.get(_ANOTHER) != "on":
            raise RecordedBeforeError(earlier)
        return "/taxes"

    try:
        return await submit_once(at, checked.model_dump(mode="json"), book)
    except RecordedBeforeError as error:
        return await _form(at, asked, earlier=error.earlier)
    except Refusal as error:
        problems = problems_in(error, dict(at.form) | dict.fromkeys(_FIELDS, ""))
        return await _form(at, asked, {_FIELDS.get(name, name): text for name, text in problems.items()})


@household_page(router, "GET", "/taxes/payments/{tax_payment_id}/reverse", permission=KEEP_TAX_LEDGER)
async def confirm_reversal(at: HouseholdContext) -> Response:
    """Ask for confirmation, and tell what is open after it."""
    return await _question(at)


@household_page(router, "POST", "/taxes/payments/{tax_payment_id}/reverse", permission=KEEP_TAX_LEDGER)
async def reverse(at: HouseholdContext) -> Response:
    """Reverse the payment."""
    entries = Entries(at.form)
    checked = entries.checked(LedgerReversal, {"reason": entries.text("reason")})
    if checked is None:
        return await _question(at, entries.problems)
    try:
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await reverse_payment_of_household(
                session, at.actor, at.clock, employer, id_in(at.visitor, "tax_payment_id"), checked.reason
            )
    except Refusal as error:
        if error.code != "invalid_state":
            raise
        return await _question(at, {ROOT: _IS_REVERSED})
    return at.go("/taxes")


def _read(entries: Entries, asked: PaidFor | None) -> NewTaxPayment | None:
    """Return the payment from the form; None where something is wrong, which the entries' problems then have."""
    amount, paid_on, method = entries.amount("amount"), entries.day("paid_on"), entries.text("method")
    if asked is None:
        entries.problems["paid_for"] = _PAID_FOR
    elif paid_on is not None and paid_on < asked.period.start:
        entries.problems["paid_on"] = Sentence(_EARLY, {"day": asked.period.start})
    if method not in METHODS:
        entries.problems["method"] = _METHOD
    if amount is not None and amount <= 0:
        entries.problems["amount"] = _AMOUNT
    values = {
        "agency": "-" if asked is None else asked.agency.id,
        "account_type": "-" if asked is None else asked.account,
        "period": "-" if asked is None else asked.period.label,
        "amount": amount,
        "paid_on": None if paid_on is None else paid_on.isoformat(),
        "method": method,
        "confirmation": entries.text("confirmation"),
    }
    return entries.checked(NewTaxPayment, values)


async def _form(
    at: HouseholdContext,
    asked: PaidFor | None,
    problems: dict[str, str] | None = None,
    earlier: EarlierPayment | None = None,
) -> Response:
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        balances = await balances_of_household(session, at.actor, at.clock, employer)
    today, language = at.clock.today(), at.visitor.language
    choices = payment_choices(balances, employer.state, today, asked, at.say, language)
    value = "" if asked is None else asked.value
    cents = choices.open.get(value, 0)
    facts = {
        "choices": choices.groups,
        "asked": asked,
        "paid_for": value,
        "open": cents,
        "amount": _dollars(from_cents(cents)) if cents > 0 else "",
        "methods": METHOD_WORDS,
        "today": today,
        "form_id": new_form_id(),
        "earlier": earlier,
        "problems": problems or {},
        "form_values": dict(at.form) if problems or earlier is not None else {},
    }
    status = 409 if earlier is not None else 400 if problems else 200
    return at.show("taxes/payment_form.html", facts, status=status)


def _dollars(amount: Decimal) -> str:
    return f"{amount:.2f}"


async def _question(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        preview = await preview_payment_reversal(
            session, at.actor, at.clock, employer, id_in(at.visitor, "tax_payment_id")
        )
    facts = {
        "row": payment_row(at, preview.details),
        "before": preview.details.balance,
        "after": preview.after,
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("taxes/payment_reverse.html", facts, status=400 if problems else 200)
