"""What a paycheck says about a salary: that it was prorated, and the hours that were assumed."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from hearthpay.employees.salaries import weekly_hours_of
from hearthpay.payroll.orders.salary_shares import SalaryShare
from hearthpay.taxes.money import from_cents

_HUNDREDTH: Final = Decimal("0.01")
_WEEK: Final = 7


def usual_hours(salary: SalaryShare, days: int, overtime_hours: Decimal) -> Decimal:
    """Return the hours without overtime of a period of so many days, as the hours of a usual week have them."""
    share = salary.paid_days / max(Decimal(salary.working_days), salary.paid_days)
    hours = weekly_hours_of(salary.weekly_hours) * days * share / _WEEK - overtime_hours
    return max(hours, Decimal(0)).quantize(_HUNDREDTH, ROUND_HALF_UP)


def salary_warnings(salary: SalaryShare | None) -> list[str]:
    """Return what to know about the salary of a paycheck; nothing where a full period is paid and all was said."""
    if salary is None:
        return []
    warnings = []
    if salary.prorated:
        unpaid = f", {days_text(salary.unpaid_days)} taken as unpaid" if salary.unpaid_days else ""
        warnings.append(
            f"The salary is prorated: {days_text(salary.paid_days)} of {salary.working_days} working days are "
            f"paid{unpaid}, {from_cents(salary.pay):,} of {from_cents(salary.full_period):,}."
        )
    if salary.weekly_hours is None:
        warnings.append(
            f"usual_weekly_hours is not set: {weekly_hours_of(None)} hours a week are assumed for the minimum wage "
            "and overtime."
        )
    return warnings


def days_text(days: Decimal) -> str:
    """Return a number of days as it is said: 4, 4.5."""
    return f"{days.normalize():f}"
