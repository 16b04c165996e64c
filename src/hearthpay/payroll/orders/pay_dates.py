"""When wages are paid: the default pay date, which dates a payroll may have, and when its money must be sent."""

import datetime
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.banking import calendar
from hearthpay.taxes.messages import Message, message

LONGEST_PERIOD_DAYS = 366
"""The longest pay period that isn't treated as a typing error."""

Way = Literal["on_paper", "catch_up", "direct_deposit"]
"""How a payroll is paid: by check or cash, recorded as past pay, or through the bank."""


class TwoDays(NamedTuple):
    """Today where the household is, and in US Eastern time, where it is a day later for a few hours."""

    own: datetime.date
    eastern: datetime.date

    def differ_for(self, pay_date: datetime.date) -> bool:
        """Return whether wages paid today would count in another quarter or year on the other of the two days."""
        return pay_date in self and _quarter(self.own) != _quarter(self.eastern)

    def message_for(self, pay_date: datetime.date) -> Message:
        """Return the warning that the pay date decides on the year or the quarter."""
        days = {"own": self.own, "eastern": self.eastern, "day": pay_date}
        if self.own.year != self.eastern.year:
            return message("today_in_two_years", **days, year=pay_date.year)
        return message("today_in_two_quarters", **days)


def _quarter(day: datetime.date) -> tuple[int, int]:
    return day.year, (day.month - 1) // 3


@dataclass(frozen=True, slots=True)
class PayDates:
    """The pay period and the day its wages are paid."""

    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    defaulted: bool
    send_at: datetime.datetime | None = None
    """When the money of a later direct deposit is sent; None if the payroll doesn't wait."""

    asked: datetime.date | None = None
    """The requested pay date, if the money arrives on another day: on ``pay_date``."""

    days: TwoDays | None = None
    """Today at the household and at the bank, if the pay date is one of them and their quarters differ."""

    @property
    def told(self) -> Message | None:
        """The message to the household on why the pay date differs from the requested one, or may be a day off."""
        if self.asked is None:
            return None if self.days is None else self.days.message_for(self.pay_date)
        closed, days = self.pay_date < self.asked, {"asked": self.asked, "day": self.pay_date}
        if self.asked.year == self.pay_date.year:
            return message("pay_date_before_closed_day" if closed else "pay_date_too_soon", **days)
        return message(
            "pay_date_before_closed_day_in_other_year" if closed else "pay_date_too_soon_in_other_year",
            **days,
            year=self.pay_date.year,
        )


@dataclass(frozen=True, slots=True)
class DepositTiming:
    """How a pay date, given for a payroll by check or cash, would work with direct deposit."""

    next_valid_pay_date: datetime.date | None = None
    """The earliest pay date by direct deposit, if the given pay date is too soon for it or past."""

    send_at: datetime.datetime | None = None
    """When the money would be sent, if direct deposit would be scheduled."""


def deposit_timing(dates: PayDates, now: datetime.datetime) -> DepositTiming:
    """Return how the pay date would work with direct deposit; ``now`` is the instant."""
    earliest = calendar.earliest_pay_date(now)
    arrives = calendar.banking_day_on_or_before(dates.pay_date)
    if arrives < earliest:
        return DepositTiming(next_valid_pay_date=earliest)
    if arrives == earliest or arrives < dates.period_start:
        return DepositTiming()
    return DepositTiming(send_at=calendar.send_at(arrives))


def settle_pay_dates(
    start: datetime.date,
    end: datetime.date,
    pay_date: datetime.date | None,
    way: Way,
    *,
    today: datetime.date,
    now: datetime.datetime,
    own_day: datetime.date | None = None,
) -> PayDates:
    """Return the dates of a payroll.

    By check or cash, an omitted pay date is today where the household is, or the period end if that is later; for a
    catch-up it is the period end. By direct deposit it is the earliest day on which the money can arrive. A later one
    waits until five business days before it, and one on which banks are closed moves to the business day before, when
    the money arrives; the five days are counted back from that day.

    ``today`` is the day in Eastern business time, ``now`` the instant, ``own_day`` the household's own day; left out,
    it is ``today``. Raises `validation_error` naming the invalid
    date, and `pay_date_past_deadline` for a direct deposit that can't arrive in time.
    """
    if end < start:
        raise invalid("pay_period_end", message("period_ends_before_start"))
    if (end - start).days >= LONGEST_PERIOD_DAYS:
        raise invalid("pay_period_end", message("period_too_long", days=LONGEST_PERIOD_DAYS))
    if pay_date is not None and pay_date < start:
        raise invalid("pay_date", message("paid_before_period"))
    if way == "direct_deposit":
        return _for_direct_deposit(start, end, pay_date, now)
    days = TwoDays(own_day or today, today)
    chosen = pay_date or (end if way == "catch_up" else max(days.own, end))
    if way == "catch_up" and chosen > today:
        raise invalid("pay_date" if pay_date else "pay_period_end", message("past_pay_ahead"))
    warns = way == "on_paper" and days.differ_for(chosen)
    return PayDates(start, end, chosen, pay_date is None, days=days if warns else None)


def _for_direct_deposit(
    start: datetime.date, end: datetime.date, pay_date: datetime.date | None, now: datetime.datetime
) -> PayDates:
    earliest = calendar.earliest_pay_date(now)
    if pay_date is None:
        if earliest < start:
            raise invalid("pay_date", message("pay_date_needed", day=earliest))
        return PayDates(start, end, earliest, defaulted=True)
    arrives = calendar.banking_day_on_or_before(pay_date)
    if arrives < earliest:
        raise Refusal(
            "pay_date_past_deadline",
            f"This pay date is past the submission deadline: direct deposit can arrive on {earliest} at the earliest, "
            f"since the bank needs {calendar.LEAD_DAYS} business days. By check or cash wages can be paid on any day: "
            "name that payment_method.",
            details={"pay_date": pay_date, "next_valid_pay_date": earliest},
        )
    if arrives < start:
        raise invalid(
            "pay_date",
            message("banks_closed_before_period", day=arrives),
        )
    return PayDates(
        start,
        end,
        arrives,
        defaulted=False,
        send_at=None if arrives == earliest else calendar.send_at(arrives),
        asked=None if arrives == pay_date else pay_date,
    )
