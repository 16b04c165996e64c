"""Pay periods, one after the other: which follows, which has ended, and which have no payroll yet.

Pure functions. The first and the last day of a period both belong to it. Weekly and biweekly periods are counted from
the one before; semimonthly and monthly ones follow the calendar, unless the one before was a whole period of other
days (the 11th to the 25th): then that pattern continues.
"""

import calendar as months
import datetime
from collections.abc import Sequence
from typing import Final, NamedTuple

from hearthpay.employees.commands import PayFrequency

_DAY: Final = datetime.timedelta(days=1)
_WEEKS: Final = {"weekly": 7, "biweekly": 14}
_MID_MONTH: Final = 15
_SUNDAY: Final = 6
_HALF_A_MONTH: Final = range(13, 18)
"""How many days a whole semimonthly period has."""


class PeriodOfPay(NamedTuple):
    """The first and the last day of a pay period."""

    start: datetime.date
    end: datetime.date

    def overlaps(self, other: "PeriodOfPay") -> bool:
        """Return whether the two share a day."""
        return self.start <= other.end and other.start <= self.end


def period_from(start: datetime.date, frequency: PayFrequency) -> PeriodOfPay:
    """Return the period that begins on the day; a semimonthly or monthly one ends as the calendar has it."""
    if frequency in _WEEKS:
        return PeriodOfPay(start, start + (_WEEKS[frequency] - 1) * _DAY)
    if frequency == "semimonthly" and start.day <= _MID_MONTH:
        return PeriodOfPay(start, start.replace(day=_MID_MONTH))
    return PeriodOfPay(start, _month_end(start))


def following_period(last: PeriodOfPay, frequency: PayFrequency) -> PeriodOfPay:
    """Return the period of the frequency that begins on the day after the last one ends."""
    start = last.end + _DAY
    if frequency in _WEEKS or last.end in (last.end.replace(day=_MID_MONTH), _month_end(last.end)):
        return period_from(start, frequency)
    days = (last.end - last.start).days + 1
    if frequency == "monthly" and last.start == _months_after(start, -1):
        return PeriodOfPay(start, _months_after(start, 1) - _DAY)
    if frequency == "semimonthly" and days in _HALF_A_MONTH:
        return PeriodOfPay(start, _months_after(last.start, 1) - _DAY)
    return period_from(start, frequency)


def latest_ended_period(frequency: PayFrequency, today: datetime.date) -> PeriodOfPay:
    """Return the latest period that has ended by today; weeks end on Sundays."""
    if frequency in _WEEKS:
        end = today - ((today.weekday() - _SUNDAY) % 7) * _DAY
        return PeriodOfPay(end - (_WEEKS[frequency] - 1) * _DAY, end)
    if frequency == "semimonthly" and today.day > _MID_MONTH:
        return PeriodOfPay(today.replace(day=1), today.replace(day=_MID_MONTH))
    end = today.replace(day=1) - _DAY
    return PeriodOfPay(end.replace(day=_MID_MONTH + 1 if frequency == "semimonthly" else 1), end)


def unpaid_periods(
    recorded: Sequence[PeriodOfPay], frequency: PayFrequency, since: datetime.date, until: datetime.date
) -> list[PeriodOfPay]:
    """Return the periods within these days that no recorded one overlaps, oldest first, without gaps between them.

    A period between two recorded ones ends where the next begins. Days before the first recorded one are divided
    backward from it, so that the periods keep its weekday or its part of the month. A period that hasn't ended by
    ``until`` is left out.
    """
    standing = sorted(period for period in recorded if period.end >= since)
    found: list[PeriodOfPay] = []
    reached = None
    for period in standing:
        before = period.start - _DAY
        if reached is None:
            found += _backward(_preceding(period, frequency), frequency, since)
        else:
            found += _forward(reached, frequency, min(before, until), before)
        if reached is None or period.end > reached.end:
            reached = period
    if reached is None:
        found += _backward(latest_ended_period(frequency, until), frequency, since)
    else:
        found += _forward(reached, frequency, until, datetime.date.max)
    return [period for period in found if period.end <= until]


def _forward(
    last: PeriodOfPay, frequency: PayFrequency, until: datetime.date, longest: datetime.date
) -> list[PeriodOfPay]:
    """Return the periods after the last one that begin by ``until``; none ends after ``longest``."""
    found = []
    period = following_period(last, frequency)
    while period.start <= until:
        found.append(PeriodOfPay(period.start, min(period.end, longest)))
        period = following_period(period, frequency)
    return found


def _backward(last: PeriodOfPay, frequency: PayFrequency, since: datetime.date) -> list[PeriodOfPay]:
    """Return the periods up to the last one, oldest first; the oldest begins no earlier than ``since``."""
    found = []
    while last.end >= since:
        found.append(PeriodOfPay(max(last.start, since), last.end))
        last = _preceding(last, frequency)
    return found[::-1]


def _preceding(period: PeriodOfPay, frequency: PayFrequency) -> PeriodOfPay:
    """Return the period of the frequency that ends on the day before this one begins."""
    end = period.start - _DAY
    if frequency in _WEEKS:
        return PeriodOfPay(end - (_WEEKS[frequency] - 1) * _DAY, end)
    if frequency == "semimonthly" and end.day > _MID_MONTH:
        return PeriodOfPay(end.replace(day=_MID_MONTH + 1), end)
    return PeriodOfPay(end.replace(day=1), end)


def _month_end(day: datetime.date) -> datetime.date:
    return day.replace(day=months.monthrange(day.year, day.month)[1])


def _months_after(day: datetime.date, count: int) -> datetime.date:
    """Return the same day of the month that many months later, or the month's last day if it has no such day."""
    number = day.year * 12 + day.month - 1 + count
    first = datetime.date(number // 12, number % 12 + 1, 1)
    return first.replace(day=min(day.day, months.monthrange(first.year, first.month)[1]))
