"""The household's numbers from states: typed here, masked on display, and shown in full on request, with an audit
row.
"""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_REGISTRATIONS
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.registrations.accounts import StateAccount, accounts_of
from hearthpay.registrations.derivation import EVERY_ACCOUNT, Registration
from hearthpay.registrations.service import (
    keep_number,
    note_application,
    registrations_of_household,
    reveal_numbers,
)
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import day_field, field_errors
from hearthpay.web.household.state_accounts.words import ACCOUNT_WORDS

router: Final = APIRouter(include_in_schema=False)

_AT: Final = "/state-accounts/{state}/{account_id}"
_FUTURE: Final = mark("Enter today's date or an earlier one.")
_NOT_THERE: Final = mark("Nothing found with this name.")
_NONE: Final = mark("There is no number on file to be shown.")


@household_page(router, "GET", f"{_AT}/number", permission=KEEP_REGISTRATIONS, fresh=True)
async def number_form(at: HouseholdContext) -> Response:
    """The form for the number."""
    return _form(at, _account(at))


@household_page(router, "POST", f"{_AT}/number", permission=KEEP_REGISTRATIONS, fresh=True)
async def save_number(at: HouseholdContext) -> Response:
    """Store the number in the vault, replacing an earlier one."""
    account, ring = _account(at), at.visitor.people_context.keys()
    try:
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            warning = await keep_number(
                session,
                ring,
                at.actor,
                at.clock,
                employer,
                state=account.state,
                account_id=account.id,
                number=at.form.get("number", ""),
            )
    except Refusal as error:
        return _form(at, account, field_errors(problems_of(error)))
    if warning is not None:
        return at.show("state_accounts/odd_number.html", _facts(account))
    return at.go("/state-accounts")


@household_page(router, "GET", f"{_AT}/applied", permission=KEEP_REGISTRATIONS)
async def applied_form(at: HouseholdContext) -> Response:
    """The form for the day."""
    return await _applied(at, _account(at))


@household_page(router, "POST", f"{_AT}/applied", permission=KEEP_REGISTRATIONS)
async def save_applied(at: HouseholdContext) -> Response:
    """Record the day of the application, or that there was none."""
    account = _account(at)
    try:
        day = None
        if at.form.get("taken_back") != "on":
            day = day_field(at.form, "applied_on")
            if day > at.clock.today():
                raise invalid("applied_on", _FUTURE)
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await note_application(
                session,
                at.actor,
                at.clock,
                employer,
                state=account.state,
                account_id=account.id,
                applied_on=day,
            )
    except Refusal as error:
        return await _applied(at, account, field_errors(problems_of(error)))
    return at.go("/state-accounts")


@household_page(router, "GET", f"{_AT}/reveal", permission=KEEP_REGISTRATIONS, fresh=True)
async def confirm_reveal(at: HouseholdContext) -> Response:
    """The question before a number is shown."""
    account = _account(at)
    row = await _row(at, account)
    return at.show("state_accounts/reveal.html", _facts(account) | {"row": row, "number": None})


@household_page(router, "POST", f"{_AT}/reveal", permission=KEEP_REGISTRATIONS, fresh=True)
async def reveal(at: HouseholdContext) -> Response:
    """Show the number in full, this once, with an audit row."""
    account, ring = _account(at), at.visitor.people_context.keys()
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        rows = await registrations_of_household(session, at.actor, at.clock, employer, include=EVERY_ACCOUNT)
        own = [row for row in rows if (row.state, row.account_id) == (account.state, account.id)]
        numbers = await reveal_numbers(session, ring, at.actor, employer, own)
    number = numbers.get((account.state, account.number.id))
    if number is None:
        raise Refusal("not_found", _NONE)
    return at.show("state_accounts/reveal.html", _facts(account) | {"row": own[0], "number": number})


def _account(at: HouseholdContext) -> StateAccount:
    """Return the account named in the path. Raises `not_found` for one that no state has."""
    params = at.visitor.request.path_params
    if params["state"] in STATES:
        for account in accounts_of(params["state"]).accounts:
            if account.id == params["account_id"]:
                return account
    raise Refusal("not_found", _NOT_THERE)


async def _row(at: HouseholdContext, account: StateAccount) -> Registration | None:
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        rows = await registrations_of_household(session, at.actor, at.clock, employer, include=EVERY_ACCOUNT)
    return next((row for row in rows if (row.state, row.account_id) == (account.state, account.id)), None)


def _facts(account: StateAccount) -> dict[str, object]:
    shared = [
        each.type for each in accounts_of(account.state).accounts if each.number.id == account.number.id
    ]
    return {
        "account": account,
        "state_name": STATES[account.state],
        "types": [ACCOUNT_WORDS[each] for each in shared],
    }


def _form(at: HouseholdContext, account: StateAccount, problems: dict[str, str] | None = None) -> Response:
    facts = _facts(account) | {"problems": problems or {}}
    return at.show("state_accounts/number.html", facts, status=400 if problems else 200)


async def _applied(
    at: HouseholdContext, account: StateAccount, problems: dict[str, str] | None = None
) -> Response:
    row = await _row(at, account)
    facts = _facts(account) | {
        "applied_on": None if row is None else row.applied_on,
        "today": at.clock.today(),
        "problems": problems or {},
        "form_values": {"applied_on": at.form.get("applied_on", "")} if problems else {},
    }
    return at.show("state_accounts/applied.html", facts, status=400 if problems else 200)
