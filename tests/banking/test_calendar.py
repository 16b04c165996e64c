"""Banking days against the Federal Reserve's printed holidays; deadlines over ten New Years and their clock changes."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.banking.calendar import (
    CUT_OFF,
    LEAD_DAYS,
    NotABankingDayError,
    add_banking_days,
    banking_day_on_or_after,
    banking_day_on_or_before,
    banking_days_between,
    earliest_pay_date,
    is_banking_day,
    next_banking_day,
    previous_banking_day,
    send_at,
    submission_day,
)
from hearthpay.clock import BUSINESS_TIME

# Federal Reserve Bank Services, Holiday Schedules (https://www.frbservices.org/about/holiday-schedules): days on which
# the Reserve Banks are closed. 2028 follows from the rule printed there.
CLOSED = """
2025-01-01 2025-01-20 2025-02-17 2025-05-26 2025-06-19 2025-07-04 2025-09-01 2025-10-13 2025-11-11 2025-11-27 2025-12-25
2026-01-01 2026-01-19 2026-02-16 2026-05-25 2026-06-19            2026-09-07 2026-10-12 2026-11-11 2026-11-26 2026-12-25
2027-01-01 2027-01-18 2027-02-15 2027-05-31            2027-07-05 2027-09-06 2027-10-11 2027-11-11 2027-11-25
           2028-01-17 2028-02-21 2028-05-29 2028-06-19 2028-07-04 2028-09-04 2028-10-09            2028-11-23 2028-12-25
