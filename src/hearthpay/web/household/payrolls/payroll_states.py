"""A payroll's state in words: "Paid", or "To hand over on Sun, Dec 6" for a check that is dated ahead."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import cast

from hearthpay.payroll.display_status import TO_HAND_OVER, display_payment_status, display_status
from hearthpay.payroll.issues.payment_status import PaymentStatus
from hearthpay.payroll.ledger.rows import StoredPayroll
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.search import FoundPayroll
from hearthpay.web.household.context import HouseholdContext
from hearthpay.web.presentation import day_text
from hearthpay.web.status_words import Tone, status_word


@dataclass(frozen=True, slots=True)
class ShownState:
    """A state in the visitor's language, its tone, and whether somebody still has to hand over the pay."""

    text: str
    tone: Tone
    to_hand_over: bool = False


def state_of_payroll(at: HouseholdContext, payroll: Payroll | FoundPayroll) -> ShownState:
    """Return the state of a payroll of a list or of a search."""
    return _of(
        at,
        payroll.status,
        payroll.pay_date,
        direct_deposit=payroll.direct_deposit,
        handed_over_at=payroll.handed_over_at,
    )


def state_of_stored(at: HouseholdContext, payroll: StoredPayroll) -> ShownState:
    """Return the state of a payroll with everything in it."""
    return _of(
        at,
        payroll.status,
        payroll.dates.pay_date,
        direct_deposit=payroll.direct_deposit,
        handed_over_at=payroll.handed_over_at,
    )


def state_of_payment(
    at: HouseholdContext, payroll: StoredPayroll, status: PaymentStatus, method: str
) -> ShownState:
    """Return the state of one paycheck's money; ``method`` is how it is paid."""
    pay_date = payroll.dates.pay_date
    shown = display_payment_status(
        status,
        method=method,
        pay_date=pay_date,
        handed_over=payroll.handed_over_at is not None,
        today=at.today,
    )
    return _in_words(at, "payment", shown, pay_date)


def _of(
    at: HouseholdContext,
    status: str,
    pay_date: datetime.date,
    *,
    direct_deposit: bool,
    handed_over_at: datetime.datetime | None,
) -> ShownState:
    shown = display_status(
        cast(PayrollStatus, status),
        direct_deposit=direct_deposit,
        pay_date=pay_date,
        handed_over=handed_over_at is not None,
        today=at.today,
    )
    return _in_words(at, "payroll", shown, pay_date)


def _in_words(at: HouseholdContext, kind: str, shown: str, pay_date: datetime.date) -> ShownState:
    known = status_word(kind, shown)
    day = day_text(at.visitor.language, "weekday", pay_date)
    return ShownState(at.say(known.word, day=day), known.tone, shown == TO_HAND_OVER)
