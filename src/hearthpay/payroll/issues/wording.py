"""Payroll issues in the reader's language: for pages and mails alike, from codes, never from a stored sentence.

The words follow from the kind of event, its code and the payroll's state. English text that is stored with a payroll
is the API's; text from a certificate or a bank's own file isn't repeated.
"""

from __future__ import annotations

from typing import Final

from hearthpay.banking.return_codes import return_codes
from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.issues import failures
from hearthpay.payroll.issues.advice import advice_after, hold_reason, reason_of, what_to_do
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
"""What happened, where there is no sentence for the code."""

_REVERSED: Final = mark(
    "A direct deposit was reversed from the employee's account: {reason}. What was collected for it goes back to you."
)
_WAGES_WERE_PAID: Final = "The wages had been paid by then and cannot be called back."
_SENTENCES: Final[dict[str, str]] = {
    "bank_account_not_ready": failures.ACCOUNT_NOT_READY,
    "authorization_missing": failures.AUTHORIZATION_MISSING,
    "confirmation_missing": failures.CONFIRMATION_MISSING,
    "debit_expired": failures.DEBIT_EXPIRED,
    "deposit_refunded": failures.DEPOSIT_REFUNDED,
    "employee_account_not_ready": failures.EMPLOYEE_ACCOUNT_NOT_READY,
    "employee_left": failures.EMPLOYEE_LEFT,
    "tax_year_not_final": failures.FIGURES_MISSING,
    "year_passed": failures.YEAR_PASSED,
    "internal_error": failures.INTERNAL,
}
"""What happened, by the code of a stored failure; `year` is the payroll's tax year."""

_BY_CODE: Final = frozenset({"not_sent", "debit_expired", "deposit_refunded", "year_passed"})
_BY_BANK: Final = frozenset({"debit_returned", "wages_not_covered", "deposit_returned"})
_NEVER_STORED: Final = frozenset({"held", "bank_unreachable", "delayed"})
_RUN_IN_NEW_YEAR: Final = mark("Run the payroll again with a pay date in the new year, or pay by check.")
_PAID_IN_NEW_YEAR: Final = mark(
    "No action needed. Another payroll collects and pays them under the law of the new year."
)
_SEE_THERE: Final = mark("Open the payroll in Hearthpay to see your options.")


def reason_text(say: Say, issue: PaymentIssue) -> str:
    """Return the reason in a few words."""
    case = issue.case
    if case.hold is not None:
        return say(hold_reason(case.hold))
    if case.code == "year_passed" and case.tax_year is not None:
        return say(failures.NOT_IN_YEAR, year=case.tax_year)
    if case.reversed_for in failures.REVERSED_FOR:
        return say(failures.REVERSED_FOR[case.reversed_for])
    return say(reason_of(case.code))


def happened_text(say: Say, language: str, issue: PaymentIssue) -> str:
    """Return what happened, in a sentence."""
    case = issue.case
    if case.kind in _NEVER_STORED and language == "en":
        return issue.message  # made from the payroll's state just now, with its times
    if case.code in _SENTENCES and case.kind in _BY_CODE:
        return say(_SENTENCES[case.code], year=case.tax_year)
    if case.kind in _BY_BANK and language == "en":  # the table of the banks' codes is in English
        debit = case.kind != "deposit_returned"
        happened = return_codes().reason(case.code).explain(debit=debit).happened
        return f"{happened} {_WAGES_WERE_PAID}" if case.kind == "wages_not_covered" else happened
    reason = reason_text(say, issue)
    over = case.kind == "deposit_reversed" and issue.until is None
    return say(_REVERSED if over else _HAPPENED[case.kind], reason=f"{reason[0].lower()}{reason[1:]}")


def action_text(say: Say, language: str, issue: PaymentIssue) -> str:
    """Return what to do now."""
    case = issue.case
    if case.kind == "year_passed" and case.status != "voided" and case.followed is not None:
        return say(_PAID_IN_NEW_YEAR if case.followed else _RUN_IN_NEW_YEAR)
    known = advice_after(case)
    return say(known) if known else what_to_do(case, language) or say(_SEE_THERE)


def outcome_text(say: Say, outcome: Outcome) -> str:
    """Return why a paycheck's money didn't arrive as usual."""
    if outcome.hold is not None:
        return say(hold_reason(outcome.hold))
    return say(outcome.reason if outcome.code is None else reason_of(outcome.code))
