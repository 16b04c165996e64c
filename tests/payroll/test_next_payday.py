"""The next payday and the periods without a payroll: dates worked out by hand, and what holds of any sequence."""

import datetime
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.banking.calendar import is_banking_day
from hearthpay.employees.commands import PayFrequency
from hearthpay.payroll.next_payday import PaidPeriod, next_payday
from hearthpay.payroll.pay_periods import PeriodOfPay, following_period, latest_ended_period, unpaid_periods
from tests.cases import every_case

DAY = datetime.timedelta(days=1)


def paid(*periods: tuple[date, date, date]) -> list[PaidPeriod]:
    """Return paid periods, which are given with the earliest first."""
    return [PaidPeriod(*period) for period in periods][::-1]


PERIODS = [
    ("weekly", (date(2026, 12, 21), date(2026, 12, 27)), (date(2026, 12, 28), date(2027, 1, 3))),
    ("biweekly", (date(2026, 11, 2), date(2026, 11, 15)), (date(2026, 11, 16), date(2026, 11, 29))),
    ("semimonthly", (date(2028, 2, 1), date(2028, 2, 15)), (date(2028, 2, 16), date(2028, 2, 29))),
    ("semimonthly", (date(2026, 2, 16), date(2026, 2, 28)), (date(2026, 3, 1), date(2026, 3, 15))),
    ("semimonthly", (date(2026, 1, 11), date(2026, 1, 25)), (date(2026, 1, 26), date(2026, 2, 10))),
    ("semimonthly", (date(2026, 1, 26), date(2026, 2, 10)), (date(2026, 2, 11), date(2026, 2, 25))),
    # A first period that began with the employee ends as the calendar has it, and so do those after it.
    ("semimonthly", (date(2026, 11, 9), date(2026, 11, 15)), (date(2026, 11, 16), date(2026, 11, 30))),
    ("semimonthly", (date(2026, 11, 3), date(2026, 11, 8)), (date(2026, 11, 9), date(2026, 11, 15))),
    ("monthly", (date(2026, 1, 1), date(2026, 1, 31)), (date(2026, 2, 1), date(2026, 2, 28))),
    ("monthly", (date(2028, 1, 1), date(2028, 1, 31)), (date(2028, 2, 1), date(2028, 2, 29))),
    ("monthly", (date(2026, 1, 26), date(2026, 2, 25)), (date(2026, 2, 26), date(2026, 3, 25))),
    ("monthly", (date(2026, 11, 9), date(2026, 11, 20)), (date(2026, 11, 21), date(2026, 11, 30))),
    # The frequency has changed since.
    ("monthly", (date(2026, 11, 2), date(2026, 11, 15)), (date(2026, 11, 16), date(2026, 11, 30))),
    ("weekly", (date(2026, 11, 1), date(2026, 11, 30)), (date(2026, 12, 1), date(2026, 12, 7))),
]


def test_the_next_period_follows_the_last() -> None:
    with every_case() as case:
        for frequency, last, following in PERIODS:
            with case(frequency, last, following):
                assert following_period(PeriodOfPay(*last), frequency) == PeriodOfPay(*following)


