"""Payroll issues in the reader's language: for pages and mails alike, from codes, never from a sentence.

In English it is what the API shows at the same moment. In another language the words follow from the kind of event,
its code and the payroll's state; text from a certificate or a bank's own file isn't repeated there.
"""

from __future__ import annotations

from typing import Final

from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.issues.advice import hold_reason, reason_of, what_to_do
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.payroll.issues.payment_status import Outcome, PaymentIssue

_HAPPENED: Final[dict[FailureKind, str]] = {
    "not_sent": mark("The payroll could not be sent: {reason}."),
    "debit_returned": mark("Your bank returned the debit: {reason}."),
    "wages_not_covered": mark("Your bank returned the debit after the wages were paid: {reason}."),
    "deposit_returned": mark("The employee's bank returned a direct deposit: {reason}."),
    "deposit_reversed": mark("A direct deposit is being reversed from the employee's account: {reason}."),
    "reversal_returned": mark("A direct deposit sent by mistake couldn't be reversed: {reason}."),
    "held": mark("A payment is on hold: {reason}."),
    "bank_unreachable": mark("We can't reach the bank. A payment is waiting."),
    "delayed": mark("The payroll was to be sent and has not been."),
    "year_passed": mark(
        "A direct deposit could not be sent in time to arrive in its year. What was collected for it goes back to "
        "you."
    ),
    "debit_expired": mark(
        "The debit could not be sent: there was no account, or no authorization to debit it, until the pay date."
    ),
    "deposit_refunded": mark(
        "A direct deposit could not be sent. What was collected for it goes back to you."
    ),
}
"""What happened, for languages other than that of the payroll's own text."""

_SEE_THERE: Final = mark("Open the payroll in Hearthpay to see your options.")


def reason_text(say: Say, language: str, issue: PaymentIssue) -> str:
    """Return the reason in a few words."""
    if issue.case.hold is not None:
        return say(hold_reason(issue.case.hold))
    return issue.reason if language == "en" else say(reason_of(issue.code))


def happened_text(say: Say, language: str, issue: PaymentIssue) -> str:
    """Return what happened, in a sentence."""
    if language == "en":
        return issue.message
    reason = reason_text(say, language, issue)
    return say(_HAPPENED[issue.kind], reason=f"{reason[0].lower()}{reason[1:]}")


def action_text(say: Say, language: str, issue: PaymentIssue) -> str:
    """Return what to do now."""
    if language == "en":
        return issue.what_to_do
    return what_to_do(issue.case, language) or say(_SEE_THERE)


def outcome_text(say: Say, outcome: Outcome) -> str:
    """Return why a paycheck's money didn't arrive as usual."""
    if outcome.hold is not None:
        return say(hold_reason(outcome.hold))
    return say(outcome.reason if outcome.code is None else reason_of(outcome.code))