"""

DAYS = st.dates(date(2022, 1, 1), date(2032, 12, 31))
TEN_YEARS = timedelta(days=3652)
INSTANTS = st.timedeltas(timedelta(0), TEN_YEARS).map(
    lambda passed: datetime(2022, 1, 1, tzinfo=UTC) + passed
)
MICROSECOND = timedelta(microseconds=1)


def eastern(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BUSINESS_TIME)


def test_the_weekdays_without_banking_are_the_printed_holidays() -> None:
    days = (date(2025, 1, 1) + timedelta(days=passed) for passed in range(365 * 4 + 1))
    assert [
        day.isoformat() for day in days if day.weekday() < 5 and not is_banking_day(day)
    ] == CLOSED.split()


@pytest.mark.parametrize("friday", ["2026-07-03", "2027-06-18", "2027-12-24", "2027-12-31", "2028-11-10"])
def test_the_friday_before_a_saturday_holiday_is_a_banking_day(friday: str) -> None:
    assert is_banking_day(date.fromisoformat(friday))


def test_the_monday_after_a_sunday_holiday_is_none() -> None:
    assert not is_banking_day(date(2027, 7, 5))
    assert not is_banking_day(date(2022, 12, 26))
    assert not is_banking_day(date(2023, 1, 2))


def test_a_national_day_of_mourning_closes_no_bank() -> None:
    # 9 January 2025, for President Carter: government offices closed, the Reserve Banks did not.
    assert is_banking_day(date(2025, 1, 9))


@given(DAYS)
def test_no_weekend_is_a_banking_day_and_none_lies_between_neighbours(day: date) -> None:
    if day.weekday() >= 5:
        assert not is_banking_day(day)
    after, before = next_banking_day(day), previous_banking_day(day)
    assert before < day < after
    assert is_banking_day(before)
    assert is_banking_day(after)
    between = (before + timedelta(days=passed) for passed in range(1, (after - before).days))
    assert [other for other in between if is_banking_day(other)] == [day] * is_banking_day(day)
    assert banking_day_on_or_after(day) == (day if is_banking_day(day) else after)
    assert banking_day_on_or_before(day) == (day if is_banking_day(day) else before)


@given(DAYS, st.integers(-30, 30))
def test_counting_undoes_adding(day: date, count: int) -> None:
    reached = add_banking_days(day, count)
    assert banking_days_between(day, reached) == count
    if is_banking_day(day):
        assert add_banking_days(reached, -count) == day


@given(DAYS, DAYS)
def test_counting_is_the_way_to_a_banking_day(start: date, end: date) -> None:
    end = banking_day_on_or_after(end)
    if start != end:
        assert add_banking_days(start, banking_days_between(start, end)) == end


@pytest.mark.parametrize(
    ("now", "day", "pay_date"),
    [
        # Friday, 20 November 2026; Thanksgiving lies in the five days.
        ("2026-11-20T14:59:59.999999", "2026-11-20", "2026-11-30"),
        ("2026-11-20T15:00", "2026-11-23", "2026-12-01"),
        ("2026-11-21T09:00", "2026-11-23", "2026-12-01"),
        ("2026-11-22T23:59", "2026-11-23", "2026-12-01"),
        ("2026-11-26T09:00", "2026-11-27", "2026-12-04"),
        # Over the New Year: 1 January 2027 is a Friday.
        ("2026-12-31T14:59", "2026-12-31", "2027-01-08"),
        ("2026-12-31T15:00", "2027-01-04", "2027-01-11"),
        # The days on which the clocks change, both Sundays.
        ("2026-03-08T03:00", "2026-03-09", "2026-03-16"),
        ("2026-11-01T01:30", "2026-11-02", "2026-11-09"),
    ],
)
def test_submission_day_and_earliest_pay_date(now: str, day: str, pay_date: str) -> None:
    assert submission_day(eastern(now)) == date.fromisoformat(day)
    assert earliest_pay_date(eastern(now)) == date.fromisoformat(pay_date)


@pytest.mark.parametrize(
    ("pay_date", "instant"),
    [
        ("2026-11-30", "2026-11-20T20:00:00+00:00"),
        ("2026-07-10", "2026-07-03T19:00:00+00:00"),
        # The hours of UTC differ on the two sides of a change of the clocks.
        ("2026-03-13", "2026-03-06T20:00:00+00:00"),
        ("2026-03-16", "2026-03-09T19:00:00+00:00"),
        ("2027-01-08", "2026-12-31T20:00:00+00:00"),
    ],
)
def test_files_close_five_banking_days_before_the_pay_date(pay_date: str, instant: str) -> None:
    assert send_at(date.fromisoformat(pay_date)) == datetime.fromisoformat(instant)
    assert send_at(date.fromisoformat(pay_date)).tzinfo is UTC


@given(DAYS.map(banking_day_on_or_after))
def test_what_comes_before_the_files_close_reaches_the_pay_date_and_nothing_after(pay_date: date) -> None:
    closing = send_at(pay_date)
    assert closing.astimezone(BUSINESS_TIME).time() == CUT_OFF
    assert earliest_pay_date(closing - MICROSECOND) == pay_date
    assert earliest_pay_date(closing) == next_banking_day(pay_date)


@given(INSTANTS)
def test_the_earliest_pay_date_can_still_be_sent(now: datetime) -> None:
    earliest = earliest_pay_date(now)
    assert is_banking_day(submission_day(now))
    assert banking_days_between(submission_day(now), earliest) == LEAD_DAYS
    assert send_at(earliest) > now
    assert send_at(previous_banking_day(earliest)) <= now


@given(INSTANTS, INSTANTS)
def test_later_submission_never_pays_earlier(one: datetime, other: datetime) -> None:
    first, second = sorted((one, other))
    assert earliest_pay_date(first) <= earliest_pay_date(second)


def test_no_file_closes_for_a_day_on_which_nothing_settles() -> None:
    with pytest.raises(
        NotABankingDayError, match="2026-11-26 is not a banking day, the next one is 2026-11-27"
    ) as told:
        send_at(date(2026, 11, 26))
    assert told.value.following == date(2026, 11, 27)


def test_an_instant_without_a_timezone_is_refused() -> None:
    with pytest.raises(ValueError, match="timezone"):
        submission_day(datetime(2026, 11, 20, 12))  # noqa: DTZ001 - the very thing to be refused


def test_the_answer_comes_fast_enough_for_a_loop_over_every_household() -> None:
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    earliest_pay_date(now)
    started = time.process_time()
    for passed in range(2_000):
        earliest_pay_date(now + timedelta(hours=passed))
    assert time.process_time() - started < 1
