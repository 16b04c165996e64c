"""The household's authorizations: debits of its account for approved payrolls, and standing ones for Autopilot."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.banking.authorizations import AUTHORIZATION_DAYS, authorize
from hearthpay.banking.household_money import read_household_money
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.bank.authorization_words import authorization_words
from hearthpay.web.household.context import HouseholdContext, household_page

router: Final = APIRouter(include_in_schema=False)

_AGREE: Final = mark("Check the box to agree.")
_NO_ACCOUNT: Final = mark("Connect a bank account first.")


@household_page(router, "GET", "/bank/authorization", permission=READ_PAYROLLS)
async def authorization(at: HouseholdContext) -> Response:
    """Show the text, how long it holds, and Autopilot's authorizations."""
    return await _page(at)


@household_page(router, "POST", "/bank/authorization", permission=RUN_PAYROLL, fresh=True)
async def agree(at: HouseholdContext) -> Response:
    """Record that the household agreed, from now on."""
    if at.form.get("agreed") != "on":
        return await _page(at, {"agreed": _AGREE})
    try:
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await authorize(session, at.actor, employer, at.clock.now())
    except Refusal as error:
        if error.code != "direct_deposit_unavailable":
            raise
        return await _page(at, {"": _NO_ACCOUNT})
    return at.go("/bank/authorization")


async def _page(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        money = await read_household_money(
            session, at.actor, employer, at.clock.now(), direct_deposit_enabled=at.runtime.direct_deposit
        )
    facts = {
        "money": money,
        "authorization": authorization_words(at.visitor.language),
        "days": AUTHORIZATION_DAYS,
        "problems": problems or {},
        "may_authorize": at.may(RUN_PAYROLL),
        "fresh": at.visitor.signed_in.is_fresh(at.clock.now()),
    }
    return at.show("bank/authorization.html", facts, status=400 if problems else 200)
