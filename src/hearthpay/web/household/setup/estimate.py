"""What a usual paycheck of an employee would cost: an estimate before the first one, in the three pots."""

import datetime
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from hearthpay.employees.certificates import federal_certificate, state_entries
from hearthpay.employees.models import Employee
from hearthpay.employees.salaries import PERIODS_A_YEAR
from hearthpay.taxes import PaycheckInput, TaxInputError, calculate_paycheck

_WEEKS: Final = Decimal(52)
_CENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class UsualPaycheck:
    """The first paycheck of a year for the usual hours, in cents."""

    gross: int
    net: int
    withheld: int
    employer_taxes: int

    @property
    def cost(self) -> int:
        """The total cost."""
        return self.gross + self.employer_taxes


def usual_paycheck(employee: Employee, on: datetime.date) -> UsualPaycheck | None:
    """Return the estimate for one pay period; None without the pay or usual hours, or where the law has no answer."""
    gross = _gross(employee)
    if gross is None or gross <= 0:
        return None
    request = PaycheckInput(
        pay_date=on,
        pay_frequency=employee.pay_frequency,
        regular_wages=gross,
        work_state=employee.work_state,
        residence_state=employee.residence_state,
        localities=tuple(employee.localities),
        federal=federal_certificate(employee.federal_withholding),
        state=state_entries(employee.state_withholding),
        relationship=employee.relationship,
    )
    try:
        paycheck = calculate_paycheck(request)
    except TaxInputError:
        return None
    return UsualPaycheck(
        paycheck.gross_pay_cents,
        paycheck.net_pay_cents,
        paycheck.employee_taxes_cents,
        paycheck.employer_taxes_cents,
    )


def _gross(employee: Employee) -> Decimal | None:
    """Return the gross pay of one pay period in dollars; None if it isn't known."""
    periods = Decimal(PERIODS_A_YEAR[employee.pay_frequency])
    if employee.salary is not None:
        gross = employee.salary if employee.salary_per == "period" else employee.salary / periods
    elif employee.pay_rate is not None and employee.usual_weekly_hours is not None:
        gross = employee.pay_rate * employee.usual_weekly_hours * _WEEKS / periods
    else:
        return None
    return gross.quantize(_CENT, ROUND_HALF_UP)
