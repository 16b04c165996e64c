"""The demonstration runs in any year: it lives on a day whose law is complete."""

from datetime import UTC, datetime

import pytest

from hearthpay.clock import FixedClock
from hearthpay.demo import demo_clock
from hearthpay.taxes import rulebook_for


def test_in_a_year_whose_law_is_complete_it_is_today():
    today = FixedClock(datetime(2026, 11, 20, 15, tzinfo=UTC))
    assert demo_clock(today) is today


@pytest.mark.parametrize("year", [2027, 2031])
def test_in_any_other_year_it_is_a_day_of_the_last_complete_one(year):
    clock = demo_clock(FixedClock(datetime(year, 1, 5, 15, tzinfo=UTC)))
    assert clock.today().year < year
    assert rulebook_for(clock.today()).is_final
