"""What the ledger of tax payments is called on pages: accounts, periods, methods of payment, and items by their key."""

import datetime
from collections.abc import Mapping
from typing import Final

from hearthpay.duties.payment_accounts import PaymentPeriod, account_names, payment_accounts
from hearthpay.duties.periods import Partition
from hearthpay.duties.rules import HouseholdDuty, duties_of
from hearthpay.duties.titles import months_text
from hearthpay.filing.commands import TaxPaymentMethod
from hearthpay.languages.catalogue import Say, mark
from hearthpay.taxes.agencies import Agency
from hearthpay.web.household.state_accounts.words import ACCOUNT_WORDS
from hearthpay.web.presentation import day_text

METHOD_WORDS: Final[Mapping[TaxPaymentMethod, str]] = {
    "bank_account": mark("Bank account"),
    "card": mark("Card"),
    "check": mark("Check"),
    "wire": mark("Wire transfer"),
    "cash": mark("Cash"),
    "other": mark("Another way"),
}

_FEDERAL_ACCOUNT: Final = mark("Household employment taxes")
_PAYROLL_TAXES: Final = mark("Payroll taxes")
_INCOME_TAX: Final = "-SIT"
_LOCAL: Final = mark("Local tax")
_UNTIL: Final = mark("Paydays up to {day}")
_ACCOUNTS: Final = {**ACCOUNT_WORDS, "estimated-tax": _FEDERAL_ACCOUNT}


def account_text(jurisdiction: str, account: str, say: Say) -> str:
    """Return the name of an account that taxes are paid to; a local one by its own name, where it has one.

    An account of unemployment insurance to which the state's income tax is paid, too, is one of payroll taxes.
    """
    if account == "sui" and _has_income_tax(jurisdiction):
        return say(_PAYROLL_TAXES)
    known = _ACCOUNTS.get(account)
    if known is not None:
        return say(known)
    try:
        label = duties_of(jurisdiction).account(account).label
    except KeyError:
        label = None
    return f"{say(_LOCAL)}: {say(label) if label else account.replace('-', ' ')}"


def _has_income_tax(jurisdiction: str) -> bool:
    names = account_names(jurisdiction)
    duties = (duty for duty in duties_of(jurisdiction).duties if names.get(duty.id) == "sui")
    return any(line.endswith(_INCOME_TAX) for duty in duties for line in duty.lines)


def period_of(agency: Agency, account: str, label: str) -> PaymentPeriod | None:
    """Return the period of this name for which an agency is paid; None where there is none."""
    found = payment_accounts(agency.state).get(account)
    return None if found is None else found.period(label, agency)


def period_text(period: PaymentPeriod, say: Say, language: str) -> str:
    """Return a period in words: "July–September 2026", "October 2026", "2026", or the last of its paydays."""
    if _is_payday(period):
        return say(_UNTIL, day=day_text(language, "date", period.end))
    return months_text(period.start, period.end, language)


def item_text(key: str, say: Say) -> str:
    """Return what the calendar's item of this key asks for; the key itself where the rules have no such duty now."""
    duty = _duty(key)
    return key if duty is None else say(duty.what)


def item_period_text(key: str, say: Say, language: str) -> str | None:
    """Return the period of an item in words; None for what has none, such as the report of a hire."""
    duty, label = _duty(key), key.split("/")[2]
    if duty is None or not isinstance(duty.partition, Partition) or not label[:4].isdecimal():
        return None
    for period in duty.partition.periods(int(label[:4])):
        if period.label == label:
            return period_text(PaymentPeriod(label, period.start, period.end), say, language)
    return None


def _duty(key: str) -> HouseholdDuty | None:
    jurisdiction, duty_id = key.split("/")[:2]
    return next((each for each in duties_of(jurisdiction).duties if each.id == duty_id), None)


def days_late(due: datetime.date | None, today: datetime.date) -> int:
    """Return by how many days a due date has passed; 0 where it has not."""
    return 0 if due is None else max((today - due).days, 0)


def _is_payday(period: PaymentPeriod) -> bool:
    return period.label == period.end.isoformat() or period.end == period.start
