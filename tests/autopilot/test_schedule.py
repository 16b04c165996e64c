"""The schedule: what must hold of the periods of any frequency, anchor and pay day, and dates worked out by hand."""

import datetime
from itertools import islice, pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.autopilot.schedule import (
    Schedule,
    Stage,
    common_starts,
    first_still_sent,
    periods_of,
    preview,
    stage_of,
)
from hearthpay.banking.calendar import is_banking_day, next_banking_day
from hearthpay.clock import BUSINESS_TIME
from hearthpay.employees.commands import PayFrequency

DAY = datetime.timedelta(days=1)
LENGTHS = {"weekly": {7}, "biweekly": {14}, "semimonthly": {13, 14, 15, 16}, "monthly": {28, 29, 30, 31}}


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    frequency = draw(st.sampled_from(get_args(PayFrequency)))
    day = draw(st.dates(datetime.date(2023, 12, 1), datetime.date(2032, 1, 31)))
    if frequency == "monthly":
        day = day.replace(day=1)
    elif frequency == "semimonthly":
        day = day.replace(day=draw(st.sampled_from((1, 16))))
    return Schedule(frequency, day, draw(st.integers(0, 14)))


@given(schedules())
def test_periods_follow_each_other_without_gap_or_overlap(schedule: Schedule) -> None:
    periods = list(islice(schedule.periods(schedule.anchor), 60))
    assert periods[0].start == schedule.anchor
    for before, after in pairwise(periods):
        assert after.start == before.end + DAY
        assert after.pay_date > before.pay_date
        assert after.send_at > before.send_at
    assert {(period.end - period.start).days + 1 for period in periods} <= LENGTHS[schedule.frequency]


@given(schedules())
def test_wages_arrive_on_banking_days_and_their_money_is_sent_five_before(schedule: Schedule) -> None:
    for period in islice(schedule.periods(schedule.anchor), 30):
        assert is_banking_day(period.pay_date)
        assert period.pay_date <= period.nominal_pay_date
        closed = (period.nominal_pay_date - period.pay_date).days
        assert not any(is_banking_day(period.pay_date + passed * DAY) for passed in range(1, closed + 1))
        there = period.send_at.astimezone(BUSINESS_TIME)
        assert (there.hour, there.minute) == (15, 0)
        day = there.date()
        for _ in range(5):
            day = next_banking_day(day)
        assert day == period.pay_date


@given(schedules(), st.integers(0, 900))
def test_a_period_does_not_depend_on_where_one_begins_to_count(schedule: Schedule, days: int) -> None:
    start = schedule.start_on_or_after(schedule.anchor + days * DAY)
    counted = next(period for period in schedule.periods(schedule.anchor) if period.start >= start)
    assert schedule.period(start) == counted


@given(schedules(), st.integers(1, 40), st.sampled_from(get_args(PayFrequency)))
def test_a_change_of_schedule_leaves_neither_gap_nor_overlap(
    schedule: Schedule, periods: int, frequency: PayFrequency
) -> None:
    later = next(islice(schedule.periods(schedule.anchor), periods, None)).start
    start = next(common_starts([Stage(schedule.anchor, schedule)], frequency, later), None)
    if start is None:
        return
    stages = (Stage(schedule.anchor, schedule), Stage(start, Schedule(frequency, start, 3)))
    together = list(islice(periods_of(stages, schedule.anchor), 120))
    assert all(after.start == before.end + DAY for before, after in pairwise(together))
    assert {stage_of(stages, period.start) for period in together if period.start >= start} <= {1}


@pytest.mark.parametrize(
    ("frequency", "anchor", "pay_days_after", "expected"),
    [
        # A leap year's February, and the turn of the year.
        (
            "semimonthly",
            "2028-02-16",
            0,
            [("2028-02-16", "2028-02-29", "2028-02-29"), ("2028-03-01", "2028-03-15", "2028-03-15")],
        ),
        (
            "monthly",
            "2026-12-01",
            1,
            [("2026-12-01", "2026-12-31", "2026-12-31"), ("2027-01-01", "2027-01-31", "2027-02-01")],
        ),
        # Christmas of 2026 is a Friday; the Thursday before it is a banking day.
        ("weekly", "2026-12-14", 5, [("2026-12-14", "2026-12-20", "2026-12-24")]),
        # Thanksgiving.
        ("biweekly", "2026-11-09", 4, [("2026-11-09", "2026-11-22", "2026-11-25")]),
    ],
)
def test_dates_worked_out_by_hand(
    frequency: PayFrequency, anchor: str, pay_days_after: int, expected: list[tuple[str, str, str]]
) -> None:
    schedule = Schedule(frequency, datetime.date.fromisoformat(anchor), pay_days_after)
    found = islice(schedule.periods(schedule.anchor), len(expected))
    assert [(str(each.start), str(each.end), str(each.pay_date)) for each in found] == expected


def test_money_is_sent_five_business_days_before_over_a_holiday() -> None:
    period = Schedule("weekly", datetime.date(2026, 11, 16), 9).period(datetime.date(2026, 11, 16))
    assert period.pay_date == datetime.date(2026, 12, 1)
    # Monday 30, Friday 27, Wednesday 25 (Thanksgiving is closed), Tuesday 24, Monday 23.
    assert period.send_at == datetime.datetime(2026, 11, 23, 20, 0, tzinfo=datetime.UTC)


def test_what_is_shown_leaves_out_what_is_skipped() -> None:
    schedule = Schedule("weekly", datetime.date(2026, 11, 16), 5)
    stages = (Stage(schedule.anchor, schedule),)
    shown = preview(stages, schedule.anchor, skip_through=datetime.date(2026, 11, 29))
    assert [str(period.start) for period in shown] == ["2026-11-30", "2026-12-07", "2026-12-14"]


def test_a_period_whose_money_was_to_be_sent_is_not_taken_up() -> None:
    schedule = Schedule("weekly", datetime.date(2026, 11, 16), 9)
    stages = (Stage(schedule.anchor, schedule),)
    sent = schedule.period(schedule.anchor).send_at
    assert first_still_sent(stages, schedule.anchor, sent).start == datetime.date(2026, 11, 23)
    just_before = sent - datetime.timedelta(seconds=1)
    assert first_still_sent(stages, schedule.anchor, just_before).start == schedule.anchor


@pytest.mark.parametrize(
    ("frequency", "anchor", "pay_days_after"),
    [
        ("monthly", "2026-11-02", 3),
        ("semimonthly", "2026-11-15", 3),
        ("weekly", "2026-11-16", -1),
        ("weekly", "2026-11-16", 15),
    ],
)
def test_what_is_no_schedule_is_refused(frequency: PayFrequency, anchor: str, pay_days_after: int) -> None:
    with pytest.raises(ValueError, match=r"begins on|pay_days_after"):
        Schedule(frequency, datetime.date.fromisoformat(anchor), pay_days_after)


def test_nothing_is_scheduled_before_the_anchor() -> None:
    schedule = Schedule("weekly", datetime.date(2026, 11, 16), 5)
    with pytest.raises(ValueError, match="nothing is scheduled"):
        next(periods_of((Stage(schedule.anchor, schedule),), datetime.date(2026, 11, 9)))
    with pytest.raises(ValueError, match="no weekly period"):
        schedule.period(datetime.date(2026, 11, 17))
