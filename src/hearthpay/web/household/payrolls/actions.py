"""Actions on a payroll: void it, settle a deposit that can't be sent, renew the authorization of its debit.

Each first asks for confirmation, saying what will happen.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Final, cast, get_args
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.banking.authorizations import authorize
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.handing_over import mark_handed_over
from hearthpay.payroll.issues.available_actions import WayToVoid, position_of, void_action
from hearthpay.payroll.issues.payment_status import read_payment_status
from hearthpay.payroll.issues.wording import outcome_text
from hearthpay.payroll.ledger.rows import RemedyAction
from hearthpay.payroll.payday.remedies import apply_remedy
from hearthpay.payroll.voiding import void_payroll
from hearthpay.web.framework import id_in_path
from hearthpay.web.household.bank.authorization_words import authorization_words
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.payrolls.payroll_page import payroll_here

router: Final = APIRouter(include_in_schema=False)

_LONGEST_REASON: Final = 200
_UNDOES: Final[Mapping[WayToVoid, str]] = {
    "not_sent": mark("Nothing of it was sent: no money leaves, and nobody is paid by it."),
    "uncollected": mark("The pending debit is canceled. Your account won't be debited."),
    "recalled": mark("We refund what we collected to your account. This payroll doesn't pay your employees."),
    "by_hand": mark(
        "Voiding removes this payroll from the year to date and from taxes owed. It doesn't get "
        "back a check or cash. Settle that with your employee."
    ),
    "hand_part": mark("What was paid by check or cash of it is undone, with its taxes."),
}
_REMEDIES: Final[Mapping[RemedyAction, tuple[str, str]]] = {
    "pay_by_check": (
        mark("I'll pay by check or cash"),
        mark("We refund the amount collected. The paycheck doesn't change."),
    ),
    "wait_for_account": (
        mark("Wait for a new account"),
        mark(
            "We send it when your employee adds an account. If none is added by the date you choose, we refund you."
        ),
    ),
    "refund": (
        mark("Refund me"),
        mark("This voids the paycheck. You still owe these wages, so run payroll again for these dates."),
    ),
}
_TOO_LONG: Final = mark("Use 200 characters or fewer.")
_CHOOSE: Final = mark("Choose an option.")
_CHOOSE_DAY: Final = mark("Choose a day within 30 days and this year.")
_TICK: Final = mark("Check this box to continue.")
_CANNOT: Final = mark("This can no longer be done: the payroll has moved on.")


@household_page(router, "GET", "/payrolls/{payroll_id}/void", permission=RUN_PAYROLL)
async def confirm_void(at: HouseholdContext) -> Response:
    """Ask whether to void, and show what that reverses."""
    return await _void_page(at)


@household_page(router, "POST", "/payrolls/{payroll_id}/void", permission=RUN_PAYROLL)
async def void(at: HouseholdContext) -> Response:
    """Void the payroll; a voided one stays voided."""
    reason, problems = reason_of_form(at)
    if problems:
        return await _void_page(at, problems, 400)
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        if found.status != "voided":
            try:
                await void_payroll(session, at.actor, at.clock, found.id, reason)
            except Refusal as refusal:
                raise changed_meanwhile(refusal) from refusal
    return at.go(f"/payrolls/{found.id}")


@household_page(router, "POST", "/payrolls/{payroll_id}/hand-over", permission=RUN_PAYROLL)
async def hand_over(at: HouseholdContext) -> Response:
    """Mark the checks or cash as handed over; sent again, it changes nothing."""
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        try:
            await mark_handed_over(session, at.actor, at.clock, found.id)
        except Refusal as refusal:
            raise changed_meanwhile(refusal) from refusal
    return at.go(f"/payrolls/{found.id}")


@household_page(router, "GET", "/payrolls/{payroll_id}/deposits/{employee_id}", permission=RUN_PAYROLL)
async def confirm_deposit(at: HouseholdContext) -> Response:
    """Show the remedies for a deposit that can't be sent, and what each means."""
    return await _deposit_page(at)


