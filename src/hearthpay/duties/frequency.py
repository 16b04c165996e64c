"""How often a household files under an account, month by month of a year, by the ledger, and why.

The months of a year are divided into stretches, each filed once: a cent is in exactly one of them, even if the
frequency changes. Within a quarter or year a frequency is decided by what was withheld up to each month; a later
month never changes the decision for an earlier one.
"""

import datetime
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.duties.accounts import Account, Band, LimitMeasure
from hearthpay.duties.periods import MONTH_END, MONTHS, day_of_month

ReasonCode = Literal[
    "only", "chosen", "household_rule", "assigned", "new_account", "reached", "below", "nothing_yet"
]
"""Why: the agency has no other frequency; the household, or a letter, set it; a rule for households; what the agency
gives a new account until it writes otherwise; a new account's by law; a limit was reached; the next limit was not;
or nothing was withheld yet."""

QUARTER: Final = 3
_STEPS: Final[Mapping[str, int]] = {"annual": MONTHS, "semiannual": 6, "quarterly": QUARTER}
_NEAR: Final = 80
"""Percent of a limit from which it counts as near."""

_FEWEST_PAYDAYS: Final = 2
"""The paydays needed to see how often an employee is paid."""


@dataclass(frozen=True, slots=True)
class FrequencyReason:
    """Why a frequency applies; amounts in cents."""

    code: ReasonCode
    frequency: str
    measure: LimitMeasure = "assigned"
    measured: int | None = None
    """What was withheld in the measure's window."""

    expected: int | None = None
    """The expected total by the end of the window if it continues this way; None if the window has ended."""

    limit: int | None = None
    """The limit that was reached."""

    next_limit: int | None = None
    """The next limit, which was not reached."""

    next_frequency: str | None = None
    """What begins there."""

    @property
    def is_near(self) -> bool:
        """Whether the next limit is near: 80 percent of it or more."""
        if self.next_limit is None:
            return False
        return max(self.measured or 0, self.expected or 0) * 100 >= self.next_limit * _NEAR


def _no_paydays(_year: int, _month: int) -> Sequence[datetime.date]:
    return ()


@dataclass(frozen=True, slots=True)
class AccountLedger:
    """What was withheld under an account: the tax of a month in cents, and its paydays in order, if known."""

    cents: Callable[[int, int], int]
    paydays: Callable[[int, int], Sequence[datetime.date]] = _no_paydays


@dataclass(frozen=True, slots=True)
class Stretch:
    """Months of a year that are filed together."""

    first_month: int
    last_month: int
    reason: FrequencyReason

    @property
    def frequency(self) -> str:
        """How often the household files in these months."""
        return self.reason.frequency


def stretches_of(
    account: Account,
    chosen: str | None,
    ledger: AccountLedger,
    year: int,
    steps: Mapping[str, int] | None = None,
    *,
    has_number: bool = False,
) -> tuple[Stretch, ...]:
    """Return how the year is filed under an account, in order, without gap or overlap.

    ``chosen`` is what the household entered for the year. ``steps`` says, by frequency, how many months a payment
    covers if not what the frequency's name says; ``has_number``, whether the account's number is on file.
    """
    reasons = months_of(account, chosen, ledger, year, has_number=has_number)
    found: list[Stretch] = []
    first = 1
    for month, reason in enumerate(reasons, 1):
        step = (steps or {}).get(reason.frequency) or _STEPS.get(reason.frequency, 1)
        falls = month < MONTHS and _is_more_frequent(account, reason.frequency, reasons[month].frequency)
        if month % step == 0 or falls:
            found.append(Stretch(first, month, reason))
            first = month + 1
    return tuple(found)


def months_of(
    account: Account, chosen: str | None, ledger: AccountLedger, year: int, *, has_number: bool = False
) -> tuple[FrequencyReason, ...]:
    """Return the frequency of each month of a year, with the reason."""
    if chosen is not None:
        return (FrequencyReason("chosen", chosen),) * MONTHS
    first = account.frequencies[0]
    if account.household_rule == "always" or (account.household_rule == "without_number" and not has_number):
        return (FrequencyReason("household_rule", first),) * MONTHS
    if not account.bands:
        code: ReasonCode = "only" if len(account.frequencies) == 1 else "assigned"
        return (FrequencyReason(code, first),) * MONTHS
    if account.measure == "quarter_before":
        return _by_quarter_before(account, ledger, year)
    if account.measure in ("year_before", "july_june"):
        return _by_look_back(account, ledger, year)
    return _in_course(account, ledger, year)


