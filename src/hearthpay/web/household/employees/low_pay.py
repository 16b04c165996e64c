"""The warning, before any payroll, that an employee's agreed pay is below the minimum wage."""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from hearthpay.employees.models import Employee
from hearthpay.employees.salaries import annual_salary, hourly_value
from hearthpay.employees.work_places import work_places
from hearthpay.taxes.labor_law import HoursWorked, labor_warnings
from hearthpay.taxes.messages import Message

_AN_HOUR: Final = Decimal(1)
_NO_HOURS: Final = Decimal(0)
_ABOUT_THE_MINIMUM: Final = frozenset({"below_minimum_wage", "minimum_wage_outdated"})


def low_pay(
    employee: Employee, on: datetime.date, household_address: Mapping[str, str] | None
) -> Message | None:
    """Return the payroll review's warning for an hour paid on a day, or on the first day of work if that is later.

    None if the pay reaches the minimum wage or isn't known. It assumes a household of one employee: only the payroll
    checks laws that apply from a larger number.
    """
    rate = _hourly_rate(employee)
    if rate is None:
        return None
    day = max(on, employee.start_date)
    hour = HoursWorked(
        work_state=employee.work_state,
        pay_date=day,
        period_start=day,
        period_end=day,
        regular_hours=_AN_HOUR,
        overtime_hours=_NO_HOURS,
        hourly_rate=rate,
        overtime_rate=None,
        lives_in=employee.lives_in,
        localities=work_places(employee, household_address),
        salaried=employee.salary is not None,
    )
    found = (each for each in labor_warnings(hour) if each.code in _ABOUT_THE_MINIMUM)
    return next((each.coded_message for each in found), None)


def _hourly_rate(employee: Employee) -> Decimal | None:
    """Return the hourly dollars, of a salary those for each hour of a usual week; None if pay isn't set."""
    if employee.pay_type == "hourly":
        return employee.pay_rate
    if employee.salary is None or employee.salary_per is None:
        return None
    annual = annual_salary(int(employee.salary.scaleb(2)), employee.salary_per, employee.pay_frequency)
    return hourly_value(annual, employee.usual_weekly_hours)
