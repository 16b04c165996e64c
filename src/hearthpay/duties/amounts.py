"""What a household pays for a period: each cent of the ledger on one item of the calendar, however often it files."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from hearthpay.duties.accounts import Account
from hearthpay.duties.frequency import QUARTER, FrequencyReason, Stretch, stretches_of
from hearthpay.duties.household import Household, LedgerAmount
from hearthpay.duties.periods import MONTHS, Partition, Paydays, Period, day_of_month
from hearthpay.duties.rules import PAID, Duties, HouseholdDuty

_HALF: Final = 15
"""The last day of a month's first half."""


@dataclass(frozen=True, slots=True)
class Covered:
    """The months that an item is about, and why it is filed then."""

    period: Period
    reason: FrequencyReason | None = None


@dataclass(frozen=True, slots=True)
class PaydayPart:
    """A payday, or half a month, with what is paid for it."""

    label: str
    first: datetime.date
    last: datetime.date
    cents: int


@lru_cache(4096)
def is_among(line: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a line's code is one of ``patterns``, where ``*`` stands for any text."""
    return any(fnmatchcase(line, pattern) for pattern in patterns)


class Amounts:
    """The amounts of one household's duties in one jurisdiction; each account's year is worked out once."""

    def __init__(self, household: Household, duties: Duties) -> None:
        """Take the household's ledger and the jurisdiction's duties."""
        self._household = household
        self._duties = duties
        self._years: dict[tuple[str, int], tuple[Stretch, ...]] = {}
        self._months: dict[tuple[str, ...], dict[tuple[int, int], int]] = {}
        self._by_id = {duty.id: duty for duty in duties.duties}

    def stretches(self, account_name: str, year: int) -> tuple[Stretch, ...]:
        """Return how the year is filed under an account. Raises KeyError for an account that there is not."""
        key = (account_name, year)
        if key not in self._years:
            account = self._duties.account(account_name)
            months = self._by_month(self._measured_lines(account))
            self._years[key] = stretches_of(
                account,
                chosen_frequency(self._household, self._duties.jurisdiction, account_name, year),
                lambda of_year, month: months.get((of_year, month), 0),
                year,
                self._steps(account_name),
            )
        return self._years[key]

    def covered(self, duty: HouseholdDuty, period: Period) -> Covered | None:
        """Return the months that the duty settles at the end of a period; None where it is not filed then."""
        if duty.account is None:
            return Covered(period)
        stretches = self.stretches(duty.account, period.year)
        if not (duty.kind in PAID and duty.lines):
            at_end = next(each for each in stretches if each.last_month >= period.last_month)
            return Covered(period, at_end.reason) if at_end.frequency in duty.frequencies else None
        own = [
            each
            for each in stretches
            if period.first_month <= each.last_month <= period.last_month and each.frequency in duty.frequencies
        ]
        if not own or (duty.not_third_month and period.last_month % QUARTER == 0):
            return None
        months = Period(period.label, period.year, own[0].first_month, own[-1].last_month)
        if duty.over is not None and self._total(duty.lines, months) <= duty.over:
            return None
        return Covered(months, own[-1].reason)

    def amount(self, duty: HouseholdDuty, covered: Covered) -> int | None:
        """Return what is paid with the item, in cents: what the ledger has, less what other items pay for it."""
        if duty.kind not in PAID or not duty.lines:
            return None
        return self._total(duty.lines, covered.period) - self.earlier(duty, covered)

    def earlier(self, duty: HouseholdDuty, covered: Covered) -> int:
        """Return what other items of the calendar pay for the same months, in cents."""
        return sum(
            cents
            for other in (self._by_id[name] for name in duty.less)
            for cents in self._paid_within(other, covered.period)
        )

    def paydays(self, duty: HouseholdDuty, year: int) -> Iterator[PaydayPart]:
        """Yield the paydays, or half months, of a year for which the duty pays something."""
        if not isinstance(duty.partition, Paydays):
            return
        cents: dict[datetime.date, int] = {}
        for paid in self._household.paydays:
            if paid.day.year == year and is_among(paid.line, duty.lines) and self._is_filed(duty, paid.day):
                cents[paid.day] = cents.get(paid.day, 0) + paid.cents
        if duty.partition.halves:
            yield from _halves(cents)
        elif duty.partition.reached is not None:
            yield from _whenever_reached(cents, duty.partition.reached)
        else:
            yield from (PaydayPart(day.isoformat(), day, day, cents[day]) for day in sorted(cents) if cents[day] > 0)

    def reason_on(self, duty: HouseholdDuty, day: datetime.date) -> FrequencyReason | None:
        """Return why the duty's account is filed as it is on a day; None for a duty without an account."""
        if duty.account is None:
            return None
        return next(
            each.reason for each in self.stretches(duty.account, day.year) if each.last_month >= day.month
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
                covered = self.covered(duty, period) if months.covers(period.year, period.last_month) else None
                if covered is not None:
                    yield self.amount(duty, covered) or 0

    def _total(self, lines: tuple[str, ...], months: Period) -> int:
        by_month = self._by_month(lines)
        return sum(
            by_month.get((months.year, month), 0) for month in range(months.first_month, months.last_month + 1)
        )

    def _by_month(self, lines: tuple[str, ...]) -> dict[tuple[int, int], int]:
        if lines not in self._months:
            months: dict[tuple[int, int], int] = {}
            for each in _amounts_of(self._household, lines):
                months[each.year, each.month] = months.get((each.year, each.month), 0) + each.cents
            self._months[lines] = months
        return self._months[lines]

    def _measured_lines(self, account: Account) -> tuple[str, ...]:
        if account.measured_lines:
            return account.measured_lines
        own = (each for each in self._duties.duties if each.account == account.name and each.kind in PAID)
        return tuple(sorted({line for duty in own for line in duty.lines}))

    def _steps(self, account_name: str) -> dict[str, int]:
        """Return how many months each frequency's most frequent payment covers."""
        steps: dict[str, int] = {}
        for duty in self._duties.duties:
            if duty.account != account_name or duty.kind not in PAID or not duty.lines:
                continue
            step = 1
            if isinstance(duty.partition, Partition):
                step = MONTHS // len(duty.partition.ends)
            elif isinstance(duty.partition, Paydays) and duty.partition.reached is not None:
                continue
            for frequency in duty.frequencies:
                steps[frequency] = min(step, steps.get(frequency, MONTHS))
        return steps


def chosen_frequency(household: Household, jurisdiction: str, account: str, year: int) -> str | None:
    """Return how often the household said that it files in a year; None where it said nothing."""
    chosen = [
        (filing.since_year, filing.frequency)
        for filing in household.filings
        if (filing.jurisdiction, filing.account) == (jurisdiction, account) and filing.since_year <= year
    ]
    return max(chosen)[1] if chosen else None


def _amounts_of(household: Household, lines: tuple[str, ...]) -> Iterator[LedgerAmount]:
    for line, amounts in household.amounts_by_line.items():
        if is_among(line, lines):
            yield from amounts


def _halves(cents: Mapping[datetime.date, int]) -> Iterator[PaydayPart]:
    parts: dict[tuple[int, int, int], int] = {}
    for day, paid in cents.items():
        half = (day.year, day.month, 1 if day.day <= _HALF else 2)
        parts[half] = parts.get(half, 0) + paid
    for (year, month, half), paid in sorted(parts.items()):
        if paid > 0:
            first = datetime.date(year, month, 1 if half == 1 else _HALF + 1)
            last = datetime.date(year, month, _HALF) if half == 1 else day_of_month(year, month, 31)
            yield PaydayPart(f"{year}-S{2 * month - 2 + half}", first, last, paid)


def _whenever_reached(cents: Mapping[datetime.date, int], limit: int) -> Iterator[PaydayPart]:
    """Yield the paydays on which what is not paid yet of a quarter reaches the limit, with all that is not paid yet."""
    open_cents, since, quarter = 0, None, None
    for day in sorted(cents):
        now = (day.year, (day.month - 1) // QUARTER)
        if now != quarter:
            open_cents, since, quarter = 0, day, now
        since = since or day
        open_cents += cents[day]
        if open_cents >= limit:
            yield PaydayPart(day.isoformat(), since, day, open_cents)
            open_cents, since = 0, None
