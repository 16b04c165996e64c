"""Pages and mails say why a payroll can't continue from its code and state, never in the English that is stored."""

from __future__ import annotations

import datetime
from typing import Any
from uuid import UUID

import pytest

from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.issues import failures
from hearthpay.payroll.issues.advice import Circumstances
from hearthpay.payroll.issues.failures import REVERSED_FOR, FailureKind, StoredFailure
from hearthpay.payroll.issues.payment_status import PaymentIssue
from hearthpay.payroll.issues.wording import action_text, happened_text, reason_text
from tests.cases import every_case

STORED = "Stored in English only."
UNTIL = datetime.datetime(2026, 12, 8, 20, tzinfo=datetime.UTC)


def _issue(
    kind: FailureKind, code: str, *, until: datetime.datetime | None = None, **more: Any
) -> PaymentIssue:
    case = Circumstances(kind, code, "failed", stored=STORED, tax_year=2026, **more)
    return PaymentIssue(kind, code, STORED, STORED, STORED, None, until, (), case)


def _words(issue: PaymentIssue, language: str) -> tuple[str, str, str]:
    say = say_in(language)
    return reason_text(say, issue), happened_text(say, language, issue), action_text(say, language, issue)


@pytest.mark.parametrize(
    "failure",
    [
        failures.account_not_ready(),
        failures.authorization_missing(),
        failures.confirmation_missing(),
        failures.debit_expired(),
        failures.deposit_refunded(()),
        failures.employees_without_account(()),
        failures.employee_left(UUID(int=1)),
        failures.law_not_final(2026),
        failures.year_passed(2026, None, ()),
        failures.internal(),
    ],
    ids=lambda each: each.code,
)
def test_english_says_what_the_api_answers_and_spanish_says_it_too(failure: StoredFailure) -> None:
    issue = _issue(failure.kind, failure.code, followed=False if failure.kind == "year_passed" else None)
    reason, happened, _ = _words(issue, "en")
    assert happened == failure.message
    assert reason == failure.reason
    for each in _words(issue, "es"):
        assert STORED not in each
        assert each
    assert not set(_words(issue, "es")) & set(_words(issue, "en"))


FAILURES = [
    ("debit_returned", "R01"),
    ("wages_not_covered", "R02"),
    ("deposit_returned", "R03"),
    ("deposit_reversed", "reversed"),
    ("reversal_returned", "R06"),
    ("reversal_returned", "reversal_too_late"),
    ("debit_expired", "debit_expired"),
    ("deposit_refunded", "deposit_refunded"),
    ("not_sent", "not_calculable"),
    ("not_sent", "unsupported_jurisdiction"),
    ("not_sent", "internal_error"),
]


def test_nothing_stored_is_repeated() -> None:
    with every_case() as case:
        for kind, code in FAILURES:
            for language in ["en", "es"]:
                with case(kind, code, language):
                    for each in _words(_issue(kind, code), language):
                        assert STORED not in each
                        assert "{" not in each


def test_a_deposit_that_missed_its_year_names_the_year_and_what_follows() -> None:
    followed = _issue("year_passed", "year_passed", followed=True)
    alone = _issue("year_passed", "year_passed", followed=False)
    assert _words(alone, "en")[0] == "Not sent in time for 2026"
    assert _words(followed, "en")[2].startswith("No action needed. Another payroll collects and pays them")
    assert _words(alone, "en")[2].startswith("Run the payroll again with a pay date in the new year")
    assert _words(_issue("year_passed", "year_passed"), "en")[2] == STORED, (
        "a row from before says only what it stored"
    )
    assert "Hearthpay" in _words(_issue("year_passed", "year_passed"), "es")[2]


def test_a_reversed_deposit_says_why_and_whether_it_is_done() -> None:
    for reason, words in REVERSED_FOR.items():
        done = _issue("deposit_reversed", "reversed", reversed_for=reason)
        assert _words(done, "en")[0] == words
        assert "was reversed from the employee's account" in _words(done, "en")[1]
        going_on = _issue("deposit_reversed", "reversed", until=UNTIL, reversed_for=reason)
        assert "is being reversed" in _words(going_on, "en")[1]
        assert words not in _words(done, "es")[0]


def test_what_the_words_need_is_stored_beside_the_code() -> None:
    following = UUID(int=5)
    assert failures.year_passed(2026, following, ()).as_json()["followed_by"] == str(following)
    assert failures.year_passed(2026, None, ()).as_json()["followed_by"] is None
    assert "followed_by" not in failures.internal().as_json()
    reversed_ = StoredFailure("reversed", "", "", kind="deposit_reversed", reversed_for="duplicate")
    assert reversed_.as_json()["reversed_for"] == "duplicate"
