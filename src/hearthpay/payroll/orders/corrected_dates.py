"""The dates of an ordered payroll; a refusal has the nearest ones that would be accepted."""

import datetime
from typing import NamedTuple

from hearthpay.access.refusal import Refusal, from_tax_engine
from hearthpay.banking import calendar
from hearthpay.payroll.commands import Corrections, Order
from hearthpay.payroll.orders.pay_dates import PayDates, Way, settle_pay_dates
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.pay_periods import check_period, regular_days
from hearthpay.taxes.rulebook import rulebook_of


class _RequestedDates(NamedTuple):
    """The dates of an order."""

    start: datetime.date
    end: datetime.date
    pay_date: datetime.date | None


def settle_dates_of(
    order: Order, way: Way, *, today: datetime.date, now: datetime.datetime, own_day: datetime.date
) -> PayDates:
    """Return the dates of a payroll.

    Raises what `settle_pay_dates` raises, and `validation_error` for a period that doesn't match its frequency; the
    refusal's example is the `Corrections` that would make it acceptable, if there are any.
    """
    asked = _RequestedDates(order.pay_period_start, order.pay_period_end, order.pay_date)
    try:
        if order.kind == "fica_refund":  # of a year, or of what of it was worked
            return _settle_refund(asked, way, today, now, own_day)
        return _settle(asked, order.pay_frequency, way, today, now, own_day)
    except Refusal as refusal:
        refusal.example = _corrections(asked, order.pay_frequency, way, today, now, own_day)
        raise


def _settle_refund(
    asked: _RequestedDates, way: Way, today: datetime.date, now: datetime.datetime, own_day: datetime.date
) -> PayDates:
    dates = settle_pay_dates(
        asked.start, asked.end, asked.pay_date, way, today=today, now=now, own_day=own_day
    )
    try:
        rulebook_of(dates.period_end.year)
    except TaxInputError as error:
        raise from_tax_engine(error) from None
    return dates


def _settle(
    asked: _RequestedDates,
    frequency: str,
    way: Way,
    today: datetime.date,
    now: datetime.datetime,
    own_day: datetime.date,
) -> PayDates:
    dates = settle_pay_dates(
        asked.start, asked.end, asked.pay_date, way, today=today, now=now, own_day=own_day
    )
    try:
        check_period(dates.period_start, dates.period_end, frequency)
    except TaxInputError as error:
        raise from_tax_engine(error) from None
    return dates


def _corrections(
    asked: _RequestedDates,
    frequency: str,
    way: Way,
    today: datetime.date,
    now: datetime.datetime,
    own_day: datetime.date,
) -> Corrections | None:
    try:
        fitting = _fitting(asked, frequency, way, today, now, own_day)
        _settle(fitting, frequency, way, today, now, own_day)
    except (Refusal, OverflowError):  # at the ends of the calendar, or a catch-up of days to come
        return None
    changed = {
        "pay_period_start": fitting.start,
        "pay_period_end": fitting.end,
        "pay_date": fitting.pay_date,
    }
    return Corrections({name: day for name, day in changed.items() if day is not None})


def _fitting(
    asked: _RequestedDates,
    frequency: str,
    way: Way,
    today: datetime.date,
    now: datetime.datetime,
    own_day: datetime.date,
) -> _RequestedDates:
    """Return the nearest acceptable dates; what was right stays as requested."""
    start, end = sorted((asked.start, asked.end))
    try:
        check_period(start, end, frequency)
    except TaxInputError:
        end = start + datetime.timedelta(days=regular_days(frequency) - 1)
    fitting = _RequestedDates(start, end, asked.pay_date)
    try:
        settle_pay_dates(*fitting, way, today=today, now=now, own_day=own_day)
    except Refusal:
        return fitting._replace(pay_date=_pay_date(start, end, way, today, now, own_day))
    return fitting


def _pay_date(
    start: datetime.date,
    end: datetime.date,
    way: Way,
    today: datetime.date,
    now: datetime.datetime,
    own_day: datetime.date,
) -> datetime.date:
    if way == "catch_up":
        return min(end, today)
    if way == "on_paper":
        return max(end, own_day)
    day = calendar.earliest_pay_date(now)
    if day >= start:
        return day
    while not calendar.is_banking_day(end):
        end += datetime.timedelta(days=1)
    return end
