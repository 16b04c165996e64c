"""When Autopilot pays: consecutive pay periods, their pay dates, and when their money is sent.

Pure functions of a schedule; the preview and the generated payrolls come from the same ones.
"""

import calendar as months
import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from hearthpay.banking import calendar
from hearthpay.employees.commands import PayFrequency

GENERATE_AHEAD: Final = datetime.timedelta(days=3)
"""How long before its sending time a payroll is generated: enough to announce the debit a day before, and to decline.
"""

PREVIEWED: Final = 3
"""How many periods are previewed."""

LATEST_PAY_DAY: Final = 14
"""The most calendar days from the end of a period to its pay date."""

_DAY: Final = datetime.timedelta(days=1)
_MID_MONTH: Final = 15
_DAYS: Final = {"weekly": 7, "biweekly": 14}


class AutopilotPeriod(NamedTuple):
    """A pay period, both days included, with its pay date and the instant at which its money is sent."""

    start: datetime.date
    end: datetime.date
    nominal_pay_date: datetime.date
    """The pay date by the schedule, which may fall on a day when banks are closed."""

    pay_date: datetime.date
    send_at: datetime.datetime

    @property
    def generate_at(self) -> datetime.datetime:
        """When the payroll is generated."""
        return self.send_at - GENERATE_AHEAD


class PayDayError(ValueError):
    """A pay day before the end of its period, or too long after it."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The pay frequency, its first day, and the number of calendar days from a period's end to its pay date.

    The anchor is the first day of a period. Weekly and biweekly periods are counted from it; semimonthly ones begin
    on the 1st and the 16th, monthly ones on the 1st. Raises ValueError for an anchor on which no period of the
    frequency begins, and for a pay date before the period's end or more than `LATEST_PAY_DAY` days after it.
    """

    frequency: PayFrequency
    anchor: datetime.date
    pay_days_after: int

    def __post_init__(self) -> None:
        if not 0 <= self.pay_days_after <= LATEST_PAY_DAY:
            raise PayDayError(f"pay_days_after must be between 0 and {LATEST_PAY_DAY}")
        if not self.begins_on(self.anchor):
            raise ValueError(f"no {self.frequency} period begins on {self.anchor}")

    def begins_on(self, day: datetime.date) -> bool:
        """Return whether a period begins on the day, on or after the anchor."""
        if day < self.anchor:
            return False
        if self.frequency == "monthly":
            return day.day == 1
        if self.frequency == "semimonthly":
            return day.day in (1, _MID_MONTH + 1)
        return (day - self.anchor).days % _DAYS[self.frequency] == 0

    def period(self, start: datetime.date) -> AutopilotPeriod:
        """Return the period that begins on the day. Raises ValueError if none does."""
        if not self.begins_on(start):
            raise ValueError(f"no {self.frequency} period begins on {start}")
        end = self._last_day(start)
        nominal = end + self.pay_days_after * _DAY
        pay_date = calendar.banking_day_on_or_before(nominal)
        return AutopilotPeriod(start, end, nominal, pay_date, calendar.send_at(pay_date))

    def periods(self, start: datetime.date) -> Iterator[AutopilotPeriod]:
        """Yield the periods from the one that begins on the day, without end. Raises ValueError if none does."""
        while True:
            period = self.period(start)
            yield period
            start = period.end + _DAY

    def start_on_or_after(self, day: datetime.date) -> datetime.date:
        """Return the first day, not before the anchor, on or after this one on which a period begins."""
        day = max(day, self.anchor)
        while not self.begins_on(day):
            day += _DAY
        return day

    def _last_day(self, start: datetime.date) -> datetime.date:
        if self.frequency == "semimonthly" and start.day == 1:
            return start.replace(day=_MID_MONTH)
        if self.frequency in ("semimonthly", "monthly"):
            return start.replace(day=months.monthrange(start.year, start.month)[1])
        return start + (_DAYS[self.frequency] - 1) * _DAY


class Stage(NamedTuple):
    """A schedule that applies from a period on, until the next stage."""

    from_period: datetime.date
    schedule: Schedule


def stage_of(stages: Sequence[Stage], start: datetime.date) -> int:
    """Return the index of the stage for the period beginning on the day: the latest one that has begun.

    Of two from the same period, the later in the list holds. Raises ValueError if none has begun.
    """
    begun = [place for place, stage in enumerate(stages) if stage.from_period <= start]
    if not begun:
        raise ValueError(f"nothing is scheduled on {start}")
    return max(begun, key=lambda place: (stages[place].from_period, place))


def periods_of(stages: Sequence[Stage], start: datetime.date) -> Iterator[AutopilotPeriod]:
    """Yield the periods of all stages from the one that begins on the day: each begins where the last ended."""
    while True:
        period = stages[stage_of(stages, start)].schedule.period(start)
        yield period
        start = period.end + _DAY


def first_still_sent(
    stages: Sequence[Stage], start: datetime.date, now: datetime.datetime
) -> AutopilotPeriod:
    """Return the first period, from the one beginning on the day, whose money is sent after the instant."""
    return next(period for period in periods_of(stages, start) if period.send_at > now)


def as_sent_from(period: AutopilotPeriod, now: datetime.datetime) -> AutopilotPeriod:
    """Return the period as paid by money sent from the instant on: on its day, or as soon as possible."""
    arrives = max(period.pay_date, calendar.earliest_pay_date(now))
    return (
        period
        if arrives == period.pay_date
        else period._replace(pay_date=arrives, send_at=calendar.send_at(arrives))
    )


def preview(
    stages: Sequence[Stage], start: datetime.date, *, skip_through: datetime.date | None = None
) -> tuple[AutopilotPeriod, ...]:
    """Return the next periods to be paid, from the one beginning on the day, without skipped ones."""
    coming = (period for period in periods_of(stages, start) if not is_skipped(period, skip_through))
    return tuple(islice(coming, PREVIEWED))


def is_skipped(period: AutopilotPeriod, skip_through: datetime.date | None) -> bool:
    """Return whether a skip through a day includes the period, that is, whether it begins by then."""
    return skip_through is not None and period.start <= skip_through


def common_starts(
    stages: Sequence[Stage], new: PayFrequency, day: datetime.date, *, within_days: int = 800
) -> Iterator[datetime.date]:
    """Return the days, from this one on within a range, on which both a current period and one of the new frequency
    begin, so that a change leaves neither a gap nor an overlap. Raises ValueError if no stage has begun by the
    day.
    """
    for passed in range(min(within_days, (datetime.date.max - day).days)):
        start = day + passed * _DAY
        if not stages[stage_of(stages, start)].schedule.begins_on(start):
            continue
        if (new == "monthly" and start.day != 1) or (
            new == "semimonthly" and start.day not in (1, _MID_MONTH + 1)
        ):
            continue
        yield start
