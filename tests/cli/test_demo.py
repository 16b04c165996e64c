"""The demonstration runs in any year: it lives on a day that has rules."""

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hearthpay.banking.calendar import earliest_pay_date
from hearthpay.clock import FixedClock
from hearthpay.demo import demo_clock, run_demo, run_demo_in
from hearthpay.taxes.rulebook import supported_years
from tests.worlds.installations import install


@pytest.mark.parametrize("day", ["2026-11-20", "2026-12-24", "2027-01-05"])
def test_in_a_year_with_rules_it_is_today(day: str):
    today = FixedClock(datetime.fromisoformat(f"{day}T15:00+00:00"))
    assert demo_clock(today).now() == today.now()


def test_at_the_end_of_the_last_year_it_is_earlier_so_that_direct_deposit_arrives_in_it():
    late = FixedClock(datetime(2027, 12, 24, 21, tzinfo=UTC))
    clock = demo_clock(late)
    assert clock.today() < late.today()
    assert earliest_pay_date(clock.now()).year == clock.today().year


@pytest.mark.parametrize("year", [2028, 2031])
def test_in_any_other_year_it_is_a_day_of_the_last_one_with_rules(year):
    clock = demo_clock(FixedClock(datetime(year, 1, 5, 15, tzinfo=UTC)))
    assert clock.today().year < year
    assert clock.today().year == supported_years()[-1]


async def test_it_ends_well_on_an_empty_machine(capsys: pytest.CaptureFixture[str]):
    """In the night of a Sunday."""
    assert await run_demo(FixedClock(datetime(2026, 11, 22, 6, 20, tzinfo=UTC))) == 0
    assert "completed" in capsys.readouterr().out


@pytest.mark.parametrize("moment", ["2026-11-25T21:30", "2027-01-05T15:00"])
async def test_it_ends_well_at_any_time_of_day(moment: str, capsys: pytest.CaptureFixture[str]):
    """After the cut-off before a holiday, and in a year whose figures are not all out."""
    data_dir = Path(tempfile.mkdtemp(prefix="hearthpay-demo-"))
    try:
        install(data_dir)
        await run_demo_in(data_dir, FixedClock(datetime.fromisoformat(f"{moment}+00:00")))
    finally:
        shutil.rmtree(data_dir, ignore_errors=True)
    assert "completed" in capsys.readouterr().out
