"""What a pay period pays of a salary: a full period's share, prorated by working days if not all of them are paid.

**The share of a full period.** Periods are numbered through all years: a week or two weeks by whole weeks since the
first day of the calendar, half a month and a month by the calendar, each by the day on which it ends. Period number k
pays round(S (k + 1) / n) - round(S k / n) of a year's salary S in n periods. So any n full periods in a row pay S to
the cent, whenever the year of them begins, and no two shares differ by more than a cent. A calendar year with 53
weekly or 27 biweekly periods pays one share more than S: a salary is earned by the week.

**Proration.** A period that is as long as its frequency counts its own working days. A shorter or longer one is
compared with the working days of a regular period. Days without employment and unpaid days are subtracted.
"""

import calendar
import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from hearthpay.employees.salaries import PERIODS_A_YEAR, WEEKDAYS
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.messages import message
from hearthpay.taxes.pay_periods import check_period
from hearthpay.taxes.rounding import half_up

Span = tuple[datetime.date, datetime.date]
"""A first and a last day."""

_DAY: Final = datetime.timedelta(days=1)
_DAYS: Final = {"weekly": 7, "biweekly": 14}
_HALF: Final = 15
"""The last day of the first half of a month."""


class SalaryShare(NamedTuple):
    """What a period pays of a salary, and why; amounts in cents, days with at most two decimals."""

    amount: int
    per: str
    frequency: str
    full_period: int
    """Pay for a full period, in cents."""

    working_days: int
    """The working days of a full period."""

    paid_days: Decimal
    unpaid_days: Decimal
    """Days of the employment that the request leaves unpaid."""

    weekly_hours: Decimal | None
    """The hours of a usual week; None if they aren't known."""

    regular_rate: int
    pay: int

    @property
    def prorated(self) -> bool:
        """Whether the amount differs from that of a full period."""
        return self.paid_days != self.working_days

    def to_json(self) -> dict[str, Any]:
        """Return the share as it is stored, with decimals as strings."""
        return {
            name: str(value) if isinstance(value, Decimal) else value
            for name, value in self._asdict().items()
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any] | None) -> "SalaryShare | None":
        """Return the stored share, or None if no salary was paid."""
        if stored is None:
            return None
        hours = stored["weekly_hours"]
        decimals = {name: Decimal(stored[name]) for name in ("paid_days", "unpaid_days")}
        return cls(**{**stored, **decimals, "weekly_hours": None if hours is None else Decimal(hours)})


class WorkedDays(NamedTuple):
    """The working days of a full period, and those of the period within the employment."""

    full_period: int
    employed: int


def full_share(amount: int, per: str, frequency: str, period_end: datetime.date) -> int:
    """Return the pay, in cents, for the full period that ends on the given day; ``amount`` is cents."""
    if per == "period":
        return amount
    periods, number = PERIODS_A_YEAR[frequency], _number(frequency, period_end)
    return half_up(amount * (number + 1), periods) - half_up(amount * number, periods)


def _number(frequency: str, end: datetime.date) -> int:
    """Return the number of the period that ends on the given day, among all periods of its frequency."""
    if frequency in _DAYS:
        return end.toordinal() // _DAYS[frequency]
    months = 12 * end.year + end.month
    return months if frequency == "monthly" else 2 * months + (end.day > _HALF)


def worked_days(
    period: Span,
    frequency: str,
    employments: Sequence[tuple[datetime.date, datetime.date | None]],
    weekdays: Sequence[str],
) -> WorkedDays:
    """Return the working days by which a period's salary is prorated.

    A period without any working day counts all of its days. Raises `TaxInputError` as `check_period` does.
    """
    start, end = period
    as_long = check_period(start, end, frequency) is None
    begins = any(start <= first <= end for first, _ in employments)
    regular = period if as_long else _regular_period(period, frequency, ends_with=begins)
    requested = frozenset(WEEKDAYS.index(name) for name in weekdays)
    if not any(day.weekday() in requested for day in _days(period)):
        requested = frozenset(range(len(WEEKDAYS)))
    employed = sum(
        day.weekday() in requested
        and any(first <= day and (last is None or day <= last) for first, last in employments)
        for day in _days(period)
    )
    return WorkedDays(sum(day.weekday() in requested for day in _days(regular)), employed)


def _days(span: Span) -> Sequence[datetime.date]:
    return [span[0] + _DAY * number for number in range((span[1] - span[0]).days + 1)]


def _regular_period(period: Span, frequency: str, *, ends_with: bool) -> Span:
    """Return the regular period with which a shorter or longer one is compared: a calendar one if the period lies
    within it.

    Otherwise it ends with the period if an employment begins in the period; if none does, it begins with the period.
    """
    start, end = period
    if frequency in _DAYS:
        days = _DAYS[frequency]
    else:
        first, last = _of_calendar(start, frequency)
        if end <= last:
            return first, last
        days = _HALF if frequency == "semimonthly" else calendar.monthrange(start.year, start.month)[1]
    return (end - _DAY * (days - 1), end) if ends_with else (start, start + _DAY * (days - 1))


def _of_calendar(day: datetime.date, frequency: str) -> Span:
    last = day.replace(day=calendar.monthrange(day.year, day.month)[1])
    if frequency == "monthly":
        return day.replace(day=1), last
    if day.day <= _HALF:
        return day.replace(day=1), day.replace(day=_HALF)
    return day.replace(day=_HALF + 1), last


def prorated_pay(full_period: int, working_days: int, paid_days: Decimal) -> int:
    """Return the pay, in cents, for the paid days out of a full period's working days, rounded half up."""
    return half_up(full_period * int(paid_days.scaleb(2)), 100 * working_days)


def refuse_unpaid_days(unpaid: Decimal, days: WorkedDays, field: str) -> None:
    """Raise `TaxInputError` if there are more unpaid days than working days of the employment in the period."""
    if unpaid > days.employed:
        raise TaxInputError(field, message("more_unpaid_days_than_worked", days=days.employed))
