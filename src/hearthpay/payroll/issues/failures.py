"""Why a payroll can't continue, as it is stored: what happened. `advice` decides what to do about it now.

The sentences are marked: the API answers with them in English, pages and mails say them in the reader's language.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from hearthpay.languages.catalogue import mark

FailureKind = Literal[
    "not_sent",
    "debit_returned",
    "wages_not_covered",
    "deposit_returned",
    "deposit_reversed",
    "reversal_returned",
    "held",
    "bank_unreachable",
    "delayed",
    "year_passed",
    "debit_expired",
    "deposit_refunded",
]
"""The kind of problem: the payroll couldn't be sent; the household's debit was returned; it was returned after the
wages were sent; an employee's deposit was returned, was reversed as a mistake, or couldn't be; a payment can't be
sent; none can; the payroll is due and not sent yet; a deposit missed its year; the debit waited in vain; a deposit
that couldn't be sent was refunded.
"""
FOR_THE_HOUSEHOLD: Final = frozenset(
    {"bank_account_not_ready", "authorization_missing", "confirmation_missing"}
)
"""Codes of problems that keep a payroll from being fired and that only the household can fix."""

FOR_THE_OPERATOR: Final = frozenset({"tax_year_not_final", "unsupported_jurisdiction", "internal_error"})
"""Codes of what the household can't fix: the law or the operator has to. Never given up."""

RUN_AFTER_EXPIRY: Final = mark(
    "Connect your account and authorize the debit, then run the payroll again. Or pay by check or cash."
)
RUN_AFTER_REFUND: Final = mark(
    "You still owe the wages. Run payroll again for this employee, by check or to another account."
)


ACCOUNT_NOT_READY: Final = mark(
    "The household's bank account was not connected and active when the money was to be collected."
)
AUTHORIZATION_MISSING: Final = mark(
    "The household has not authorized debits of the bank account that is connected now, or has revoked it."
)
CONFIRMATION_MISSING: Final = mark(
    "Autopilot holds this payroll, because its amount is out of the ordinary and nobody has confirmed it."
)
DEBIT_EXPIRED: Final = mark(
    "The debit could not be sent: there was no account, or no authorization to debit it, until the pay date."
)
DEPOSIT_REFUNDED: Final = mark(
    "A direct deposit could not be sent. Its paycheck is undone, and what was collected for it goes back to the "
    "household."
)
EMPLOYEE_ACCOUNT_NOT_READY: Final = mark("An employee's bank account cannot be paid to.")
EMPLOYEE_LEFT: Final = mark("An employee's employment ended before the pay period began.")
FIGURES_MISSING: Final = mark(
    "The {year} figures that this payroll needs aren't published yet, or aren't in this version."
)
YEAR_PASSED: Final = mark(
    "A direct deposit could not be sent in time to arrive in {year}. Its paycheck is undone, and what was collected "
    "for it goes back to the household."
)
NOT_IN_YEAR: Final = mark("Not sent in time for {year}")
INTERNAL: Final = mark("The payroll could not be sent because of an error on our side.")

REVERSED_FOR: Final[Mapping[str, str]] = {
    "duplicate": mark("Paid twice"),
    "wrong_receiver": mark("Paid to the wrong person"),
    "wrong_amount": mark("Paid in the wrong amount"),
    "wrong_date": mark("Paid on the wrong date"),
}
"""Why a deposit may be reversed."""


@dataclass(frozen=True, slots=True)
class StoredFailure:
    """A reason with a stable code; `employees` are those it concerns, unless it concerns the household.

    `reason`, `message` and `what_to_do` are English: only the API answers with them as they are stored. Pages and
    mails make their words from `kind`, `code`, the last two fields and the payroll itself (`wording`).

    While it is being retried, `next_try` says when and `until` how long; if they are omitted and the payroll is
    waiting to be fired, its own next attempt counts.
    """

    code: str
    message: str
    what_to_do: str
    employees: tuple[UUID, ...] = ()
    kind: FailureKind = "not_sent"
    reason: str = ""
    next_try: datetime.datetime | None = None
    until: datetime.datetime | None = None
    followed_by: UUID | None = None
    """After the turn of the year: the payroll that pays the deposits, if one does."""

    reversed_for: str = ""
    """Why a deposit is reversed, by the key of `REVERSED_FOR`."""

    def as_json(self) -> dict[str, Any]:
        """Return the reason as it is stored."""
        stored: dict[str, Any] = {
            "kind": self.kind,
            "code": self.code,
            "reason": self.reason,
            "message": self.message,
            "what_to_do": self.what_to_do,
            "employees": [str(employee) for employee in self.employees],
        }
        if self.code == "year_passed":
            stored["followed_by"] = None if self.followed_by is None else str(self.followed_by)
        if self.reversed_for:
            stored["reversed_for"] = self.reversed_for
        times = {"next_try": self.next_try, "until": self.until}
        return stored | {name: time.isoformat() for name, time in times.items() if time is not None}


