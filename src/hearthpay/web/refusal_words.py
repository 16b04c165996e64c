"""What a page says of a refusal, and beside a field: sentences of the catalogues, by the code of what is wrong.

A refusal without a translation is shown with the sentence of its code: no page shows English to somebody who reads
another language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hearthpay.access.refusal import Problem, Refusal, RefusalCode
from hearthpay.languages.catalogue import Sentence, mark
from hearthpay.taxes.message_texts import ENGLISH
from hearthpay.taxes.messages import Message

REQUIRED: Final = mark("Fill in this field.")
SECRET_NUMBER: Final = mark("This looks like a Social Security or bank account number. Don't enter it here.")
REVIEW: Final = mark("Review what you entered here.")

ON_FORMS: Final[Mapping[str, str]] = {
    "required": REQUIRED,
    "secret_number": SECRET_NUMBER,
    "out_of_range": mark("Enter a number from {minimum} to {maximum}."),
    "too_many_decimals": mark("Use at most {places} decimals."),
    "below_regular_rate": mark("Enter at least the regular hourly rate."),
    "pay_above_overtime_rate": mark("This is more than the overtime rate of ${rate}. Change both."),
    "salary_above_overtime_rate": mark(
        "By the hour, this is more than the overtime rate of ${rate}. Change both."
    ),
    "starts_after_last_day": mark("Enter a date on or before the last day, {day}."),
    "starts_in_earlier_employment": mark("Enter a date after the last day of the earlier job, {day}."),
    "starts_before_last_day": mark("Enter a date after the last day, {day}."),
    "ends_before_first_day": mark("Enter a date on or after the first day, {day}."),
    "policy_ends_before_start": mark("Enter a date on or after the first day."),
    "not_printable": mark("Enter 1 to {longest} characters."),
    "wait_day_needed": mark("Choose the last day for another account."),
    "wait_day_out_of_range": mark("Choose a day after today, and no later than {latest}."),
    "refund_year_not_over": mark(
        "You can refund FICA of {year} from December on, or once the job has ended."
    ),
    "refund_wages_reach_threshold": mark(
        "Wages of {year} are ${wages} and reach the threshold of ${threshold}. Social Security and Medicare are due."
    ),
    "refund_nothing_withheld": mark(
        "No Social Security and Medicare of {year} were withheld here. There is nothing to refund."
    ),
    "period_too_long": mark("Choose a period of at most {days} days."),
    "banks_closed_before_period": mark(
        "Banks are closed that day. The business day before it, {day}, is before the pay period."
    ),
    "deposit_too_large": mark("A direct deposit can be at most ${most}."),
    "debit_too_large": mark("The bank debit can be at most ${most} in total."),
    "hours_of_salaried": mark("Enter 0. This employee is paid a salary."),
    "hours_of_hourly": mark("Enter hours. This employee is paid by the hour."),
    "more_hours_than_schedule": mark("Enter at most {hours} hours. The pay period has no more."),
    "change_too_far": mark("Choose a date within two years of today."),
    "change_not_first_day": mark("Choose the first day of a pay period that isn't decided yet."),
    "autopilot_not_eligible": mark(
        "Autopilot can't pay this employee yet. See the reasons on the Autopilot page."
    ),
    "autopilot_period_passed": mark("The period of {day} is no longer the next one. Nothing was skipped."),
    "autopilot_payroll_decided": mark("This payroll isn't on hold anymore."),
    "payout_without_account": mark(
        "{name} has no active bank account to pay to. Connect one, or pay it by hand."
    ),
    "not_a_pay_period": mark(
        "{days} days do not fit how often you pay: split the period, or change how often"
    ),
}
"""What forms say beside a field, and pages of a refusal, by the code of what is wrong, with its parameters."""

BY_CODE: Final[Mapping[RefusalCode, str]] = {
    "scope_required": mark("You don't have permission. Ask an owner to change your role."),
    "subscription_required": mark("Your plan doesn't include this. Ask your administrator to upgrade it."),
    "plan_limit_reached": mark(
        "Your plan doesn't allow more of these. Your administrator can change the plan."
    ),
    "clock_advancing": mark(
        "The clock of this test household is moving forward. Nothing was saved. Try again when it has arrived."
    ),
}
"""Sentences for pages in place of messages meant for programs."""

_NOT_POSSIBLE: Final = mark("This isn't possible now. Reload the page to see what has changed.")
_NOT_FOUND: Final = mark("We couldn't find that.")
_NOT_DONE: Final = mark("That didn't work. Nothing was saved.")

OTHERWISE: Final[Mapping[RefusalCode, str]] = {
    "validation_error": REVIEW,
    "invalid_state": _NOT_POSSIBLE,
    "confirmation_required": mark("Confirm this first. Nothing was saved."),
    "amounts_changed": mark("The amounts have changed. Review them again."),
    "duplicate_employee": mark("You already have an active employee with this name."),
    "employee_not_started": mark("The employee had not started yet in this pay period."),
    "employee_incomplete": mark("Something is missing on the employee's page. Add it first."),
    "employee_not_in_household": _NOT_FOUND,
    "not_found": _NOT_FOUND,
    "household_forbidden": _NOT_FOUND,
    "gone": mark("This link has expired. Ask for a new one."),
    "invitation_too_soon": mark("We sent an invitation less than 24 hours ago. Try again tomorrow."),
    "direct_deposit_unavailable": mark(
        "Direct deposit can't be used here yet: an account is missing or still being verified."
    ),
    "document_not_available": mark("This document isn't available yet."),
    "unsupported_tax_year": mark("We don't have the tax rules of this year."),
    "unsupported_jurisdiction": mark("We don't have tax rules for this place yet."),
    "rate_limited": mark("Too many attempts. Wait a moment and try again."),
    "service_unavailable": mark("This doesn't work right now. Try again in a moment."),
    "tax_year_not_final": mark("Some tax figures of this year aren't published yet."),
    "authentication_required": mark("Sign in again."),
}
"""What pages in another language show for a refusal without a translation; other codes get `_NOT_DONE`."""


def problem_on_page(problem: Problem) -> str:
    """Return a field's problem in the words of pages: a sentence of the catalogs."""
    if problem.coded_message is None:
        return problem.message if isinstance(problem.message, Sentence) else _plain(problem.message, REVIEW)
    return _sentence(problem.coded_message, REVIEW)


