"""What a tax payment can be for: the household's accounts and their periods, with those that are open first."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hearthpay.duties.household import FEDERAL
from hearthpay.duties.payment_accounts import PaymentAccount, PaymentPeriod, accounts_of_agency
from hearthpay.filing.balances import AgencyBalance
from hearthpay.languages.catalogue import Say, mark
from hearthpay.taxes.agencies import Agency, agencies
from hearthpay.web.household.state_accounts.words import ACCOUNT_WORDS
from hearthpay.web.household.taxes.ledger_words import account_text, period_of, period_text
from hearthpay.web.presentation import money_text

_OPEN: Final = mark("{period}: {amount} open")
_YEARS_LISTED: Final = 2


@dataclass(frozen=True, slots=True)
class PaidFor:
    """An agency's account and the period that a payment is for."""

    agency: Agency
    account: str
    period: PaymentPeriod

    @property
    def value(self) -> str:
        """How the form names it."""
        return f"{self.agency.id}/{self.account}/{self.period.label}"


@dataclass(frozen=True, slots=True)
class PaymentChoices:
    """What the form offers: groups of values with their words, and what is open of each value, in cents."""

    groups: Mapping[str, list[tuple[str, str]]]
    open: Mapping[str, int] = field(default_factory=dict)


def paid_for(value: str) -> PaidFor | None:
    """Return what a value of the form names; None where the rules have no such agency, account or period."""
    agency_id, _, rest = value.partition("/")
    account, _, label = rest.partition("/")
    agency = agencies().get(agency_id)
    if agency is None:
        return None
    period = period_of(agency, account, label)
    return None if period is None else PaidFor(agency, account, period)


def payment_choices(
    balances: Sequence[AgencyBalance],
    state: str,
    today: datetime.date,
    asked: PaidFor | None,
    say: Say,
    language: str,
) -> PaymentChoices:
    """Return what a household can record a payment for: open periods, and others of this year and the last.

    ``asked`` is always among them.
    """
    open_by_value: dict[str, int] = {}
    found: dict[str, PaidFor] = {}
    for each in _owed(balances):
        if each[0].period.start <= today:
            found[each[0].value] = each[0]
            open_by_value[each[0].value] = each[1]
    states = {FEDERAL, state} | {balance.agency.state for balance in balances}
    used = {(one.agency.id, one.account) for one in found.values()}
    others = [
        one
        for one in _periods_of(states, today)
        if one.account in ACCOUNT_WORDS or (one.agency.id, one.account) in used
    ]
    for one in [*([] if asked is None else [asked]), *others]:
        found.setdefault(one.value, one)
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in sorted(found.values(), key=lambda each: _order(each, open_by_value)):
        words = f"{one.agency.name} · {period_text(one.period, say, language)}"
        cents = open_by_value.get(one.value, 0)
        if cents > 0:
            words = say(_OPEN, period=words, amount=money_text(cents))
        title = f"{one.agency.name} · {account_text(one.agency.state, one.account, say)}"
        groups.setdefault(title, []).append((one.value, words))
    return PaymentChoices(groups, open_by_value)


def _owed(balances: Sequence[AgencyBalance]) -> Iterator[tuple[PaidFor, int]]:
    for agency in balances:
        for balance in agency.periods:
            period = period_of(balance.agency, balance.account, balance.period)
            if period is not None:
                yield PaidFor(balance.agency, balance.account, period), balance.open


def _periods_of(states: set[str], today: datetime.date) -> Iterator[PaidFor]:
    """Yield the periods of this year and the last that have begun, for which agencies of the states are paid."""
    for agency in agencies().values():
        if agency.state in states:
            for account in accounts_of_agency(agency):
                for period in _begun(account, agency, today):
                    yield PaidFor(agency, account.name, period)


def _begun(account: PaymentAccount, agency: Agency, today: datetime.date) -> Iterator[PaymentPeriod]:
    for year in range(today.year, today.year - _YEARS_LISTED, -1):
        for label in account.labels(agency, year):
            period = account.period(label, agency)
            if period is not None and period.start <= today:
                yield period


def _order(one: PaidFor, open_by_value: Mapping[str, int]) -> tuple[bool, str, str, bool, int, int]:
    """By agency, the IRS first, and account; of each, what is open first, then the latest."""
    return (
        one.agency.state != FEDERAL,
        one.agency.name,
        one.account,
        open_by_value.get(one.value, 0) <= 0,
        -one.period.end.toordinal(),
        -one.period.start.toordinal(),
    )
