"""Whether a period's length fits its frequency: fits, odd, or no such period at all."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.taxes import TaxInputError
from hearthpay.taxes.pay_periods import check_period
from hearthpay.taxes.rulebook import rulebook_of
from tests.cases import every_case

START = datetime.date(2026, 3, 2)
FREQUENCIES = sorted(rulebook_of(2026).pay_periods)


def _check(days: int, frequency: str, start: datetime.date = START):
    return check_period(start, start + datetime.timedelta(days=days - 1), frequency)


REGULAR = [
    ("daily", 1),
    ("weekly", 5),
    ("weekly", 7),
    ("biweekly", 12),
    ("biweekly", 14),
    ("semimonthly", 13),
    ("semimonthly", 16),
    ("monthly", 28),
    ("monthly", 31),
    ("quarterly", 90),
    ("quarterly", 92),
    ("semiannual", 181),
    ("semiannual", 184),
    ("annual", 365),
    ("annual", 366),
]


def test_a_regular_period_needs_no_word():
    with every_case() as case:
        for frequency, days in REGULAR:
            with case(frequency, days):
                assert _check(days, frequency) is None


@pytest.mark.parametrize(
    ("frequency", "days"), [("monthly", 7), ("monthly", 14), ("weekly", 1), ("biweekly", 7)]
)
def test_a_shorter_period_is_odd_and_says_that_tax_is_low(frequency, days):
    found = _check(days, frequency)
    assert found is not None
    assert found.code == "period_shorter_than_frequency"
    assert "lower" in found.message
    assert str(START) in found.message


@pytest.mark.parametrize(
    ("frequency", "days"),
    [("weekly", 8), ("weekly", 14), ("biweekly", 28), ("monthly", 45), ("semimonthly", 31)],
)
def test_a_longer_period_is_odd_and_says_that_tax_is_high(frequency, days):
    found = _check(days, frequency)
    assert found is not None
    assert found.code == "period_longer_than_frequency"
    assert "higher" in found.message


@pytest.mark.parametrize(
    ("frequency", "days"), [("weekly", 300), ("weekly", 15), ("biweekly", 31), ("monthly", 90), ("daily", 5)]
)
def test_a_period_of_more_than_two_is_none(frequency, days):
    with pytest.raises(TaxInputError, match=f"has {days} days") as caught:
        _check(days, frequency)
    assert caught.value.field == "pay_period_end"


def test_a_period_that_ends_before_it_starts_is_none():
    with pytest.raises(TaxInputError) as caught:
        check_period(START, START - datetime.timedelta(days=1), "weekly", "period_end")
    assert caught.value.field == "period_end"


def test_an_unknown_frequency_is_named():
    with pytest.raises(TaxInputError) as caught:
        _check(7, "fortnightly")
    assert caught.value.field == "pay_frequency"


@given(st.dates(datetime.date(2025, 1, 1), datetime.date(2027, 12, 31)), st.sampled_from(FREQUENCIES))
def test_every_frequency_of_the_rulebook_is_known_and_longer_never_becomes_better(start, frequency):
    """From odd-short over fitting and odd-long to refused, in this order, at whatever day it starts."""
    order = {"period_shorter_than_frequency": 0, None: 1, "period_longer_than_frequency": 2, "refused": 3}
    seen = []
    for days in range(1, 750):
        try:
            found = _check(days, frequency, start)
        except TaxInputError:
            seen.append(order["refused"])
        else:
            seen.append(order[found.code if found is not None else None])
    assert seen == sorted(seen)
    assert {1, 2, 3} <= set(seen)