PAYDAYS = [
    # The weekday stays.
    ("weekly", False, [(date(2026, 11, 16), date(2026, 11, 22), date(2026, 11, 27))], date(2026, 12, 4)),
    ("biweekly", False, [(date(2026, 11, 2), date(2026, 11, 15), date(2026, 11, 20))], date(2026, 12, 4)),
    # A check is handed over on a Sunday or a holiday too; a deposit arrives the banking day before.
    ("biweekly", False, [(date(2026, 11, 23), date(2026, 12, 6), date(2026, 12, 6))], date(2026, 12, 20)),
    (
        "biweekly",
        False,
        [(date(2026, 11, 23), date(2026, 12, 6), date(2026, 12, 11))],
        date(2026, 12, 25),
    ),
    (
        "biweekly",
        True,
        [(date(2026, 11, 23), date(2026, 12, 6), date(2026, 12, 11))],
        date(2026, 12, 24),
    ),
    # One payday before a holiday doesn't make Thursday the usual payday.
    (
        "biweekly",
        True,
        [
            (date(2026, 11, 23), date(2026, 12, 6), date(2026, 12, 11)),
            (date(2026, 12, 7), date(2026, 12, 20), date(2026, 12, 24)),
        ],
        date(2027, 1, 8),
    ),
    # Nor does one late payroll.
    (
        "weekly",
        False,
        [
            (date(2026, 11, 2), date(2026, 11, 8), date(2026, 11, 13)),
            (date(2026, 11, 9), date(2026, 11, 15), date(2026, 11, 20)),
            (date(2026, 11, 16), date(2026, 11, 22), date(2026, 11, 30)),
        ],
        date(2026, 12, 4),
    ),
    # Two do.
    (
        "weekly",
        False,
        [
            (date(2026, 11, 2), date(2026, 11, 8), date(2026, 11, 13)),
            (date(2026, 11, 9), date(2026, 11, 15), date(2026, 11, 17)),
            (date(2026, 11, 16), date(2026, 11, 22), date(2026, 11, 24)),
        ],
        date(2026, 12, 1),
    ),
    # A first payroll recorded months late tells the weekday only.
    ("weekly", False, [(date(2026, 8, 3), date(2026, 8, 9), date(2026, 11, 20))], date(2026, 8, 21)),
    # The last day of each month, on the Friday before a weekend.
    ("monthly", False, [(date(2026, 9, 1), date(2026, 9, 30), date(2026, 9, 30))], date(2026, 10, 30)),
    ("monthly", False, [(date(2028, 1, 1), date(2028, 1, 31), date(2028, 1, 31))], date(2028, 2, 29)),
    # The 29th of each month; the 30th, on the last banking day of February.
    ("monthly", False, [(date(2027, 3, 1), date(2027, 3, 31), date(2027, 3, 29))], date(2027, 4, 29)),
    ("monthly", False, [(date(2026, 1, 1), date(2026, 1, 31), date(2026, 1, 30))], date(2026, 2, 27)),
    # The 1st after the month: Friday, October 30 instead of Sunday, November 1, and then the 1st again.
    (
        "monthly",
        False,
        [
            (date(2026, 9, 1), date(2026, 9, 30), date(2026, 10, 1)),
            (date(2026, 10, 1), date(2026, 10, 31), date(2026, 10, 30)),
        ],
        date(2026, 12, 1),
    ),
    # The 5th and the 20th; June 20, 2026 is a Saturday after a holiday.
    ("semimonthly", False, [(date(2026, 5, 16), date(2026, 5, 31), date(2026, 6, 5))], date(2026, 6, 18)),
    ("semimonthly", True, [(date(2026, 1, 1), date(2026, 1, 15), date(2026, 1, 20))], date(2026, 2, 5)),
]


def test_the_payday_is_as_long_after_the_period_as_it_usually_is() -> None:
    with every_case() as case:
        for frequency, by_deposit, before, day in PAYDAYS:
            with case(frequency, by_deposit, before, day):
                assert next_payday(paid(*before), frequency, by_deposit=by_deposit).pay_date == day


def test_there_is_no_next_payday_without_a_payroll() -> None:
    with pytest.raises(ValueError, match="follows a payroll"):
        next_payday([], "weekly")


DAYS = st.dates(date(2023, 12, 1), date(2032, 1, 31))
FREQUENCIES: st.SearchStrategy[PayFrequency] = st.sampled_from(get_args(PayFrequency))


@st.composite
def recorded_periods(draw: st.DrawFn) -> list[PaidPeriod]:
    """Draw periods as households record them: mostly one after the other, some with days between, of any length."""
    day, found = draw(DAYS), []
    for _ in range(draw(st.integers(1, 6))):
        start = day + draw(st.sampled_from((0, 0, 0, 1, 9))) * DAY
        end = start + draw(st.sampled_from((0, 4, 6, 13, 14, 15, 27, 30))) * DAY
        found.append(PaidPeriod(start, end, start + draw(st.integers(0, 45)) * DAY))
        day = end + DAY
    return found