def account_not_ready() -> StoredFailure:
    """Return the failure: the household's bank account couldn't be debited when the payroll was due."""
    return StoredFailure(
        "bank_account_not_ready",
        ACCOUNT_NOT_READY,
        "Connect and verify the household's bank account.",
        reason="The household's account is not ready",
    )


def authorization_missing() -> StoredFailure:
    """Return the failure: the household hasn't authorized debits of its current account for this payroll, or revoked
    that.
    """
    return StoredFailure(
        "authorization_missing",
        AUTHORIZATION_MISSING,
        "Authorize the debit again.",
        reason="The debit is not authorized",
    )


def confirmation_missing() -> StoredFailure:
    """Return the failure: Autopilot made an unusual payroll, and the household hasn't confirmed it."""
    return StoredFailure(
        "confirmation_missing",
        CONFIRMATION_MISSING,
        "Confirm the payroll, or void it.",
        reason="The amount is not confirmed",
    )


def debit_expired() -> StoredFailure:
    """Return the failure: the debit waited for an account or authorization until the wages should have arrived."""
    return StoredFailure(
        "debit_expired",
        DEBIT_EXPIRED,
        RUN_AFTER_EXPIRY,
        kind="debit_expired",
        reason="The debit wasn't sent in time",
    )


def deposit_refunded(employees: tuple[UUID, ...]) -> StoredFailure:
    """Return the failure: an unsent direct deposit was refunded to the household, and its paycheck reversed."""
    return StoredFailure(
        "deposit_refunded",
        DEPOSIT_REFUNDED,
        RUN_AFTER_REFUND,
        employees,
        kind="deposit_refunded",
        reason="Refunded to the household",
    )


def employees_without_account(employees: tuple[UUID, ...]) -> StoredFailure:
    """Return the failure: the bank doesn't accept the accounts of employees to be paid by direct deposit."""
    return StoredFailure(
        "employee_account_not_ready",
        EMPLOYEE_ACCOUNT_NOT_READY,
        "Invite the employee to enter a bank account.",
        employees,
        reason="An employee's account is not ready",
    )


def employee_left(employee: UUID) -> StoredFailure:
    """Return the failure: employment ended before the pay period began."""
    return StoredFailure(
        "employee_left",
        EMPLOYEE_LEFT,
        "Run it again for those who worked in the period.",
        (employee,),
        reason="The employment had ended",
    )


def law_not_final(tax_year: int, missing: Sequence[str] = ()) -> StoredFailure:
    """Return the failure: the year's figures aren't published, or not in this version; `missing` names lines,
    if any.
    """
    lines = f" ({', '.join(missing)})" if missing else ""
    return StoredFailure(
        "tax_year_not_final",
        f"The {tax_year} figures that this payroll needs{lines} aren't published yet, or aren't in this version.",
        "No action needed. We'll send it automatically once they're published and Hearthpay is updated.",
        reason="Tax figures aren't published yet",
    )


def no_rules(message: str) -> StoredFailure:
    """Return the failure: there are no rules for a state or place of the payroll."""
    return StoredFailure(
        "unsupported_jurisdiction",
        f"The payroll could not be calculated: {message}.",
        "No action needed. We'll send it automatically once Hearthpay is updated.",
        reason="No tax rules for the place of work yet",
    )


def not_calculable(message: str) -> StoredFailure:
    """Return the failure: the tax engine refuses what the payroll requests."""
    return StoredFailure(
        "not_calculable",
        f"The payroll could not be calculated: {message}.",
        "Correct the employee's settings.",
        reason="The payroll cannot be calculated",
    )


def year_passed(year: int, new_payroll: UUID | None, employees: tuple[UUID, ...]) -> StoredFailure:
    """Return the failure: direct deposits weren't sent while they could still arrive in their year."""
    if new_payroll is None:
        what_to_do = "Run the payroll again with a pay date in the new year, or pay by check."
    else:
        what_to_do = f"Nothing: payroll {new_payroll} collects and pays them under the law of the new year."
    return StoredFailure(
        "year_passed",
        YEAR_PASSED.format(year=year),
        what_to_do,
        employees,
        kind="year_passed",
        reason=NOT_IN_YEAR.format(year=year),
        followed_by=new_payroll,
    )


def internal() -> StoredFailure:
    """Return the failure: an unexpected error."""
    return StoredFailure(
        "internal_error",
        INTERNAL,
        "Your administrator has been notified.",
        reason="An error on our side",
    )
