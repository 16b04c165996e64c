"""What to do once a payroll is recorded: the check to write or the deposit's days, and what to keep aside for taxes."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import OBTAIN_DOCUMENTS, READ_PAYROLLS, RUN_PAYROLL
from hearthpay.payroll.corrections import is_correctable
from hearthpay.payroll.ledger.costs import coming_payrolls
from hearthpay.payroll.lifecycle import HAS_PAY_STUBS
from hearthpay.payroll.next_payday import read_next_paydays
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.payrolls.check_words import check_words
from hearthpay.web.household.payrolls.payment_words import (
    Paychecks,
    account_words,
    bank_accounts,
    receipt_heading,
)
from hearthpay.web.household.payrolls.payroll_page import money_facts, paychecks_of, payroll_here
from hearthpay.web.household.payrolls.payroll_states import state_of_stored
from hearthpay.web.household.payrolls.progress import read_moving_money, timeline_of

router: Final = APIRouter(include_in_schema=False)

_LOOKED_AT: Final = 5


@dataclass(frozen=True, slots=True)
class CheckToWrite:
    """A check to write: to whom, the amount in cents and in English words."""

    pay_to: str
    cents: int
    words: str


@household_page(router, "GET", "/payrolls/{payroll_id}/receipt", permission=READ_PAYROLLS)
async def receipt(at: HouseholdContext) -> Response:
    """Show what is to be done now; of a payroll that was voided or failed, its own page."""
    say, language = at.say, at.visitor.language
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        if found.status in ("voided", "failed"):
            return at.go(f"/payrolls/{found.id}")
        facts = await money_facts(session, at, found)
        paychecks = paychecks_of(found)
        moving = await read_moving_money(session, found, at.clock.now())
        by_bank = moving is not None
        accounts = await bank_accounts(session, at.id, paychecks if by_bank else ())
        coming = await coming_payrolls(session, at.id, at.today, at.clock.now(), limit=_LOOKED_AT)
        paydays = (await read_next_paydays(session, [at.id])).get(at.id, ())
    names = facts["first_names"]
    state = state_of_stored(at, found)
    facts |= {
        "payroll": found,
        "paychecks": paychecks,
        "heading": receipt_heading(
            say, language, found.kind, paychecks, list(names.values()), found.dates.pay_date
        ),
        "by_bank": by_bank,
        "checks": checks_of(paychecks) if found.kind != "catch_up" else (),
        "in_cash": [each for each in paychecks if each.payment_method == "cash" and found.kind != "catch_up"],
        "state": state,
        "steps": timeline_of(say, language, found, moving, state=state, today=at.clock.today()),
        "account": account_words(say, accounts.household),
        "deposits": [
            (names[employee_id], account_words(say, account))
            for employee_id, account in (accounts.employees or {}).items()
        ],
        "next_payday": _next_payday(
            found.dates.pay_date,
            [(each.pay_date, f"/payrolls/{each.payroll_id}") for each in coming]
            + [(each.pay_date, "/autopilot" if each.autopilot else "/payrolls/new") for each in paydays],
        ),
        "has_pay_stubs": bool(found.paychecks) and found.status in HAS_PAY_STUBS,
        "correctable": is_correctable(found, at.clock.today()),
        "run_permission": RUN_PAYROLL,
        "paper_permission": OBTAIN_DOCUMENTS,
    }
    return at.show("payroll_receipt.html", facts)


def _next_payday(
    after: datetime.date, paydays: list[tuple[datetime.date, str]]
) -> tuple[datetime.date, str] | None:
    """Return the first payday after a day, and the path of the page that it is run or seen on."""
    return min((each for each in paydays if each[0] > after), default=None)


def checks_of(paychecks: Paychecks) -> list[CheckToWrite]:
    """Return the checks that the household writes."""
    return [
        CheckToWrite(each.employee_name, each.net_pay, check_words(each.net_pay))
        for each in paychecks
        if each.payment_method == "check" and each.net_pay > 0
    ]
