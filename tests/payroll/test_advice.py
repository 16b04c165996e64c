"""What households are told to do names nothing that the payroll's state refuses, whatever happened."""

import datetime
import itertools
from typing import get_args
from uuid import UUID

import pytest

from hearthpay.banking.holds import HoldCode
from hearthpay.banking.return_codes import return_codes
from hearthpay.payroll.issues.advice import Circumstances, WayOut, hold_of, reason_of, what_to_do
from hearthpay.payroll.issues.attempts import MOST_ATTEMPTS, given_up_at, pause_after
from hearthpay.payroll.issues.failures import FOR_THE_OPERATOR, FailureKind
from hearthpay.payroll.issues.open_payment_words import payment_text
from hearthpay.payroll.issues.open_payments import OpenPayment
from hearthpay.payroll.lifecycle import STATUSES

NEXT = datetime.datetime(2026, 11, 24, 20, tzinfo=datetime.UTC)
OURS = (
    "bank_account_not_ready",
    "employee_account_not_ready",
    "employee_left",
    "not_calculable",
    "tax_year_not_final",
    "unsupported_jurisdiction",
    "internal_error",
    "payment_held",
    "not_authorized",
    "bank_unreachable",
    "not_sent_yet",
    "reversed",
)
CODES = (*OURS, *return_codes().reasons, "R99")


RETRY = OpenPayment(
    employer_id=UUID(int=1),
    kind="debit_returned",
    stage="fund",
    amount=90_610,
    fund_by=datetime.date(2026, 11, 24),
    debit_on=datetime.date(2026, 11, 25),
)


@pytest.mark.parametrize("kind", [kind for kind in get_args(FailureKind) if kind != "year_passed"])
def test_nothing_is_named_that_is_not_open(kind: FailureKind):
    available_actions = [frozenset[WayOut](), frozenset[WayOut]({"void"}), frozenset(get_args(WayOut))]
    for code, status, next_try, ways in itertools.product(CODES, STATUSES, (None, NEXT), available_actions):
        again = RETRY if next_try is not None and status not in ("failed", "voided") else None
        told = what_to_do(
            Circumstances(kind, code, status, next_try, ways, stored="Contact support.", retry=again)
        )
        assert told.endswith("."), (code, status)
        words = told.lower()
        case = (kind, code, status, next_try, ways, told)
        assert "void the payroll" not in words or "void" in ways, case
        assert "pay it by check" not in words or "pay_by_check" in ways, case
        assert "refunded" not in words or "refund" in ways, case
        assert "until a day that you choose" not in words or "wait_for_account" in ways, case
        if status == "failed" and kind in ("debit_returned", "not_sent"):
            for promise in ("try the debit again", "try again", "automatically", "more times"):
                assert promise not in words, case
        if status not in ("failed", "voided") and kind == "debit_returned" and next_try is not None:
            assert payment_text(RETRY, "en") in told, case


def test_every_code_of_ours_and_the_bank_s_has_words():
    for code in (*OURS, *return_codes().reasons):
        assert reason_of(code)[0].isupper()
        assert reason_of(code) != return_codes().other.title


@pytest.mark.parametrize(
    ("hold", "code", "told"),
    [
        ("account_failed", "employee_account_not_ready", "The bank account cannot be used"),
        (
            "account_verifying",
            "employee_account_not_ready",
            "The bank account is still being verified",
        ),
        ("not_authorized", "not_authorized", "The debit is not authorized"),
        ("internal", "payment_held", "A problem on our side. Your administrator has been notified"),
    ],
)
def test_a_hold_is_told_without_what_only_the_operator_knows(hold: HoldCode, code: str, told: str):
    assert hold_of(hold, of_household=False) == (code, told)


def test_the_last_attempt_is_known_from_the_first():
    """1 + 4 + 16 + 64 + 256 + 480 + 480 minutes of pauses between eight attempts."""
    began = datetime.datetime(2026, 11, 27, 20, tzinfo=datetime.UTC)
    pauses = [pause_after(each, "not_calculable") for each in range(MOST_ATTEMPTS - 1)]
    assert [int(pause.total_seconds() // 60) for pause in pauses] == [1, 4, 16, 64, 256, 480, 480]
    last = began + datetime.timedelta(minutes=1301)
    for failed in range(1, MOST_ATTEMPTS):
        following = began + sum(pauses[:failed], datetime.timedelta())
        assert given_up_at(following, failed, "not_calculable") == last


@pytest.mark.parametrize("code", sorted(FOR_THE_OPERATOR))
def test_what_the_household_cannot_mend_is_tried_every_hour_and_never_given_up(code: str):
    minutes = [int(pause_after(each, code).total_seconds() // 60) for each in range(6)]
    assert minutes == [1, 4, 16, 60, 60, 60]
    assert pause_after(30_000, code) == datetime.timedelta(hours=1)
    assert given_up_at(NEXT, 500, code) is None
    case = Circumstances("not_sent", code, "scheduled", NEXT, frozenset({"void"}))
    assert ("by check" in what_to_do(case)) == (code == "internal_error")
