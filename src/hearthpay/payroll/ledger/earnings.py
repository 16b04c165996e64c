"""What a paycheck pays: hours at their rates, a bonus, other earnings."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final, NamedTuple

from hearthpay.employees.salaries import annual_salary, hourly_value
from hearthpay.payroll.orders import Payee, PayrollEntry
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rounding import half_up


class Earnings(NamedTuple):
    """The parts of gross pay in the order of their columns; hours have at most three decimals, amounts are cents."""

    regular_hours: Decimal
    regular_pay: int
    overtime_hours: Decimal
    overtime_pay: int
    bonus: int
    other_earnings: int

    @property
    def regular_wages(self) -> int:
        """The regular wages: everything but the bonus."""
        return self.regular_pay + self.overtime_pay + self.other_earnings

    @property
    def gross_pay(self) -> int:
        """All of it."""
        return self.regular_wages + self.bonus

    def opposite(self) -> "Earnings":
        """Return the earnings that reverse these."""
        return Earnings._make(-part if part else part for part in self)


EARNINGS_TYPES: Final = {
    name: "numeric" if name.endswith("_hours") else "bigint" for name in Earnings._fields
}
"""The columns of entries and paychecks, with their types."""

_CENT: Final = Decimal("0.01")
_OPTIONAL: Final = ("bonus", "other_earnings")
NO_EARNINGS: Final = Earnings(Decimal("0.00"), 0, Decimal("0.00"), 0, 0, 0)


def earnings_of(entry: PayrollEntry, payee: Payee) -> Earnings:
    """Return what an entry earns: at the approved pay; before approval, at today's rate.

    Without a rate there are no hours: a payroll with hours is refused earlier. For a salary the regular pay is the
    period's share, and the regular hours only show what was worked for it.
    """
    return Earnings(
        entry.regular_hours,
        _pay(entry.regular_pay, payee.pay_rate, entry.regular_hours)
        if entry.salary is None
        else entry.salary.pay,
        entry.overtime_hours,
        _pay(entry.overtime_pay, payee.overtime_rate, entry.overtime_hours),
        _cents(entry.bonus),
        _cents(entry.other_earnings),
    )


def rates_of(entry: PayrollEntry, payee: Payee) -> tuple[Decimal | None, Decimal | None]:
    """Return the regular and the overtime rate at which an entry's hours are paid, in dollars.

    They are today's, unless the pay was approved at others. None stands for an unknown rate. A salary's regular rate
    is its amount for each of the hours worked, or of those of a usual week.
    """
    if entry.salary is not None:
        salary = entry.salary
        overtime = _rate(entry.overtime_pay, payee.overtime_rate, entry.overtime_hours)
        if entry.regular_hours:
            by_the_hour = half_up(salary.pay * 1_000, int(entry.regular_hours.scaleb(3)))
            return from_cents(by_the_hour), overtime
        annual = annual_salary(salary.amount, salary.per, salary.frequency)
        return hourly_value(annual, salary.weekly_hours), overtime
    regular = _rate(entry.regular_pay, payee.pay_rate, entry.regular_hours)
    overtime = _rate(entry.overtime_pay, payee.overtime_rate, entry.overtime_hours)
    if not entry.regular_hours and overtime != payee.overtime_rate:
        regular = None
    return regular, overtime


def left_out(entry: PayrollEntry) -> frozenset[str]:
    """Return the names of the amounts that the order omitted; one that was given has its two decimals."""
    return frozenset(name for name in _OPTIONAL if str(getattr(entry, name)) == "0")


def _pay(approved: Decimal | None, rate: Decimal | None, hours: Decimal) -> int:
    """Return an hourly rate times hours, to the nearest cent, halves up."""
    if approved is not None:
        return _cents(approved)
    return half_up(_cents(rate) * int(hours.scaleb(3)), 1_000) if rate else 0


def _rate(approved: Decimal | None, rate: Decimal | None, hours: Decimal) -> Decimal | None:
    """Return the rate that gives the approved pay for the hours: today's if it does, else to the nearest cent."""
    if approved is None or not hours or _pay(None, rate, hours) == _cents(approved):
        return rate
    return (approved / hours).quantize(_CENT, ROUND_HALF_UP)


def _cents(dollars: Decimal) -> int:
    return int(dollars.scaleb(2))
