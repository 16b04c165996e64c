"""Every account that concerns the household, by state: its number, what to do about it, and how often it files."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_CALENDAR, KEEP_EIN, KEEP_REGISTRATIONS, READ_REGISTRATIONS
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.records import SaidOfDuties
from hearthpay.duties.rules import Account, duties_of
from hearthpay.duties.service import said_of_accounts
from hearthpay.employers.ein import ein_ending
from hearthpay.employers.service import find_employer
from hearthpay.insurance.service import HouseholdPolicy, policies_of_household
from hearthpay.registrations.accounts import StateAccount, accounts_of
from hearthpay.registrations.derivation import EVERY_ACCOUNT, Registration
from hearthpay.registrations.service import registrations_of_household
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.place import AtHousehold, household_page
from hearthpay.web.household.state_accounts.words import ACCOUNT_WORDS, FREQUENCY_WORDS, POLICY_WORDS

router: Final = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class FilingNow:
    """How often the household files under an account this year, and since when it is closed."""

    account: str
    frequency: str
    closed_on: datetime.date | None


@dataclass(frozen=True, slots=True)
class NumberRows:
    """The accounts of a state that go by one number."""

    rows: tuple[Registration, ...]
    first: Registration
    """The row by which the number is entered and shown."""

    account: StateAccount


@household_page(router, "GET", "/state-accounts", permission=READ_REGISTRATIONS)
async def state_accounts(at: AtHousehold) -> Response:
    """One card for each state, and one for the IRS."""
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        rows = await registrations_of_household(session, at.actor, at.clock, employer, include=EVERY_ACCOUNT)
        said = await said_of_accounts(session, at.actor, employer)
        ending = await ein_ending(session, employer)
        policies = await policies_of_household(session, at.actor, at.clock, employer)
    year = at.clock.today().year
    by_state: dict[str, list[Registration]] = {}
    for row in rows:
        by_state.setdefault(row.state, []).append(row)
    insured: dict[str, list[HouseholdPolicy]] = {state: [] for state in by_state}
    for policy in policies:
        insured.setdefault(policy.state, []).append(policy)
    facts = {
        "ein_status": employer.ein_status,
        "ein_ending": ending,
        "federal": _filings(FEDERAL, said, year),
        "states": [
            (state, STATES[state], _by_number(own), _filings(state, said, year))
            for state, own in ((state, by_state.get(state, [])) for state in sorted(insured))
        ],
        "policies": insured,
        "policy_words": POLICY_WORDS,
        "waiting": sum(1 for row in rows if row.status == "required"),
        "account_words": ACCOUNT_WORDS,
        "frequency_words": FREQUENCY_WORDS,
        "may_keep": at.may(KEEP_REGISTRATIONS),
        "may_keep_ein": at.may(KEEP_EIN),
        "may_choose": at.may(KEEP_CALENDAR),
    }
    return at.show("state_accounts/list.html", facts)


def frequency_of(said: SaidOfDuties, jurisdiction: str, account: Account, year: int) -> str:
    """Return how often the household files under an account in a year: as chosen last, else as the law begins."""
    chosen = [
        (each.since_year, each.frequency)
        for each in said.filings
        if (each.jurisdiction, each.account) == (jurisdiction, account.name) and each.since_year <= year
    ]
    return max(chosen)[1] if chosen else account.frequencies[0]


def _filings(jurisdiction: str, said: SaidOfDuties, year: int) -> list[FilingNow]:
    closed = {each.account: each.on for each in said.closed if each.jurisdiction == jurisdiction}
    return [
        FilingNow(each.name, frequency_of(said, jurisdiction, each, year), closed.get(each.name))
        for each in duties_of(jurisdiction).accounts
    ]


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
