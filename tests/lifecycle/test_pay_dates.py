"""Default, deadline and sending time of every pay date over ten years, leap days, holidays and clock changes too."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.access.refusal import Refusal
from hearthpay.banking.calendar import is_banking_day
from hearthpay.clock import BUSINESS_TIME
from hearthpay.legal_holidays import holidays_of
from hearthpay.payroll.orders.pay_dates import PayDates, settle_pay_dates

FIRST, LAST = datetime(2025, 1, 1, tzinfo=UTC), datetime(2034, 12, 31, 23, 59, 59, tzinfo=UTC)
is_banking_day(FIRST.date())  # the calendar takes a second to load, which is no example's fault
INSTANTS = st.datetimes(FIRST.replace(tzinfo=None), LAST.replace(tzinfo=None), timezones=st.just(UTC))


def submission_day(now: datetime) -> date:
    """The rule in its plainest form, day by day."""
    eastern = now.astimezone(BUSINESS_TIME)
    day = eastern.date() if eastern.time() < time(15) else eastern.date() + timedelta(days=1)
    while not is_banking_day(day):
        day += timedelta(days=1)
    return day


def banking_days_after(day: date, count: int) -> date:
    while count:
        day += timedelta(days=1)
        count -= is_banking_day(day)
    return day


def settle(now: datetime, pay_date: date | None, way: str = "direct_deposit") -> PayDates:
    today = now.astimezone(BUSINESS_TIME).date()
    start = today - timedelta(days=7)
    if pay_date is not None:
        start = min(start, pay_date)
    return settle_pay_dates(start, start + timedelta(days=6), pay_date, way, today=today, now=now)


@given(now=INSTANTS)
def test_the_earliest_pay_date_is_five_business_days_after_the_submission_day(now: datetime):
    dates = settle(now, None)
    assert dates.pay_date == banking_days_after(submission_day(now), 5)
    assert dates.defaulted
    assert dates.send_at is None
    assert settle(now, dates.pay_date).send_at is None  # named, it runs now as well


@given(now=INSTANTS, days=st.integers(1, 40))
def test_earlier_is_refused_with_the_next_that_works(now: datetime, days: int):
    earliest = settle(now, None).pay_date
    with pytest.raises(Refusal) as refused:
        settle(now, earliest - timedelta(days=days))
    assert refused.value.code == "pay_date_past_deadline"
    assert refused.value.details == {
        "pay_date": earliest - timedelta(days=days),
        "next_valid_pay_date": earliest,
    }


@given(now=INSTANTS, days=st.integers(0, 400))
def test_a_day_on_which_banks_are_closed_moves_to_the_banking_day_before(now: datetime, days: int):
    asked = settle(now, None).pay_date + timedelta(days=days)
    dates = settle(now, asked)
    assert is_banking_day(dates.pay_date)
    assert dates.pay_date <= asked
    assert not any(
        is_banking_day(dates.pay_date + timedelta(days=step + 1))
        for step in range((asked - dates.pay_date).days)
    )
    assert dates.asked == (asked if asked != dates.pay_date else None)
    assert (dates.told is None) == (dates.asked is None)
    assert settle(now, dates.pay_date).send_at == dates.send_at


@given(now=INSTANTS, days=st.integers(1, 400))
def test_later_waits_until_three_in_the_afternoon_five_business_days_before(now: datetime, days: int):
    earliest = settle(now, None).pay_date
    dates = settle(now, earliest + timedelta(days=days))
    if dates.pay_date == earliest:  # banks are closed until the day asked for: it runs now
        assert dates.send_at is None
        return
    assert dates.send_at is not None
    sent = dates.send_at.astimezone(BUSINESS_TIME)
    assert sent.time() == time(15)  # also where the clocks have changed in between
    assert is_banking_day(sent.date())
    assert dates.send_at > now
    passed = sum(
        is_banking_day(sent.date() + timedelta(days=step + 1))
        for step in range((dates.pay_date - sent.date()).days)
    )
    assert passed == 5


@given(now=INSTANTS, days=st.integers(1, 400))
def test_what_is_sent_at_its_time_still_reaches_its_pay_date(now: datetime, days: int):
    """A moment before the cut-off at which a payroll fires, its pay date is still one that can be asked for."""
    dates = settle(now, settle(now, None).pay_date + timedelta(days=days))
    if dates.send_at is None:
        return
    just_before = dates.send_at - timedelta(microseconds=1)
    assert settle(just_before, None).pay_date == dates.pay_date
    with pytest.raises(Refusal):
        settle(dates.send_at, dates.pay_date)


def test_the_five_days_before_a_holiday_are_counted_from_the_day_on_which_the_money_arrives():
    """A year of holidays: as for the banking day before, so that no day of the five is lost to the holiday."""
    now = datetime(2025, 1, 2, 15, tzinfo=UTC)
    sent = {}
    for holiday in sorted(holidays_of("federal_reserve", 2025)):
        if holiday < date(2025, 1, 20):
            continue
        dates = settle(now, holiday)
        before = holiday - timedelta(days=1)
        while not is_banking_day(before):
            before -= timedelta(days=1)
        assert (dates.pay_date, dates.asked) == (before, holiday)
        assert dates.send_at is not None
        assert dates.send_at == settle(now, before).send_at
        sent[holiday] = dates.send_at.astimezone(BUSINESS_TIME).date()
        assert banking_days_after(sent[holiday], 5) == before
    assert len(sent) == 10
    assert sent[date(2025, 12, 25)] == date(2025, 12, 17)
    assert sent[date(2025, 11, 27)] == date(2025, 11, 19)


def test_by_check_the_pay_date_is_the_household_s_own_day():
    """In Honolulu the last hours of a year are the next year's first in US Eastern time."""
    now = datetime(2027, 1, 1, 6, tzinfo=UTC)
    eastern, own = date(2027, 1, 1), date(2026, 12, 31)
    start, end = date(2026, 12, 21), date(2026, 12, 27)
    dates = settle_pay_dates(start, end, None, "on_paper", today=eastern, now=now, own_day=own)
    assert dates.pay_date == own
    assert dates.told is not None
    assert (dates.told.code, dict(dates.told.params)["year"]) == ("today_in_two_years", 2026)
    named = settle_pay_dates(start, end, eastern, "on_paper", today=eastern, now=now, own_day=own)
    assert named.told is not None
    assert dict(named.told.params)["year"] == 2027
    other = settle_pay_dates(start, end, date(2026, 12, 30), "on_paper", today=eastern, now=now, own_day=own)
    assert other.told is None
    by_bank = settle_pay_dates(start, end, None, "direct_deposit", today=eastern, now=now, own_day=own)
    assert by_bank.pay_date == banking_days_after(submission_day(now), 5)
    quarter = settle_pay_dates(
        date(2026, 6, 15),
        date(2026, 6, 21),
        None,
        "on_paper",
        today=date(2026, 7, 1),
        now=now,
        own_day=date(2026, 6, 30),
    )
    assert quarter.told is not None
    assert quarter.told.code == "today_in_two_quarters"
    alike = settle_pay_dates(start, end, None, "on_paper", today=own, now=now, own_day=own)
    assert (alike.pay_date, alike.told) == (own, None)


