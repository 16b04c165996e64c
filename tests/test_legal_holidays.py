"""The table of legal holidays is what the library says, and is asked without loading it."""

import subprocess
import sys

from hearthpay.legal_holidays import CALENDARS, FIRST_YEAR, LAST_YEAR, TABLE, computed, holidays_of
from tests.legal_holidays import table


def test_the_table_is_what_the_library_says() -> None:
    assert TABLE.read_text("utf-8") == table(), "python -m tests.legal_holidays"
    for calendar in CALENDARS:
        for year in (FIRST_YEAR - 1, FIRST_YEAR, LAST_YEAR, LAST_YEAR + 1):
            assert holidays_of(calendar, year) == computed(calendar, year)
            assert len(holidays_of(calendar, year)) >= 10


def test_the_library_is_not_loaded_for_a_day_of_these_years() -> None:
    asked = (
        "import datetime, sys; from hearthpay.banking.calendar import is_banking_day; "
        "from hearthpay.duties.office_days import is_office_day; day = datetime.date(2026, 11, 26); "
        "assert not is_banking_day(day) and not is_office_day(day, 'federal') and not is_office_day(day, 'dc'); "
        "assert 'holidays' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)
