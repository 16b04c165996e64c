"""Salaries: the amount for a year, the regular hourly rate, and how a salary is shown next to an hourly rate."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, Protocol

from hearthpay.taxes.labor_law import salary_law
from hearthpay.taxes.money import from_cents

PayType = Literal["hourly", "salary"]
SalaryPer = Literal["year", "period"]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

PERIODS_A_YEAR: Final = {"weekly": 52, "biweekly": 26, "semimonthly": 24, "monthly": 12}
WEEKDAYS: Final[tuple[Weekday, ...]] = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
USUAL_WORKING_DAYS: Final = WEEKDAYS[:5]


@dataclass(frozen=True, slots=True)
class Salary:
    """A salary in dollars, per year or per pay period."""

    amount: Decimal
    per: SalaryPer


class PayTerms(Protocol):
    """What an employee is paid by; dollars, None if not set."""

    @property
    def pay_type(self) -> str:
        """`hourly` or `salary`."""
        ...

    @property
    def pay_rate(self) -> Decimal | None:
        """For `hourly`: dollars per hour."""
        ...

    @property
    def salary(self) -> Decimal | None:
        """For `salary`: dollars per year or period."""
        ...

    @property
    def salary_per(self) -> str | None:
        """Whether the salary is per year or per period."""
        ...

    @property
    def pay_frequency(self) -> str:
        """How often a salary per period is paid."""
        ...

    @property
    def usual_weekly_hours(self) -> Decimal | None:
        """The hours of a usual week; None if not entered."""
        ...


@dataclass(frozen=True, slots=True)
class PaidBy:
    """What an employee is, or would be, paid by; dollars."""

    pay_type: str
    pay_rate: Decimal | None
    salary: Decimal | None
    salary_per: str | None
    pay_frequency: str
    usual_weekly_hours: Decimal | None


def weekly_hours_of(usual: Decimal | None) -> Decimal:
    """Return the hours of a usual week, or the assumed hours if none are entered."""
    return Decimal(salary_law().usual_hours) if usual is None else usual


def annual_salary(amount_cents: int, per: str, frequency: str) -> int:
    """Return the cents of a full year; ``frequency`` matters for a salary per period."""
    return amount_cents if per == "year" else amount_cents * PERIODS_A_YEAR[frequency]


def regular_rate(terms: PayTerms) -> Decimal | None:
    """Return the hourly dollars that overtime is a multiple of; None if pay isn't set.

    It is the hourly rate, or for a salary a year's pay divided by 52 and by the hours of a usual week (29 CFR
    778.113).
    """
    if terms.pay_type == "hourly":
        return terms.pay_rate
    if terms.salary is None or terms.salary_per is None:
        return None
    annual = annual_salary(int(terms.salary.scaleb(2)), terms.salary_per, terms.pay_frequency)
    return from_cents(salary_law().regular_rate(annual, _hundredths(terms.usual_weekly_hours)))


def hourly_value(annual_cents: int, usual_weekly_hours: Decimal | None) -> Decimal:
    """Return a salary's dollars for each hour of a usual week."""
    return from_cents(salary_law().hourly_cents(annual_cents, _hundredths(usual_weekly_hours)))


def _hundredths(usual_weekly_hours: Decimal | None) -> int:
    return int(weekly_hours_of(usual_weekly_hours).scaleb(2))
