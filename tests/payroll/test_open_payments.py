"""What is open about a payment on each day: no stage says that a day comes which has passed, in either language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args
from uuid import UUID

import pytest

from hearthpay.banking.calendar import add_banking_days, is_banking_day
from hearthpay.clock import BUSINESS_TIME
from hearthpay.languages.catalogue import weekday_in
from hearthpay.payroll.issues.open_payment_words import COMING, DAYS, SENTENCES, payment_text
from hearthpay.payroll.issues.open_payments import (
    DebitState,
    DepositState,
    OpenPayment,
    PaymentStage,
    arrival_of,
    debit_days_of,
    held_payout,
    open_payments_of,
)
from tests.cases import every_case

SENT_ON, RETRIED_ON = date(2026, 11, 23), date(2026, 11, 27)
"""A Monday, and the Friday after Thanksgiving: holidays and weekends are in the way of every day after them."""
PAID_ON = date(2026, 12, 1)
DAYS_LOOKED_AT = [SENT_ON + timedelta(days=day) for day in range(-10, 26)]
HOURS = (1, 9, 14, 16, 23)

_STATE = DebitState(
    payroll_id=UUID(int=1),
    employer_id=UUID(int=2),
    status="pending_funding",
    pay_date=PAID_ON,
    period_start=date(2026, 11, 16),
    period_end=date(2026, 11, 22),
    scheduled_send_at=None,
    expected=71_365,
    failure_kind=None,
    failure_code=None,
    awaits_approval=False,
    account="active",
    covered=True,
    amount=71_365,
    attempt=1,
    debit="pending",
    send_on=SENT_ON,
    settle_on=add_banking_days(SENT_ON, 1),
    effective_date=None,
    hold=None,
    last_four="6789",
    returned=None,
)
_SCHEDULED = _STATE._replace(
    status="scheduled",
    scheduled_send_at=datetime.combine(SENT_ON, datetime.min.time(), BUSINESS_TIME).replace(hour=15),
    amount=None,
    attempt=None,
    debit=None,
    send_on=None,
    settle_on=None,
)
_RETRY = _STATE._replace(
    attempt=2, send_on=RETRIED_ON, settle_on=add_banking_days(RETRIED_ON, 1), returned="R01"
)
_FAILED = _RETRY._replace(status="failed", debit="returned", failure_kind="debit_returned")


def _sent(state: DebitState) -> DebitState:
    return state._replace(debit="sent", effective_date=state.settle_on)


_DEPOSIT = DepositState(
    payroll_id=UUID(int=1),
    employee_id=UUID(int=3),
    first_name="Rita",
    released=False,
    paid_again=False,
    amount=70_000,
    credit="pending",
    hold=None,
    last_four="4321",
    action=None,
    until=None,
)
_RELEASED = _DEPOSIT._replace(released=True, credit=None)
_PROCESSING = _sent(_STATE)._replace(status="processing", debit="settled")
_UNTIL = date(2026, 12, 4)

STATES: dict[str, tuple[DebitState, tuple[DepositState, ...], int]] = {
    "scheduled": (_SCHEDULED, (), 0),
    "scheduled, not authorized": (_SCHEDULED._replace(covered=False), (), 0),
    "scheduled, account failed": (_SCHEDULED._replace(account="failed"), (), 0),
    "scheduled, not to be sent": (_SCHEDULED._replace(failure_kind="not_sent"), (), 0),
    "scheduled, to be approved": (_SCHEDULED._replace(awaits_approval=True), (), 0),
    "debit pending": (_STATE, (), 0),
    "debit pending, not authorized": (_STATE._replace(covered=False), (), 0),
    "debit pending, account verifying": (_STATE._replace(account="verifying"), (), 0),
    "debit pending, account failed": (_STATE._replace(account="failed", hold="account_failed"), (), 0),
    "debit pending, on our side": (_STATE._replace(hold="internal"), (), 0),
    "debit sent": (_sent(_STATE), (), 0),
    "debit tried again": (_RETRY, (), 0),
    "debit tried again, not authorized": (_RETRY._replace(covered=False), (), 0),
    "second debit sent": (_sent(_RETRY), (), 0),
    "debit returned for good": (_FAILED, (_RELEASED,), 0),
    "debit returned after the wages": (_FAILED._replace(status="completed"), (), 71_365),
    "collected": (_PROCESSING, (_DEPOSIT,), 0),
    "deposit sent": (_PROCESSING, (_DEPOSIT._replace(credit="sent"),), 0),
    "deposit on hold": (_PROCESSING, (_DEPOSIT._replace(hold="account_failed"),), 0),
    "deposit on hold, verifying": (_PROCESSING, (_DEPOSIT._replace(hold="account_verifying"),), 0),
    "deposit on hold, on our side": (_PROCESSING, (_DEPOSIT._replace(hold="name_not_readable"),), 0),
    "deposit waits": (
        _PROCESSING,
        (_DEPOSIT._replace(hold="account_failed", action="wait_for_account", until=_UNTIL),),
        0,
    ),
    "deposit returned": (
        _PROCESSING._replace(status="failed", failure_kind="deposit_returned"),
        (_RELEASED._replace(credit="returned"),),
        0,
    ),
    "deposit reversed": (
        _PROCESSING._replace(status="failed", failure_kind="deposit_reversed"),
        (_RELEASED._replace(credit="settled"),),
        0,
    ),
    "deposit refunded": (
        _PROCESSING._replace(status="failed", failure_kind="deposit_refunded"),
        (_RELEASED._replace(credit="cancelled"),),
        0,
    ),
    "not sent": (_SCHEDULED._replace(status="failed", failure_kind="not_sent"), (_RELEASED,), 0),
    "paid": (_PROCESSING._replace(status="completed"), (), 0),
    "voided": (_SCHEDULED._replace(status="voided"), (), 0),
}


def _moments() -> Iterator[datetime]:
    for day in DAYS_LOOKED_AT:
        for hour in HOURS:
            yield datetime(day.year, day.month, day.day, hour, tzinfo=BUSINESS_TIME).astimezone(UTC)


def _named(sentence: str) -> set[str]:
    return set(re.findall(r"{(\w+)}", sentence)) & set(DAYS)


PAST: dict[PaymentStage, tuple[str, ...]] = {"answer_awaited": ("debit_on",), "answer_late": ("debit_on",)}
"""The days that a stage's sentence says have passed."""


