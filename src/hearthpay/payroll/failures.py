"""Why a payroll cannot go on, in words for the household: what happened, and what to do now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID


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
