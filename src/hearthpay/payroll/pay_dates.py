"""When wages are paid: the default pay date, and which dates a payroll may have."""

import datetime
from dataclasses import dataclass

from hearthpay.http.errors import Problem, invalid, invalid_fields

#: The longest pay period that is not taken for a slip of the pen.
LONGEST_PERIOD_DAYS = 366


@dataclass(frozen=True, slots=True)
class PayDates:
    """The pay period and the day its wages are paid."""

    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    defaulted: bool


def settle_pay_dates(
    start: datetime.date, end: datetime.date, pay_date: datetime.date | None, today: datetime.date
) -> PayDates:
    """Return the dates of a check or cash payroll; left out, the pay date is today, or the period end if later.

    ``today`` is the day in Eastern business time. Raises `validation_error` naming the date that cannot be.
    """
    problems = []
    if end < start:
        problems.append(Problem("pay_period_end", "must not be before pay_period_start"))
    elif (end - start).days >= LONGEST_PERIOD_DAYS:
        problems.append(
            Problem("pay_period_end", f"must be within {LONGEST_PERIOD_DAYS} days of pay_period_start")
        )
    if problems:
        raise invalid_fields(problems)
    if pay_date is not None and pay_date < start:
        raise invalid("pay_date", "must not be before pay_period_start")
    return PayDates(start, end, pay_date or max(today, end), pay_date is None)
