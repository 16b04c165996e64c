"""Every due date of 2026 and early 2027, held against a table of them, and nothing due beside it."""

import datetime
import tomllib
from pathlib import Path

from hearthpay.duties.accounts import FREQUENCIES
from hearthpay.duties.calendar import calendar_of_duties
from hearthpay.duties.household import EmploymentSpell, Household, HouseholdEmployee
from hearthpay.duties.office_days import add_office_days, is_office_day, office_day_on_or_after
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case
from tests.duties.household import HOUSEHOLD, MARIA, everywhere

TABLE = tomllib.loads(Path(__file__).with_name("due_dates.toml").read_text("utf-8"))
NEW_HIRE_DAYS = TABLE.pop("new_hire_days")

FIRST, LAST = datetime.date(2026, 1, 1), datetime.date(2027, 4, 30)


def test_each_date_is_the_tables():
    expected = {
        f"{duty}/{period}": day
        for rule in TABLE.values()
        for duty in rule["duties"]
        for period, day in rule["due"].items()
    }
    found = {
        item.key.removesuffix(f"/{MARIA}"): item.due
        for frequency in (None, *FREQUENCIES)
        for item in calendar_of_duties(everywhere(frequency), FIRST, LAST)
    }
    assert found == expected


def test_a_hire_is_reported_within_the_states_days():
    with every_case() as case:
        for state in STATES:
            with case(state):
                hired = datetime.date(2026, 5, 1)
                household = Household(
                    HOUSEHOLD,
                    (HouseholdEmployee(MARIA, "Maria", (EmploymentSpell(state, hired),)),),
                    expects_to_owe=True,
                )
                reports = [
                    item
                    for item in calendar_of_duties(household, hired, datetime.date(2026, 6, 30))
                    if item.key == f"{state}/new-hire/hire-1/{MARIA}"
                ]
                assert [item.due for item in reports] == [
                    hired + datetime.timedelta(days=NEW_HIRE_DAYS.get(state, 20))
                ]


def test_what_the_law_names_is_kept_beside_the_moved_day():
    found = {item.key: item for item in calendar_of_duties(everywhere(), FIRST, LAST)}
    moved = found["ND/wages-quarterly/2026-Q3"]
    assert (moved.due_unmoved, moved.due) == (datetime.date(2026, 10, 31), datetime.date(2026, 11, 2))
    assert moved.confidence == "medium"
    assert any("7503" in source.title for source in moved.sources)
    unmoved = found["ND/wages-quarterly/2026-Q2"]
    assert unmoved.due == unmoved.due_unmoved == datetime.date(2026, 7, 31)
    assert unmoved.confidence == "high"
    assert not any("7503" in source.title for source in unmoved.sources)
    assert {found[f"{state}/wages-quarterly/2026-Q3"].confidence for state in ("CA", "NY")} == {"high"}


def test_the_irs_waits_for_the_holidays_of_the_district():
    # 15 April 2028 is a Saturday, and Emancipation Day, a Sunday, is kept on the Monday.
    items = calendar_of_duties(everywhere(), datetime.date(2028, 4, 1), datetime.date(2028, 4, 30))
    due = {item.key: item.due for item in items}
    assert due["US/schedule-h/2027"] == datetime.date(2028, 4, 18)
    assert due["CT/withholding-annual/2027"] == datetime.date(2028, 4, 17)


def test_offices_keep_the_friday_before_a_holiday_on_a_saturday():
    assert not is_office_day(datetime.date(2026, 7, 3), "federal")
    assert not is_office_day(datetime.date(2027, 12, 31), "federal")
    assert is_office_day(datetime.date(2027, 4, 16), "federal")
    assert not is_office_day(datetime.date(2027, 4, 16), "dc")
    assert office_day_on_or_after(datetime.date(2026, 7, 3), "federal") == datetime.date(2026, 7, 6)
    assert add_office_days(datetime.date(2026, 7, 1), 3, "federal") == datetime.date(2026, 7, 7)
