"""A paycheck's messages about a salary: that it was prorated, and the hours that were assumed."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from hearthpay.employees.salaries import weekly_hours_of
from hearthpay.payroll.orders.salary_shares import SalaryShare
from hearthpay.taxes.messages import DollarAmount, Message, message

_HUNDREDTH: Final = Decimal("0.01")
_WEEK: Final = 7


def usual_hours(salary: SalaryShare, days: int, overtime_hours: Decimal) -> Decimal:
    """Return the hours without overtime of a period of ``days`` days, based on the hours of a usual week."""
    share = salary.paid_days / max(Decimal(salary.working_days), salary.paid_days)
    hours = weekly_hours_of(salary.weekly_hours) * days * share / _WEEK - overtime_hours
    return max(hours, Decimal(0)).quantize(_HUNDREDTH, ROUND_HALF_UP)


def salary_warnings(salary: SalaryShare | None) -> list[Message]:
    """Return the warnings about a paycheck's salary; none if a full period is paid and the weekly hours are known."""
    if salary is None:
        return []
    warnings = []
    if salary.prorated:
        shares = {
            "paid": salary.paid_days,
            "all": salary.working_days,
            "pay": DollarAmount(salary.pay),
            "full": DollarAmount(salary.full_period),
        }
        if salary.unpaid_days:
            warnings.append(message("salary_prorated_unpaid", unpaid=salary.unpaid_days, **shares))
        else:
            warnings.append(message("salary_prorated", **shares))
    if salary.weekly_hours is None:
        warnings.append(message("weekly_hours_assumed", hours=weekly_hours_of(None)))
    return warnings


def days_text(days: Decimal) -> str:
    """Return a number of days as text: 4, 4.5."""
    return f"{days.normalize():f}"