@given(recorded_periods(), st.lists(FREQUENCIES, min_size=1, max_size=30), st.booleans())
def test_proposed_periods_follow_without_gap_or_overlap_whatever_was_recorded(
    recorded: list[PaidPeriod], frequencies: Sequence[PayFrequency], by_deposit: bool
) -> None:
    paid_so_far = list(recorded)
    for frequency in frequencies:
        due = next_payday(paid_so_far[::-1], frequency, by_deposit=by_deposit)
        proposed = PeriodOfPay(due.start, due.end)
        assert due.start == paid_so_far[-1].end + DAY
        assert due.start <= due.end
        assert not any(proposed.overlaps(each.period) for each in paid_so_far)
        assert due.pay_date >= due.start
        if by_deposit:
            assert is_banking_day(due.pay_date) or due.pay_date == due.start
        paid_so_far.append(PaidPeriod(due.start, due.end, due.pay_date))


@given(DAYS, FREQUENCIES, st.integers(0, 13), st.booleans())
def test_a_payday_that_is_kept_stays_where_it_is(
    day: date, frequency: PayFrequency, delay: int, by_deposit: bool
) -> None:
    period = latest_ended_period(frequency, day)
    nominal = period.end + delay * DAY
    while not is_banking_day(nominal):
        nominal += DAY
    delay = (nominal - period.end).days
    if delay > 14:
        return
    paid_so_far = [PaidPeriod(*period, nominal)]
    for _ in range(30):
        due = next_payday(paid_so_far[::-1], frequency, by_deposit=by_deposit)
        meant = due.end + delay * DAY
        assert meant - 5 * DAY <= due.pay_date <= meant
        if not by_deposit and frequency in ("weekly", "biweekly"):
            assert due.pay_date == meant
        paid_so_far.append(PaidPeriod(due.start, due.end, due.pay_date))


@given(st.lists(st.tuples(DAYS, st.integers(0, 30)), max_size=6), FREQUENCIES, DAYS, st.integers(0, 400))
def test_periods_without_a_payroll_fill_all_days_that_are_over(
    spells: list[tuple[date, int]], frequency: PayFrequency, since: date, days: int
) -> None:
    recorded: list[PeriodOfPay] = []
    for start, length in spells:
        near = since + (start - date(2023, 12, 1)).days % 420 * DAY
        period = PeriodOfPay(near, near + length * DAY)
        if not any(period.overlaps(each) for each in recorded):
            recorded.append(period)
    until = since + days * DAY
    found = unpaid_periods(recorded, frequency, since, until)
    assert found == sorted(found)
    for before, after in pairwise(sorted([*recorded, *found])):
        assert before.end < after.start
    covered = {
        each.start + passed * DAY
        for each in (*recorded, *found)
        for passed in range((each.end - each.start).days + 1)
    }
    assert all(since <= each.start and each.end <= until for each in found)
    missing = [since + passed * DAY for passed in range(days + 1) if since + passed * DAY not in covered]
    # What is missing is the period that isn't over yet, at the end.
    assert all(until - day < 31 * DAY for day in missing)
    assert all(later - earlier == DAY for earlier, later in pairwise(missing))


def test_a_voided_period_in_the_middle_is_found_first() -> None:
    weeks = [PeriodOfPay(date(2026, 10, 5) + 7 * n * DAY, date(2026, 10, 11) + 7 * n * DAY) for n in range(6)]
    recorded = [*weeks[:2], *weeks[3:5]]
    assert unpaid_periods(recorded, "weekly", date(2026, 10, 5), date(2026, 11, 15)) == [
        weeks[2],
        weeks[5],
    ]


def test_days_before_the_first_payroll_are_divided_backward_from_it() -> None:
    recorded = [PeriodOfPay(date(2026, 11, 4), date(2026, 11, 10))]
    assert unpaid_periods(recorded, "weekly", date(2026, 10, 24), date(2026, 11, 15)) == [
        PeriodOfPay(date(2026, 10, 24), date(2026, 10, 27)),
        PeriodOfPay(date(2026, 10, 28), date(2026, 11, 3)),
    ]