def _by_look_back(account: Account, ledger: AccountLedger, year: int) -> tuple[FrequencyReason, ...]:
    """Return the whole year's frequency by its twelve look-back months; a new account has none."""
    if account.measure == "year_before":
        window = [(year - 1, month) for month in range(1, MONTHS + 1)]
    else:
        window = [(year - 2, month) for month in range(7, MONTHS + 1)] + [
            (year - 1, month) for month in range(1, 7)
        ]
    measured = sum(max(ledger.cents(*month), 0) for month in window)
    if measured:
        return (_reason(account, measured, None),) * MONTHS
    return _in_course(account, ledger, year, _first_band(account))


def _first_band(account: Account) -> int:
    """Return the position of the rarest frequency that an account without a look-back may have."""
    names = [band.frequency for band in account.bands]
    return 0 if account.new_account is None else names.index(account.new_account)


def _by_quarter_before(account: Account, ledger: AccountLedger, year: int) -> tuple[FrequencyReason, ...]:
    """Return the frequencies of each quarter, by the tax of the quarter before."""
    reasons: list[FrequencyReason] = []
    for start in range(1, MONTHS + 1, QUARTER):
        of_year, first = (year, start - QUARTER) if start > QUARTER else (year - 1, MONTHS - QUARTER + 1)
        measured = sum(max(ledger.cents(of_year, month), 0) for month in range(first, first + QUARTER))
        reasons.extend([_reason(account, measured, None)] * QUARTER)
    return tuple(reasons)


def _in_course(
    account: Account, ledger: AccountLedger, year: int, floor: int = 0
) -> tuple[FrequencyReason, ...]:
    """Return the frequencies as the year's own months decide them, each window separately."""
    size = QUARTER if account.measure in ("quarter", "month") else MONTHS
    before = _last_of_window(account, ledger, year - 1, MONTHS - size + 1, size, floor)
    reasons: list[FrequencyReason] = []
    for start in range(1, MONTHS + 1, size):
        window = _window(account, ledger, year, start, size, before, floor)
        reasons.extend(window)
        before = window[-1]
    return tuple(reasons)


def _last_of_window(
    account: Account, ledger: AccountLedger, year: int, start: int, size: int, floor: int
) -> FrequencyReason | None:
    """Return the last reason of a window; None if nothing was withheld in it."""
    if not any(ledger.cents(year, month) > 0 for month in range(start, start + size)):
        return None
    return _window(account, ledger, year, start, size, None, floor)[-1]


def _window(
    account: Account,
    ledger: AccountLedger,
    year: int,
    start: int,
    size: int,
    before: FrequencyReason | None,
    floor: int,
) -> list[FrequencyReason]:
    """Return the frequency of each month of a window: the rarest until a limit is reached, then the one reached."""
    rarest = FrequencyReason("nothing_yet", account.bands[floor].frequency, account.measure)
    reached: FrequencyReason | None = None
    reasons: list[FrequencyReason] = []
    paid: list[int] = []
    days: list[datetime.date] = []
    end = day_of_month(year, start + size - 1, MONTH_END)
    for month in range(start, start + size):
        cents = max(ledger.cents(year, month), 0)
        days.extend(ledger.paydays(year, month))
        if cents:
            paid.append(cents)
            expected = None if account.measure == "month" else _expected(paid, days, size, end)
            measured = max(paid) if account.measure == "month" else sum(paid)
            found = _reason(account, measured, expected, floor)
            if reached is None or not _is_more_frequent(account, reached.frequency, found.frequency):
                reached = found
        reasons.append(reached or before or rarest)
    return reasons


def _expected(paid: list[int], days: list[datetime.date], size: int, end: datetime.date) -> int:
    """Return the expected tax by the window's end if paydays continue at this pace, else at the months' average."""
    if len(days) < _FEWEST_PAYDAYS:
        return sum(paid) * size // len(paid)
    gaps = sorted((later - earlier).days for earlier, later in itertools.pairwise(days))
    to_come = (end - days[-1]).days // max(gaps[len(gaps) // 2], 1)
    return sum(paid) * (len(days) + to_come) // len(days)


def _reason(account: Account, measured: int, expected: int | None, floor: int = 0) -> FrequencyReason:
    decided = _band(account.bands, max(measured, expected or 0))
    position = max(decided, floor)
    after = account.bands[position + 1].frequency if position + 1 < len(account.bands) else None
    return FrequencyReason(
        "new_account" if position > decided else "reached" if position else "below",
        account.bands[position].frequency,
        account.measure,
        measured,
        expected,
        account.bands[position - 1].below if 0 < position == decided else None,
        account.bands[position].below,
        after,
    )


def _band(bands: tuple[Band, ...], cents: int) -> int:
    return next(number for number, band in enumerate(bands) if band.below is None or cents < band.below)


def _is_more_frequent(account: Account, one: str, other: str) -> bool:
    order = [band.frequency for band in account.bands]
    if one not in order or other not in order:
        return False
    return order.index(one) > order.index(other)
