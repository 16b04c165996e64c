"""Instants are UTC, business days are Eastern: around midnight, the New Year and the changes of the clocks."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from hearthpay.clock import BUSINESS_TIME, Clock, FixedClock, SystemClock


@pytest.mark.parametrize(
    ("instant", "business_day"),
    [
        ("2026-11-20T15:00:00+00:00", date(2026, 11, 20)),
        # In winter New York is five hours behind UTC, in summer four.
        ("2027-01-01T04:59:59+00:00", date(2026, 12, 31)),
        ("2027-01-01T05:00:00+00:00", date(2027, 1, 1)),
        ("2026-07-01T03:59:59+00:00", date(2026, 6, 30)),
        ("2026-07-01T04:00:00+00:00", date(2026, 7, 1)),
        # Clocks go forward on 8 March 2026 at 2:00 and back on 1 November 2026 at 2:00.
        ("2026-03-08T04:59:59+00:00", date(2026, 3, 7)),
        ("2026-03-09T03:59:59+00:00", date(2026, 3, 8)),
        ("2026-03-09T04:00:00+00:00", date(2026, 3, 9)),
        ("2026-11-01T03:59:59+00:00", date(2026, 10, 31)),
        ("2026-11-02T04:59:59+00:00", date(2026, 11, 1)),
        ("2026-11-02T05:00:00+00:00", date(2026, 11, 2)),
        ("2028-02-29T23:30:00-05:00", date(2028, 2, 29)),
    ],
)
def test_today_is_the_eastern_calendar_day(instant: str, business_day: date) -> None:
    assert FixedClock(datetime.fromisoformat(instant)).today() == business_day


def test_a_fixed_clock_stands_until_it_is_moved() -> None:
    clock = FixedClock(datetime(2026, 12, 31, 23, 0, tzinfo=BUSINESS_TIME))
    assert clock.now() == clock.now() == datetime(2027, 1, 1, 4, 0, tzinfo=UTC)
    assert clock.today() == date(2026, 12, 31)
    clock.advance(timedelta(hours=1))
    assert clock.now() == datetime(2027, 1, 1, 5, 0, tzinfo=UTC)
    assert clock.today() == date(2027, 1, 1)


def test_advancing_counts_elapsed_time_across_the_change_of_the_clocks() -> None:
    clock = FixedClock(datetime(2026, 3, 7, 12, 0, tzinfo=BUSINESS_TIME))
    clock.advance(timedelta(hours=24))
    assert clock.now().astimezone(BUSINESS_TIME).hour == 13


def test_now_is_in_utc_whatever_the_clock_was_given() -> None:
    assert FixedClock(datetime(2026, 7, 1, tzinfo=BUSINESS_TIME)).now().tzinfo is UTC


def test_a_clock_refuses_an_instant_without_a_timezone() -> None:
    with pytest.raises(ValueError, match="timezone"):
        FixedClock(datetime(2026, 7, 1))  # noqa: DTZ001 - the very thing to be refused


def test_the_system_clock_runs_in_utc() -> None:
    clock: Clock = SystemClock()
    before = datetime.now(UTC)
    now = clock.now()
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(0)
    assert abs(clock.today() - now.date()) <= timedelta(days=1)