def refusal_on_page(refusal: Refusal) -> str:
    """Return what a page says of a refusal: a sentence of the catalogues."""
    known = BY_CODE.get(refusal.code)
    if known is not None:
        return known
    otherwise = OTHERWISE.get(refusal.code, _NOT_DONE)
    return (
        _plain(refusal.message, otherwise)
        if refusal.coded_message is None
        else _sentence(refusal.coded_message, otherwise)
    )


def refusal_above_form(refusal: Refusal) -> str:
    """Return the same for a form: in English with the API's own figures, such as how many the plan allows."""
    known = BY_CODE.get(refusal.code)
    return _plain(refusal.message, known) if known is not None else refusal_on_page(refusal)


def _sentence(message: Message, otherwise: str) -> Sentence:
    words = ON_FORMS.get(message.code)
    if words is None:
        parts = any(isinstance(value, tuple) for _, value in message.params)
        return (
            _plain(message.text, otherwise)
            if parts
            else Sentence(ENGLISH[message.code], dict(message.params), otherwise=otherwise)
        )
    return Sentence(words, dict(message.params), otherwise=otherwise)


def _plain(words: str, otherwise: str) -> Sentence:
    return Sentence(words, otherwise=otherwise)


def above_the_form(problem: Problem) -> str:
    """Return what is wrong with a field that a form does not have; of a path only its last name is said."""
    sentence = problem_on_page(problem)
    name = problem.field.rpartition("].")[2]
    if not isinstance(sentence, Sentence) or problem.coded_message is not None or "[" in name:
        return sentence
    return Sentence(f"{name}: {sentence.words}", otherwise=sentence.otherwise)