@given(now=INSTANTS)
def test_by_check_the_pay_date_is_today_or_the_period_end(now: datetime):
    today = now.astimezone(BUSINESS_TIME).date()
    for end in (today - timedelta(days=3), today, today + timedelta(days=3)):
        dates = settle_pay_dates(today - timedelta(days=6), end, None, "on_paper", today=today, now=now)
        assert dates.pay_date == max(today, end)
        assert dates.send_at is None


@pytest.mark.parametrize(
    ("now", "earliest"),
    [
        ("2026-11-20T19:59:59Z", "2026-11-30"),  # Friday before 15:00; Thanksgiving is in between
        ("2026-11-20T20:00:00Z", "2026-12-01"),
        ("2026-11-21T12:00:00Z", "2026-12-01"),  # Saturday counts as Monday
        ("2026-03-06T19:59:59Z", "2026-03-13"),  # still standard time
        ("2026-03-09T18:59:59Z", "2026-03-16"),  # daylight time: 15:00 is 19:00 UTC
        ("2026-03-09T19:00:00Z", "2026-03-17"),
        ("2026-10-30T18:59:59Z", "2026-11-06"),
        ("2026-11-02T19:59:59Z", "2026-11-09"),
        ("2026-11-02T20:00:00Z", "2026-11-10"),
        ("2026-12-24T20:00:00Z", "2027-01-05"),  # the 28th; New Year's Day is a Friday
        (
            "2027-12-31T19:59:59Z",
            "2028-01-07",
        ),  # 1 January 2028 is a Saturday: the banks are open on the 31st
    ],
)
def test_known_days(now: str, earliest: str):
    instant = datetime.fromisoformat(now)
    assert settle(instant, None).pay_date == date.fromisoformat(earliest)
