"""What a household pays for a period: each cent of the ledger is in one calendar item, however often it files."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from hearthpay.duties.frequency import QUARTER, AccountLedger, FrequencyReason, Stretch, stretches_of
from hearthpay.duties.household import Household
from hearthpay.duties.periods import MONTH_END, MONTHS, Partition, Paydays, Period, day_of_month, month_number
from hearthpay.duties.rules import PAID, Duties, HouseholdDuty


@dataclass(frozen=True, slots=True)
class Covered:
    """The months that an item covers, and why it is filed then."""

    period: Period
    reason: FrequencyReason | None = None


@dataclass(frozen=True, slots=True)
class PaydayPart:
    """A payday, or the paydays of one month that are paid together, with the amount paid for them."""

    first: datetime.date
    last: datetime.date
    """In the same month as ``first``."""

    closes: datetime.date
    """The day from which its due date counts; in the next month if a week extends past the month's end."""

    cents: int

    @property
    def label(self) -> str:
        """Its permanent name: its last day."""
        return self.last.isoformat()


@lru_cache(4096)
def is_among(line: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a line's code matches one of ``patterns``, where ``*`` stands for any text."""
    return any(fnmatchcase(line, pattern) for pattern in patterns)


class Amounts:
    """The amounts of one household's duties in one jurisdiction; each account's year is calculated once."""

    def __init__(self, household: Household, duties: Duties) -> None:
        """Set the household's ledger and the jurisdiction's duties."""
        self._household = household
        self._duties = duties
        self._years: dict[tuple[str, int], tuple[Stretch, ...]] = {}
        self._months: dict[tuple[str, ...], dict[int, int]] = {}
        self._parts: dict[tuple[str, int], tuple[PaydayPart, ...]] = {}
        self._by_id = {duty.id: duty for duty in duties.duties}

    def stretches(self, account_name: str, year: int) -> tuple[Stretch, ...]:
        """Return how the year is filed under an account. Raises KeyError for an unknown account."""
        key = (account_name, year)
        if key not in self._years:
            account = self._duties.account(account_name)
            measured = self._duties.measured_lines(account)
            months, paydays = self._by_month(measured), self._paydays_of(measured)
            self._years[key] = stretches_of(
                account,
                chosen_frequency(self._household, self._duties.jurisdiction, account_name, year),
                AccountLedger(
                    lambda of_year, month: months.get(month_number(of_year, month), 0),
                    lambda of_year, month: paydays.get((of_year, month), ()),
                ),
                year,
                self._steps(account_name),
                has_number=any(
                    is_among(line, self.lines_of(account_name)) for line in self._household.open_lines
                ),
            )
        return self._years[key]

    def covered(self, duty: HouseholdDuty, period: Period) -> Covered | None:
        """Return the months that the duty settles at the end of a period; None if it isn't filed then."""
        if duty.months and period.last_month not in duty.months:
            return None
        if duty.account is None:
            return Covered(period)
        stretches = self.stretches(duty.account, period.year)
        if not (duty.kind in PAID and duty.lines):
            at_end = next(each for each in stretches if each.last_month >= period.last_month)
            return Covered(period, at_end.reason) if at_end.frequency in duty.frequencies else None
        own = [
            each
            for each in stretches
            if period.first_month <= each.last_month <= period.last_month
            and each.frequency in duty.frequencies
        ]
        if not own:
            return None
        months = Period(period.label, period.year, own[0].first_month, own[-1].last_month)
        if duty.over is not None and self._total(duty.lines, months) <= duty.over:
            return None
        return Covered(months, own[-1].reason)

    def amount(self, duty: HouseholdDuty, covered: Covered) -> int | None:
        """Return the amount paid with the item, in cents: what the ledger has, less what other items pay of it."""
        if duty.kind not in PAID or not duty.lines:
            return None
        return self._total(duty.lines, covered.period) - self.earlier(duty, covered)

    def earlier(self, duty: HouseholdDuty, covered: Covered) -> int:
        """Return the amount that other calendar items pay for the same months, in cents."""
        return sum(
            cents
            for other in (self._by_id[name] for name in duty.less)
            for cents in self._paid_within(other, covered.period)
        )

    def paydays(self, duty: HouseholdDuty, year: int) -> tuple[PaydayPart, ...]:
        """Return the paydays, or parts of months, of a year for which the duty pays something."""
        key = (duty.id, year)
        if key not in self._parts:
            self._parts[key] = tuple(self._paydays_with_pay(duty, year))
        return self._parts[key]

    def _paydays_with_pay(self, duty: HouseholdDuty, year: int) -> Iterator[PaydayPart]:
        if not isinstance(duty.partition, Paydays):
            return
        counted = duty.partition.reached_lines or duty.lines
        cents: dict[_Part, int] = {}
        towards: dict[_Part, int] = {}
        parts: dict[datetime.date, _Part | None] = {}
        for line, amounts in self._household.paydays_by_line.get(year, {}).items():
            if not is_among(line, duty.lines):
                continue
            counts = is_among(line, counted)
            for _, day, paid in amounts:
                if day not in parts:
                    parts[day] = _part(duty.partition, day) if self._is_filed(duty, day) else None
                part = parts[day]
                if part is not None:
                    cents[part] = cents.get(part, 0) + paid
                    towards[part] = towards.get(part, 0) + (paid if counts else 0)
        if duty.partition.reached is not None:
            yield from _whenever_reached(cents, towards, duty.partition.reached)
        else:
            yield from (PaydayPart(*part, cents[part]) for part in sorted(cents) if cents[part] > 0)

    def reason_on(self, duty: HouseholdDuty, day: datetime.date) -> FrequencyReason | None:
        """Return why the duty's account is filed as it is on a day; None for a duty without an account."""
        return None if duty.account is None else self.reason_of(duty.account, day)

    def reason_of(self, account_name: str, day: datetime.date) -> FrequencyReason:
        """Return how often an account is filed on a day, and why. Raises KeyError for an unknown account."""
        return next(
            each.reason for each in self.stretches(account_name, day.year) if each.last_month >= day.month
        )

    def _is_filed(self, duty: HouseholdDuty, day: datetime.date) -> bool:
        reason = self.reason_on(duty, day)
        return reason is None or reason.frequency in duty.frequencies

    def _paid_within(self, duty: HouseholdDuty, months: Period) -> Iterator[int]:
        if isinstance(duty.partition, Paydays):
            for part in self.paydays(duty, months.year):
                if months.covers(part.last.year, part.last.month):
                    yield part.cents
        elif isinstance(duty.partition, Partition):
            for period in duty.partition.periods(months.year):
                covered = (
                    self.covered(duty, period) if months.covers(period.year, period.last_month) else None
                )
                if covered is not None:
                    yield self.amount(duty, covered) or 0

    def _total(self, lines: tuple[str, ...], months: Period) -> int:
        by_month = self._by_month(lines)
        return sum(by_month.get(month, 0) for month in months.months)

    def _by_month(self, lines: tuple[str, ...]) -> dict[int, int]:
        if lines not in self._months:
            months: dict[int, int] = {}
            for line, cents in self._household.cents_by_line.items():
                if is_among(line, lines):
                    for month, amount in cents.items():
                        months[month] = months.get(month, 0) + amount
            self._months[lines] = months
        return self._months[lines]

    def _paydays_of(self, lines: tuple[str, ...]) -> dict[tuple[int, int], list[datetime.date]]:
        months: dict[tuple[int, int], list[datetime.date]] = {}
        for day in sorted(
            {
                paid.day
                for of_year in self._household.paydays_by_line.values()
                for line, amounts in of_year.items()
                if is_among(line, lines)
                for paid in amounts
                if paid.cents
            }
        ):
            months.setdefault((day.year, day.month), []).append(day)
        return months

    def lines_of(self, account_name: str) -> tuple[str, ...]:
        """Return the codes of the lines that are paid under an account."""
        return self._duties.paid_lines(account_name)

    def _steps(self, account_name: str) -> dict[str, int]:
        """Return how many months the most frequent payment covers, by frequency."""
        steps: dict[str, int] = {}
        for duty in self._duties.duties:
            if duty.account != account_name or duty.kind not in PAID or not duty.lines:
                continue
            step = 1
            if isinstance(duty.partition, Partition):
                step = _length(duty.partition)
            elif isinstance(duty.partition, Paydays) and duty.partition.reached is not None:
                continue
            for frequency in duty.frequencies:
                steps[frequency] = min(step, steps.get(frequency, MONTHS))
        return steps


def _length(partition: Partition) -> int:
    """Return how many months each period has; 1 if they differ, since months fit into all of them."""
    length = MONTHS // len(partition.ends)
    return length if all(end % length == 0 for end in partition.ends) else 1


def chosen_frequency(household: Household, jurisdiction: str, account: str, year: int) -> str | None:
    """Return the frequency that the household entered for a year; None if it entered none."""
    chosen = [
        (filing.since_year, filing.frequency)
        for filing in household.filings
        if (filing.jurisdiction, filing.account) == (jurisdiction, account) and filing.since_year <= year
    ]
    return max(chosen)[1] if chosen else None


_Part = tuple[datetime.date, datetime.date, datetime.date]
"""The first and last day of a part within the month of its paydays, and the day on which it closes."""


def _part(partition: Paydays, day: datetime.date) -> _Part:
    first, closes = partition.part_of(day)
    last = day_of_month(day.year, day.month, MONTH_END)
    return max(first, day.replace(day=1)), min(closes, last), closes


def _whenever_reached(
    cents: Mapping[_Part, int], towards: Mapping[_Part, int], limit: int
) -> Iterator[PaydayPart]:
    """Yield the parts in which the unpaid amount of a quarter reaches the limit, with all that is unpaid."""
    open_cents = open_towards = 0
    since: datetime.date | None = None
    quarter: tuple[int, int] | None = None
    for part in sorted(cents):
        first, last, closes = part
        now = (last.year, (last.month - 1) // QUARTER)
        if now != quarter:
            open_cents, open_towards, since, quarter = 0, 0, first, now
        since = since or first
        open_cents += cents[part]
        open_towards += towards[part]
        if open_towards >= limit and open_cents > 0:
            yield PaydayPart(since, last, closes, open_cents)
            open_cents, open_towards, since = 0, 0, None
