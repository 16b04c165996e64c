"""When wages are paid: the default pay date, which dates a payroll may have, and when its money must be sent."""

import datetime
from dataclasses import dataclass
from typing import Literal

from hearthpay.banking import calendar
from hearthpay.clock import BUSINESS_TIME
from hearthpay.http.errors import ApiError, Problem, invalid, invalid_fields

#: The longest pay period that is not taken for a slip of the pen.
LONGEST_PERIOD_DAYS = 366

Way = Literal["on_paper", "catch_up", "direct_deposit"]
"""How a payroll is paid: by check or cash, recorded in retrospect, or through the bank."""


@dataclass(frozen=True, slots=True)
class PayDates:
    """The pay period and the day its wages are paid."""

    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    defaulted: bool
    #: When the money of a later direct deposit is sent; None where the payroll does not wait.
    send_at: datetime.datetime | None = None


def settle_pay_dates(
    start: datetime.date,
    end: datetime.date,
    pay_date: datetime.date | None,
    way: Way,
    *,
    today: datetime.date,
    now: datetime.datetime,
) -> PayDates:
    """Return the dates of a payroll.

    By check or cash a pay date left out is today, or the period end if that is later. By direct deposit it is the
    earliest day that the money can arrive; a later one waits until five business days before it.

    ``today`` is the day in Eastern business time, ``now`` the instant. Raises `validation_error` naming the date that
    cannot be, and `pay_date_past_deadline` for a direct deposit that cannot arrive in time.
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
    if way == "direct_deposit":
        return _for_direct_deposit(start, end, pay_date, now)
    chosen = pay_date or max(today, end)
    if way == "catch_up" and chosen > today:
        raise invalid(
            "pay_date" if pay_date else "pay_period_end", "of a catch-up payroll must not be to come"
        )
    return PayDates(start, end, chosen, pay_date is None)


def _for_direct_deposit(
    start: datetime.date, end: datetime.date, pay_date: datetime.date | None, now: datetime.datetime
) -> PayDates:
    earliest = calendar.earliest_pay_date(now)
    if pay_date is None:
        if earliest < start:
            raise invalid("pay_date", f"is required: the earliest, {earliest}, is before the pay period")
        return PayDates(start, end, earliest, defaulted=True)
    if pay_date < earliest:
        raise ApiError(
            "pay_date_past_deadline",
            f"Direct deposit can arrive on {earliest} at the earliest: the bank needs {calendar.LEAD_DAYS} business "
            "days.",
            details={"pay_date": pay_date, "next_valid_pay_date": earliest},
        )
    if pay_date == earliest:
        return PayDates(start, end, pay_date, defaulted=False)
    return PayDates(start, end, pay_date, defaulted=False, send_at=_send_at(pay_date))


def _send_at(pay_date: datetime.date) -> datetime.datetime:
    """Return the cut-off five business days before the pay date.

    A pay date on which banks are closed is allowed: the money arrives on the last banking day before it.
    """
    day = calendar.add_banking_days(pay_date, -calendar.LEAD_DAYS)
    return datetime.datetime.combine(day, calendar.CUT_OFF, BUSINESS_TIME).astimezone(datetime.UTC)
