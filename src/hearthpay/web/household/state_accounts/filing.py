"""An account's filing frequency, and its closing, as the household says."""

import datetime
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_CALENDAR
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.duties.accounts import Account
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.rules import duties_of
from hearthpay.duties.service import account_filings, choose_filing, note_closing
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import day_field, field_errors
from hearthpay.web.household.state_accounts.words import ACCOUNT_WORDS, FREQUENCY_WORDS, reason_text
from hearthpay.web.presentation import money_text

router: Final = APIRouter(include_in_schema=False)

_AT: Final = "/state-accounts/{state}/filing/{account}"
_CHOOSE: Final = mark("Choose one.")
_YEAR: Final = mark("Choose this year or next year.")
_FEDERAL: Final = mark("Federal")


@household_page(router, "GET", _AT, permission=KEEP_CALENDAR)
async def filing(at: HouseholdContext) -> Response:
    """Show the current frequency, and whether the account is closed."""
    return await _page(at)


@household_page(router, "POST", f"{_AT}/frequency", permission=KEEP_CALENDAR)
async def choose(at: HouseholdContext) -> Response:
    """Notes how often the household files from a year on."""
    jurisdiction, account = _account(at)
    this_year = at.clock.today().year
    try:
        frequency, typed = at.form.get("frequency", ""), at.form.get("since_year", "")
        if frequency not in account.frequencies:
            raise invalid("frequency", _CHOOSE)
        if typed not in (str(this_year), str(this_year + 1)):
            raise invalid("since_year", _YEAR)
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await choose_filing(
                session,
                at.actor,
                at.clock,
                employer,
                jurisdiction=jurisdiction,
                account=account.name,
                since_year=int(typed),
                frequency=frequency,
            )
    except Refusal as error:
        return await _page(at, field_errors(problems_of(error)))
    return at.go("/state-accounts")


@household_page(router, "POST", f"{_AT}/closing", permission=KEEP_CALENDAR)
async def close(at: HouseholdContext) -> Response:
    """Record the account's last day, or that it is open."""
    jurisdiction, account = _account(at)
    try:
        day: datetime.date | None = None
        if at.form.get("open") != "on":
            day = day_field(at.form, "closed_on")
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await note_closing(
                session,
                at.actor,
                at.clock,
                employer,
                jurisdiction=jurisdiction,
                account=account.name,
                closed_on=day,
            )
    except Refusal as error:
        return await _page(at, field_errors(problems_of(error)))
    return at.go("/state-accounts")


def _account(at: HouseholdContext) -> tuple[str, Account]:
    """Return the jurisdiction and account from the path. Raises `not_found` for one without a choice."""
    params = at.visitor.request.path_params
    if params["state"] in STATES or params["state"] == FEDERAL:
        for account in duties_of(params["state"]).accounts:
            if account.name == params["account"]:
                return params["state"], account
    raise Refusal("not_found", mark("Nothing found with this name."))


async def _page(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    jurisdiction, account = _account(at)
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        filings = await account_filings(session, at.actor, at.clock, employer, (jurisdiction,))
    now = next(each for each in filings if each.account == account)
    why, near = reason_text(now.reason, at.say, money_text)
    this_year = at.clock.today().year
    facts = {
        "state": jurisdiction,
        "state_name": at.say(_FEDERAL) if jurisdiction == FEDERAL else STATES[jurisdiction],
        "account": account,
        "account_name": at.say(account.label or ACCOUNT_WORDS[account.name]),
        "now": now.reason.frequency,
        "why": None if now.closed_on else why,
        "near": None if now.closed_on else near,
        "options": [
            (each, words[:1].upper() + words[1:], "")
            for each in account.frequencies
            for words in (at.say(FREQUENCY_WORDS[each]),)
        ],
        "years": [(year, year) for year in (this_year, this_year + 1)],
        "frequency_words": FREQUENCY_WORDS,
        "closed_on": now.closed_on,
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("state_accounts/filing.html", facts, status=400 if problems else 200)
