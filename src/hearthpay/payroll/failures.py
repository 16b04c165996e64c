"""Why a payroll cannot go on, in words for the household: what happened, and what to do now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

FOR_THE_HOUSEHOLD: Final = frozenset({"bank_account_not_ready", "authorization_missing"})
"""Codes of what keeps a payroll from being fired and only the household can put right."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason with a stable code; `employees` are those whom it concerns, where it is not the household."""

    code: str
    message: str
    what_to_do: str
    employees: tuple[UUID, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored and answered."""
        return {
            "code": self.code,
            "message": self.message,
            "what_to_do": self.what_to_do,
            "employees": [str(employee) for employee in self.employees],
        }


def account_not_ready() -> Failure:
    """The household's bank account could not be debited when the payroll was due."""
    return Failure(
        "bank_account_not_ready",
        "The household's bank account was not connected and active when the money was to be collected.",
        "Connect and verify the household's bank account, or void the payroll and pay by check or cash.",
    )


def authorization_missing() -> Failure:
    """The household has not authorized debits of its present account for this payroll, or has revoked that."""
    return Failure(
        "authorization_missing",
        "The household has not authorized debits of the bank account that is connected now, or has revoked it.",
        "Authorize the debit anew, and the payroll is sent by itself; or void it and pay by check or cash.",
    )


def debit_expired() -> Failure:
    """The debit waited for an account or an authorization until the day on which the wages should have arrived."""
    return Failure(
        "debit_expired",
        "The debit could not be sent: there was no account, or no authorization to debit it, until the pay date.",
        "Connect the household's account and authorize the debit, then run the payroll again; or pay by check or cash.",
    )


def deposit_refunded(employees: tuple[UUID, ...]) -> Failure:
    """A direct deposit that could not leave was given back to the household, and its paycheck undone."""
    return Failure(
        "deposit_refunded",
        "A direct deposit could not be sent. Its paycheck is undone, and what was collected for it goes back to the "
        "household.",
        "The employee's wages are still owed: run the payroll again for the employee, by check or to another account.",
        employees,
    )


def employees_without_account(employees: tuple[UUID, ...]) -> Failure:
    """Employees to be paid by direct deposit whose accounts the bank does not take."""
    return Failure(
        "employee_account_not_ready",
        "An employee's bank account cannot be paid to.",
        "Invite the employee to enter a bank account; the payroll is sent by itself then. Or void it and pay by check.",
        employees,
    )


def employee_left(employee: UUID) -> Failure:
    """Employment ended before the pay period began."""
    return Failure(
        "employee_left",
        "An employee's employment ended before the pay period began.",
        "Void the payroll, and run it again for those who worked in the period.",
        (employee,),
    )


def law_not_final(tax_year: int, missing: Sequence[str]) -> Failure:
    """The rules of the year are not complete."""
    return Failure(
        "tax_year_not_final",
        f"The law of {tax_year} is not complete in this version: {', '.join(missing)}.",
        "The operator must update Hearthpay before the pay date; then the payroll is sent by itself.",
    )


def not_calculable(message: str) -> Failure:
    """The tax engine refuses what the payroll asks for."""
    return Failure(
        "not_calculable",
        f"The payroll could not be calculated: {message}.",
        "Correct the employee's settings; the payroll is tried again by itself. Or void it and run another.",
    )


def year_passed(year: int, new_payroll: UUID | None, employees: tuple[UUID, ...]) -> Failure:
    """Direct deposits that did not leave while they could still arrive in their year."""
    if new_payroll is None:
        what_to_do = "Run the payroll again with a pay date in the new year, or pay by check."
    else:
        what_to_do = f"Nothing: payroll {new_payroll} collects and pays them under the law of the new year."
    return Failure(
        "year_passed",
        f"A direct deposit could not be sent in time to arrive in {year}. Its paycheck is undone, and what was "
        "collected for it goes back to the household.",
        what_to_do,
        employees,
    )


def internal() -> Failure:
    """Something that nobody foresaw."""
    return Failure(
        "internal_error",
        "The payroll could not be sent because of an error on our side.",
        "It is tried again by itself, and the operator has been told. Should it fail, pay by check or cash.",
    )