@household_page(router, "POST", "/payrolls/{payroll_id}/deposits/{employee_id}", permission=RUN_PAYROLL)
async def resolve_deposit(at: HouseholdContext) -> Response:
    """Apply the remedy to the deposit; repeating it changes nothing."""
    requested = at.form.get("action", "")
    if requested not in get_args(RemedyAction):
        return await _deposit_page(at, {"action": _CHOOSE}, 400)
    until = None
    if requested == "wait_for_account":
        try:
            until = datetime.date.fromisoformat(at.form.get("until", ""))
        except ValueError:
            return await _deposit_page(at, {"until": _CHOOSE_DAY}, 400)
    try:
        async with at.transaction() as session:
            found = await payroll_here(session, at)
            await apply_remedy(
                session, at.actor, at.clock, found.id, _employee(at), cast(RemedyAction, requested), until
            )
    except Refusal as refusal:
        if refusal.code == "validation_error":
            return await _deposit_page(at, {"until": _CHOOSE_DAY}, 400)
        raise changed_meanwhile(refusal) from refusal
    return at.go(f"/payrolls/{found.id}")


@household_page(router, "GET", "/payrolls/{payroll_id}/authorize", permission=RUN_PAYROLL, fresh=True)
async def confirm_authorization(at: HouseholdContext) -> Response:
    """Show the authorization's text, for the debit that depends on it."""
    return await _authorize_page(at)


@household_page(router, "POST", "/payrolls/{payroll_id}/authorize", permission=RUN_PAYROLL, fresh=True)
async def authorize_debit(at: HouseholdContext) -> Response:
    """Authorize debits of the household's account for the next 30 days; pending debits then go out by themselves."""
    if at.form.get("agree") != "on":
        return await _authorize_page(at, {"agree": _TICK}, 400)
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        if "authorize_debit" in found.available_actions.actions:
            employer = await find_employer(session, at.actor, at.id)
            await authorize(session, at.actor, employer, at.clock.now())
    return at.go(f"/payrolls/{found.id}")


def _employee(at: HouseholdContext) -> UUID:
    return id_in_path(at.visitor, "employee_id")


def reason_of_form(at: HouseholdContext) -> tuple[str | None, dict[str, str]]:
    """Return why somebody undoes a payroll, and what is wrong with it."""
    reason = " ".join(at.form.get("reason", "").split())
    if len(reason) > _LONGEST_REASON or not reason.isprintable():
        return None, {"reason": _TOO_LONG}
    return reason or None, {}


def changed_meanwhile(refusal: Refusal) -> Refusal:
    """Return what a person reads where the payroll is in another state than when the question was shown."""
    return Refusal("invalid_state", _CANNOT) if refusal.code == "invalid_state" else refusal


async def _void_page(
    at: HouseholdContext, problems: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        position = await position_of(session, found.id, at.clock.now())
        way = await void_action(session, found.id, found.status, position)
    facts = {
        "payroll": found,
        "undoes": None if way is None else _UNDOES[way],
        "names": [each.employee_name for each in found.paychecks],
        "problems": problems or {},
        "form_values": at.form,
    }
    return at.show("payroll_void.html", facts, status=status)


async def _deposit_page(
    at: HouseholdContext, problems: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    employee_id = _employee(at)
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        standing = await read_payment_status(session, found.id, at.clock.now())
    pay = next((each for each in found.paychecks if each.employee_id == employee_id), None)
    if pay is None:
        raise Refusal("not_found", "Page not found. Check the address.")
    deposit = found.available_actions.deposits.get(employee_id)
    stands = standing.paychecks.get(employee_id)
    outcome = None if stands is None else stands.outcome
    facts = {
        "payroll": found,
        "pay": pay,
        "why": None if outcome is None else outcome_text(at.say, outcome),
        "ways": () if deposit is None else [(each, *_REMEDIES[each]) for each in deposit.remedies],
        "problems": problems or {},
        "form_values": at.form,
    }
    return at.show("payroll_deposit.html", facts, status=status)


async def _authorize_page(
    at: HouseholdContext, problems: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    async with at.transaction() as session:
        found = await payroll_here(session, at)
    facts = {
        "payroll": found,
        "needed": "authorize_debit" in found.available_actions.actions,
        "authorization": authorization_words(at.visitor.language),
        "problems": problems or {},
        "form_values": at.form,
    }
    return at.show("payroll_authorize.html", facts, status=status)
