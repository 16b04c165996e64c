"""Business days, on which the Federal Reserve settles (Nacha's banking days), and the deadlines counted in them.

Days are calendar days in US Eastern time, the time zone of the Reserve Banks; instants are aware datetimes.
"""

from __future__ import annotations

import datetime
from typing import Final

from hearthpay.clock import BUSINESS_TIME
from hearthpay.legal_holidays import holidays_of

CUT_OFF: Final = datetime.time(15, 0)
"""What is submitted from this Eastern time on counts as submitted on the next business day."""

LEAD_DAYS: Final = 5
"""Business days from the submission day to the earliest pay date: the household's debit must settle, and its bank's
time to return it must pass, before the wages go out."""

_DAY: Final = datetime.timedelta(days=1)
_SATURDAY: Final = 5


class NotABankingDayError(ValueError):
    """Raised for a day on which the Federal Reserve settles nothing; `following` is the next business day."""

    def __init__(self, day: datetime.date) -> None:
        self.day: Final = day
        self.following: Final = next_banking_day(day)
        super().__init__(
            f"{day.isoformat()} is not a banking day, the next one is {self.following.isoformat()}"
        )


def is_banking_day(day: datetime.date) -> bool:
    """Return whether the Federal Reserve settles payments on this day.

    A holiday on a Sunday closes the Monday; one on a Saturday closes nothing, though government offices observe it on
    Friday (Federal Reserve Bank Services, Holiday Schedules).
    """
    return day.weekday() < _SATURDAY and day not in holidays_of("federal_reserve", day.year)


def banking_day_on_or_after(day: datetime.date) -> datetime.date:
    """Return the day itself if it is a business day, otherwise the next one."""
    while not is_banking_day(day):
        day += _DAY
    return day


def banking_day_on_or_before(day: datetime.date) -> datetime.date:
    """Return the day itself if it is a business day, otherwise the previous one."""
    while not is_banking_day(day):
        day -= _DAY
    return day


def next_banking_day(day: datetime.date) -> datetime.date:
    """Return the first business day after the day."""
    return banking_day_on_or_after(day + _DAY)


def debited_on(send_at: datetime.datetime) -> datetime.date:
    """Return the day on which a debit sent then is taken from the account: the first business day after it."""
    return next_banking_day(send_at.astimezone(BUSINESS_TIME).date())


def previous_banking_day(day: datetime.date) -> datetime.date:
    """Return the last business day before the day."""
    return banking_day_on_or_before(day - _DAY)


def add_banking_days(day: datetime.date, count: int) -> datetime.date:
    """Return the business day `count` business days after the day, or before it if `count` is negative.

    The day itself doesn't count, whether it is a business day or not; `count` 0 returns it unchanged.
    """
    step = next_banking_day if count > 0 else previous_banking_day
    for _ in range(abs(count)):
        day = step(day)
    return day


def banking_days_between(start: datetime.date, end: datetime.date) -> int:
    """Return how many business days there are after `start`, up to and including `end`.

    If `end` is earlier, the result is negative and counts those before `start` down to and including `end`. From any
    day to a business day, this is the number with which `add_banking_days` gets there.
    """
    if end < start:
        return -sum(is_banking_day(end + _DAY * passed) for passed in range((start - end).days))
    return sum(is_banking_day(end - _DAY * passed) for passed in range((end - start).days))


def submission_day(now: datetime.datetime) -> datetime.date:
    """Return the business day on which what is submitted at the instant `now` counts as submitted.

    Before `CUT_OFF` that is today, if banks are open; otherwise the next business day. Raises ValueError for a `now`
    without a time zone.
    """
    if now.utcoffset() is None:
        raise ValueError("a deadline needs a timezone-aware datetime")
    eastern = now.astimezone(BUSINESS_TIME)
    if eastern.time() < CUT_OFF:
        return banking_day_on_or_after(eastern.date())
    return next_banking_day(eastern.date())


def earliest_pay_date(now: datetime.datetime) -> datetime.date:
    """Return the first pay date that direct deposit can still reach from the instant `now` (ValueError as above)."""
    return add_banking_days(submission_day(now), LEAD_DAYS)


def send_at(pay_date: datetime.date) -> datetime.datetime:
    """Return the instant, in UTC, at which the bank files for this pay date close.

    Whatever is submitted before it reaches the pay date; nothing submitted at or after it does. Raises
    NotABankingDayError, as no wages arrive on such a day.
    """
    if not is_banking_day(pay_date):
        raise NotABankingDayError(pay_date)
    day = add_banking_days(pay_date, -LEAD_DAYS)
    return datetime.datetime.combine(day, CUT_OFF, BUSINESS_TIME).astimezone(datetime.UTC)
