"""What an employee's settings must satisfy so that wages can be paid by them.

What the tax engine would refuse on payday is refused when it is entered.
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from hearthpay.access.refusal import from_tax_engine, invalid
from hearthpay.clock import Clock
from hearthpay.employees.certificates import federal_certificate, state_entries
from hearthpay.employees.models import Employee
from hearthpay.employees.salaries import Salary, weekly_hours_of
from hearthpay.taxes import PaycheckInput, TaxInputError, calculate_paycheck, rulebook_for
from hearthpay.taxes.assumptions import assumptions_of
from hearthpay.taxes.certificates import FEDERAL_TAX_TOLD
from hearthpay.taxes.labor_law import salary_overtime
from hearthpay.taxes.messages import Message, message
from hearthpay.taxes.rulebook import latest_day_with_rules

OVERTIME_FACTOR: Final = Decimal("1.5")

_CENT: Final = Decimal("0.01")
_FIELDS_OF_THE_ENGINE: Final = {"state": "state_withholding", "federal": "federal_withholding"}


def default_overtime_rate(pay_rate: Decimal) -> Decimal:
    """Return one and a half times the hourly rate, in whole cents."""
    return (pay_rate * OVERTIME_FACTOR).quantize(_CENT, ROUND_HALF_UP)


def overtime_rate_of(
    regular: Decimal | None, overtime_rate: Decimal | None, least: str = "pay_rate"
) -> Decimal | None:
    """Return the overtime rate for a regular rate: the one given, else one and a half times the regular.

    Raises `validation_error` for one below the regular rate, which ``least`` names.
    """
    if regular is None:
        return overtime_rate
    if overtime_rate is None:
        return default_overtime_rate(regular)
    if overtime_rate < regular:
        raise invalid("overtime_rate", message("below_regular_rate", least=least))
    return overtime_rate


def refuse_other_pay_type(pay_type: str, pay_rate: Decimal | None, salary: Salary | None) -> None:
    """Raise `validation_error` for an hourly rate with a salary, or a salary with hourly pay."""
    if pay_type == "salary" and pay_rate is not None:
        raise invalid("pay_rate", "goes with pay_type hourly; a salaried employee has salary")
    if pay_type == "hourly" and salary is not None:
        raise invalid("salary", "goes with pay_type salary: send pay_type with it")


def salary_warnings(employee: Employee, clock: Clock) -> list[Message]:
    """Return the warnings about a salary before it is paid: overtime, and the assumed hours."""
    if employee.pay_type != "salary":
        return []
    hours = weekly_hours_of(employee.usual_weekly_hours)
    overtime = salary_overtime(employee.work_state, clock.today(), hours, lives_in=employee.lives_in)
    warnings = [] if overtime is None else [overtime.coded_message]
    if employee.usual_weekly_hours is None:
        warnings.append(message("weekly_hours_assumed", hours=hours))
    return warnings


def refuse_future_birth(birth_year: int | None, clock: Clock) -> None:
    """Raise `validation_error` for a birth year in the future."""
    if birth_year is not None and birth_year > clock.today().year:
        raise invalid("birth_year", "Enter today's date or an earlier one.")


def localities_of(clock: Clock, work_state: str, city: str | None, locality: str | None) -> list[str]:
    """Return the local taxes chosen by `city` and `locality`, by code.

    A city without a tax that the household must withhold is only an address; a `locality` must be one that taxes.
    Raises `validation_error` and `unsupported_jurisdiction`.
    """
    try:
        taxes = rulebook_for(latest_day_with_rules(clock.today())).state(work_state).local_taxes
    except TaxInputError as error:
        raise from_tax_engine(error) from None
    codes: dict[str, None] = {}
    if locality is not None:
        try:
            codes[taxes.find(locality, "locality").locality] = None
        except TaxInputError as error:
            raise from_tax_engine(error) from None
    if city is not None:
        codes |= dict.fromkeys(taxes.due_at(city))
    return list(codes)


def check_payable(employee: Employee, clock: Clock, *, city: str | None = None) -> list[Message]:
    """Calculate a paycheck of zero, so that what the tax engine refuses is refused now, naming the field.

    Return what every paycheck will assume about these settings, such as a county that nobody chose; with ``city``,
    where the employee lives, also why naming it withholds nothing.

    The federal tax withheld from one paycheck, which a script may give the engine, is refused as well: stored as a
    setting it would replace the tax that each payroll calculates. After the last year with rules its law is asked: only
    payrolls of later years are refused.
    """
    if FEDERAL_TAX_TOLD in employee.state_withholding:
        raise invalid(
            f"state_withholding.{FEDERAL_TAX_TOLD}",
            "belongs to one paycheck; every payroll calculates it itself",
        )
    trial = PaycheckInput(
        pay_date=latest_day_with_rules(clock.today()),
        pay_frequency=employee.pay_frequency,
        regular_wages=Decimal("0.00"),
        work_state=employee.work_state,
        residence_state=employee.residence_state,
        localities=tuple(employee.localities),
        federal=federal_certificate(employee.federal_withholding),
        state=state_entries(employee.state_withholding),
        relationship=employee.relationship,
    )
    try:
        calculate_paycheck(trial)
        assumed = assumptions_of(trial, city=city)
    except TaxInputError as error:
        head, dot, rest = error.field.partition(".")
        field = f"{_FIELDS_OF_THE_ENGINE.get(head, head)}{dot}{rest}"
        raise from_tax_engine(TaxInputError(field, error.message, error.code)) from None
    # A month's tax depends on the wages of its paydays; each payroll reports it.
    return [assumption.coded_message for assumption in assumed if not assumption.code.startswith("month_")]