def test_every_day_in_a_sentence_is_known_to_come_or_to_have_passed() -> None:
    for stage, sentence in SENTENCES.items():
        known = {*COMING.get(stage, ()), *PAST.get(stage, ())}
        assert _named(sentence) <= known, stage
    assert set(SENTENCES) == set(get_args(PaymentStage))


def test_no_state_says_on_any_day_that_a_day_comes_which_has_passed() -> None:
    seen: set[PaymentStage] = set()
    with every_case() as case:
        for name, (state, deposits, owed) in STATES.items():
            for now in _moments():
                today = now.astimezone(BUSINESS_TIME).date()
                for payment in open_payments_of(state, deposits, owed, now):
                    seen.add(payment.stage)
                    with case(name, now.isoformat(), payment.stage):
                        _holds(payment, today)
    assert seen == set(get_args(PaymentStage))


def _holds(payment: OpenPayment, today: date) -> None:
    for name in COMING.get(payment.stage, ()):
        day = getattr(payment, name)
        if day is None:
            assert payment.stage == "authorize_held"
            continue
        assert day >= today, (name, day)
        assert is_banking_day(day) or name == "until"
        for language in ("en", "es"):
            assert weekday_in(language, day) in payment_text(payment, language)
    for name in PAST.get(payment.stage, ()):
        assert getattr(payment, name) < today, name
    if payment.kind == "debit_returned" and payment.arrives_on is not None:
        assert payment.answer_by is not None
        assert payment.arrives_on > payment.answer_by
    if payment.stage in ("leaves", "fund", "authorize") and payment.due_on is not None:
        assert payment.due_on >= today
    texts = {language: payment_text(payment, language) for language in ("en", "es")}
    assert texts["en"] != texts["es"]
    for text in texts.values():
        assert "{" not in text
        assert f"${payment.amount / 100:,.2f}" in text


