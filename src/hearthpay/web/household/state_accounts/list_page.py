"""Every account that concerns the household, by state: its number, what to do about it, and how often it files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import (
    KEEP_CALENDAR,
    KEEP_EIN,
    KEEP_REGISTRATIONS,
    KEEP_SUI_RATES,
    READ_REGISTRATIONS,
)
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.service import AccountFiling, account_filings
from hearthpay.employers.assigned_rates import kept_rates, years_to_assign
from hearthpay.employers.ein import ein_ending
from hearthpay.employers.service import find_employer
from hearthpay.insurance.service import HouseholdPolicy, policies_of_household
from hearthpay.registrations.accounts import StateAccount, accounts_of
from hearthpay.registrations.derivation import EVERY_ACCOUNT, Registration
from hearthpay.registrations.service import registrations_of_household
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.todos.account_rows import to_dos_of_registrations
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.state_accounts.words import (
    ACCOUNT_WORDS,
    FREQUENCY_WORDS,
    POLICY_WORDS,
    reason_text,
)
from hearthpay.web.presentation import money_text

router: Final = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class FilingNow:
    """An account's filing frequency, the reason, and a warning if it will soon change."""

    filing: AccountFiling
    why: str
    near: str | None


@dataclass(frozen=True, slots=True)
class NumberRows:
    """The accounts of a state that share one number."""

    rows: tuple[Registration, ...]
    first: Registration
    """The row by which the number is entered and shown."""

    account: StateAccount


@household_page(router, "GET", "/state-accounts", permission=READ_REGISTRATIONS)
async def state_accounts(at: HouseholdContext) -> Response:
    """Show one card for each state, and one for the IRS."""
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        rows = await registrations_of_household(session, at.actor, at.clock, employer, include=EVERY_ACCOUNT)
        ending = await ein_ending(session, employer)
        policies = await policies_of_household(session, at.actor, at.clock, employer)
        concerned = sorted({row.state for row in rows} | {policy.state for policy in policies})
        filed = await account_filings(session, at.actor, at.clock, employer, (FEDERAL, *concerned))
        rates = await kept_rates(session, at.id, years_to_assign(at.clock.today()))
    filings = _shown(at, filed)
    by_state: dict[str, list[Registration]] = {}
    for row in rows:
        by_state.setdefault(row.state, []).append(row)
    insured: dict[str, list[HouseholdPolicy]] = {state: [] for state in by_state}
    for policy in policies:
        insured.setdefault(policy.state, []).append(policy)
    facts = {
        "ein_status": employer.ein_status,
        "ein_ending": ending,
        "federal": filings.get(FEDERAL, []),
        "states": [
            (state, STATES[state], _by_number(own), filings.get(state, []))
            for state, own in ((state, by_state.get(state, [])) for state in sorted(insured))
        ],
        "policies": insured,
        "policy_words": POLICY_WORDS,
        "waiting": sum(1 for each in to_dos_of_registrations(at.id, rows) if each.kind == "register"),
        "rates": rates,
        "year": at.clock.today().year,
        "account_words": ACCOUNT_WORDS,
        "frequency_words": FREQUENCY_WORDS,
        "may_keep": at.may(KEEP_REGISTRATIONS),
        "may_keep_ein": at.may(KEEP_EIN),
        "may_keep_rates": at.may(KEEP_SUI_RATES),
        "may_choose": at.may(KEEP_CALENDAR),
    }
    return at.show("state_accounts/list.html", facts)


def _shown(at: HouseholdContext, found: Iterable[AccountFiling]) -> dict[str, list[FilingNow]]:
    """Return the filings by jurisdiction; a local tax is included only if it is, or was, paid."""
    shown: dict[str, list[FilingNow]] = {}
    for each in found:
        if each.account.label and not each.concerns:
            continue
        why, near = reason_text(each.reason, at.say, money_text)
        shown.setdefault(each.jurisdiction, []).append(FilingNow(each, why, near))
    return shown


def _by_number(rows: list[Registration]) -> list[NumberRows]:
    numbers: dict[str, list[Registration]] = {}
    for row in rows:
        numbers.setdefault(row.number_id, []).append(row)
    found = []
    for own in numbers.values():
        first = next((row for row in own if row.required), own[0])
        account = accounts_of(first.state).account(first.account_id)
        assert account is not None, "a row is of an account"
        found.append(NumberRows(tuple(own), first, account))
    return found
