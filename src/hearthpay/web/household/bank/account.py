"""Connecting the household's bank account, and disconnecting it: its numbers are typed here, and shown nowhere."""

from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import MANAGE_ACCOUNTS
from hearthpay.access.refusal import Refusal
from hearthpay.banking.accounts import (
    AccountDetails,
    connect_household_account,
    current_household_account,
    disconnect,
)
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import field_errors
from hearthpay.web.numbers_form import FormError, read_bank_account

router: Final = APIRouter(include_in_schema=False)

_LONGEST_NAME: Final = 60
_NAME: Final = mark("Use at most 60 letters, numbers and spaces.")
_NONE: Final = mark("There is no bank account to disconnect.")
_ON_ITS_WAY: Final = mark(
    "Money is on its way over this account, so it cannot be disconnected now. Connect another one instead."
)


@household_page(router, "GET", "/bank/connect", permission=MANAGE_ACCOUNTS, fresh=True)
async def connect_form(at: HouseholdContext) -> Response:
    """The form for the account's numbers."""
    return await _form(at)


@household_page(router, "POST", "/bank/connect", permission=MANAGE_ACCOUNTS, fresh=True)
async def connect(at: HouseholdContext) -> Response:
    """Keeps the numbers in the vault, in the place of an earlier account."""
    try:
        details = _read(at.form)
    except FormError as error:
        return await _form(at, error.problems)
    ring, now = at.visitor.people_context.keys(), at.clock.now()
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        await connect_household_account(session, ring, at.actor, employer, details, now)
    return at.go("/bank")


@household_page(router, "GET", "/bank/disconnect", permission=MANAGE_ACCOUNTS, fresh=True)
async def confirm_disconnect(at: HouseholdContext) -> Response:
    """Ask for confirmation, and show what disconnecting the account means."""
    return await _question(at)


@household_page(router, "POST", "/bank/disconnect", permission=MANAGE_ACCOUNTS, fresh=True)
async def disconnect_account(at: HouseholdContext) -> Response:
    """Disconnect the account and end its authorizations."""
    try:
        async with at.transaction() as session:
            account = await current_household_account(session, at.id)
            if account is None:
                return await _question(at, _NONE)
            await disconnect(session, at.actor, account, at.clock.now())
    except Refusal as error:
        if error.code != "invalid_state":
            raise
        return await _question(at, _ON_ITS_WAY)
    return at.go("/bank")


def _read(form: Mapping[str, str]) -> AccountDetails:
    """Return the account from the form, by the rules of the portal's form. Raises FormError."""
    problems: dict[str, str] = {}
    name = form.get("bank_name", "").strip()
    if len(name) > _LONGEST_NAME or not (name.isprintable() or not name):
        problems["bank_name"] = _NAME
    try:
        typed = read_bank_account(form)
    except FormError as error:
        raise FormError({**error.problems, **problems}) from None
    if problems:
        raise FormError(problems)
    return AccountDetails(typed.routing, typed.account, typed.account_type, name or None)


async def _form(at: HouseholdContext, problems: Mapping[str, str] | None = None) -> Response:
    """Return the form with its entries, except numbers."""
    async with at.transaction() as session:
        account = await current_household_account(session, at.id)
    form_values = {}
    if problems is not None and at.form.get("account_type") in ("checking", "savings"):
        form_values = {"account_type": at.form["account_type"]}
    return at.show(
        "bank/connect.html",
        {"account": account, "problems": field_errors(problems or {}), "form_values": form_values},
        status=400 if problems else 200,
    )


async def _question(at: HouseholdContext, issue: str = "") -> Response:
    async with at.transaction() as session:
        account = await current_household_account(session, at.id)
    facts = {"account": account, "problems": {"": issue} if issue else {}}
    return at.show("bank/disconnect.html", facts, status=400 if issue else 200)