@pytest.mark.parametrize(
    ("name", "day", "told"),
    [
        ("scheduled", "2026-11-22", []),
        ("scheduled", "2026-11-23", ["leaves"]),
        ("scheduled", "2026-11-24", ["leaves"]),
        ("debit sent", "2026-11-24", ["leaves"]),
        ("debit sent", "2026-11-25", []),
        ("debit tried again", "2026-11-25", ["fund"]),
        ("debit tried again", "2026-11-27", ["fund"]),
        ("second debit sent", "2026-11-27", ["fund"]),
        ("second debit sent", "2026-11-28", ["retry"]),
        ("second debit sent", "2026-11-30", ["retry"]),
        ("second debit sent", "2026-12-01", ["answer_awaited"]),
        ("second debit sent", "2026-12-02", ["answer_awaited"]),
        ("second debit sent", "2026-12-03", ["answer_late"]),
        ("debit returned for good", "2026-12-03", ["unpaid"]),
        ("scheduled, not authorized", "2026-11-20", ["authorize"]),
        ("debit pending, not authorized", "2026-11-24", ["authorize_held"]),
        ("deposit waits", "2026-12-04", ["waits"]),
        ("deposit waits", "2026-12-05", ["choose"]),
        ("scheduled, not to be sent", "2026-11-23", []),
        ("paid", "2026-12-01", []),
        ("voided", "2026-11-23", []),
    ],
)
def test_a_state_is_told_from_its_day_until_it_is_over(name: str, day: str, told: list[str]) -> None:
    state, deposits, owed = STATES[name]
    now = datetime.fromisoformat(f"{day}T12:00:00-05:00")
    assert [each.stage for each in open_payments_of(state, deposits, owed, now)] == told


def test_a_debit_that_no_worker_has_sent_leaves_with_the_next_file() -> None:
    late = datetime.fromisoformat("2026-11-30T09:00:00-05:00")
    days = debit_days_of(_RETRY, late)
    assert days is not None
    assert (days.fund_by, days.leaves_on, days.answer_by) == (
        date(2026, 11, 30),
        date(2026, 12, 1),
        date(2026, 12, 3),
    )
    assert arrival_of(_RETRY, days) == date(2026, 12, 4)


def test_the_words_are_those_that_the_household_plans_with() -> None:
    returned = _RETRY._replace(amount=90_610, send_on=date(2026, 12, 7), settle_on=date(2026, 12, 8))
    now = datetime.fromisoformat("2026-12-04T12:00:00-05:00")
    [payment] = open_payments_of(returned, (), 0, now)
    assert payment_text(payment, "en") == (
        "Put $906.10 in your account by Mon, Dec 7: we try again on Tue, Dec 8"
    )
    assert payment_text(payment, "es") == (
        "Deposite $906.10 en su cuenta a más tardar el lunes 7 de diciembre: "
        "lo intentamos de nuevo el martes 8 de diciembre"
    )
    due = replace(payment, stage="leaves", amount=71_365, debit_on=date(2026, 12, 1))
    assert payment_text(due, "en") == "$713.65 leaves your account on Tue, Dec 1"
    payout = held_payout(UUID(int=2), UUID(int=3), "Rita", 5_000, "4321", "account_failed")
    assert payment_text(payout, "en") == ("Choose how to pay Rita: the account ending 4321 can’t take $50.00")


def test_a_wage_that_a_later_payroll_or_a_check_pays_is_not_open() -> None:
    now = datetime.fromisoformat("2026-12-04T12:00:00-05:00")
    changes: list[dict[str, Any]] = [{"paid_again": True}, {"action": "pay_by_check"}, {"released": False}]
    for change in changes:
        assert open_payments_of(_FAILED, [_RELEASED._replace(**change)], 0, now) == []
