"""The household's state at the bank, on one page."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import MANAGE_ACCOUNTS, READ_PAYROLLS, RUN_PAYROLL
from hearthpay.banking.authorizations import AUTHORIZATION_DAYS, LARGE_NET_PAY
from hearthpay.banking.household_money import read_household_money
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.approval import LARGE_TOTAL
from hearthpay.payroll.set_asides.escrow import accounts_of_household
from hearthpay.web.household.context import HouseholdContext, household_page

router: Final = APIRouter(include_in_schema=False)

_BLOCKERS: Final = {
    "direct_deposit_not_offered": mark("Direct deposit isn't set up here. Pay by check or cash."),
    "name_not_spellable": mark(
        "Bank files allow only the letters A to Z. Spell the employer's name without other characters."
    ),
}
"""Other obstacles to direct deposit, by the service's code; the account's own state covers the rest."""


@household_page(router, "GET", "/bank", permission=READ_PAYROLLS)
async def bank(at: HouseholdContext) -> Response:
    """Show the account that wages are collected from, payments in progress, and what comes next."""
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        money = await read_household_money(
            session, at.actor, employer, at.clock.now(), direct_deposit_enabled=at.runtime.direct_deposit
        )
        set_aside = await accounts_of_household(session, at.actor, employer)
    return at.show(
        "bank/overview.html",
        {
            "money": money,
            "blockers": [_BLOCKERS[each.code] for each in money.blockers if each.code in _BLOCKERS],
            "set_aside": sum(account.balance for _, _, account in set_aside),
            "people_set_aside": len(set_aside),
            "limits": {"total": LARGE_TOTAL, "net_pay": LARGE_NET_PAY, "days": AUTHORIZATION_DAYS},
            "may_connect": at.may(MANAGE_ACCOUNTS),
            "may_authorize": at.may(RUN_PAYROLL),
        },
    )
