"""Minimum wages and overtime of household work: every state, the days on which they change, and what is told."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.labor_law import HoursWorked, labor_warnings
from hearthpay.taxes.labor_law import minimum_wages as wages_module
from hearthpay.taxes.labor_law import overtime as overtime_module
from hearthpay.taxes.labor_law.minimum_wages import (
    governing_minimum_wage,
    minimum_wages_of,
    read_minimum_wages,
)
from hearthpay.taxes.labor_law.overtime import overtime_of, overtime_rules, read_overtime
from hearthpay.taxes.rule_file import RuleTable, parse_toml
from tests.cases import every_case

FEDERAL = "7.25"

#: What one employee who lives elsewhere is owed an hour on 7 March 2025, 5 June 2026 and 6 August 2027, in the states
#: whose law reaches a household; everywhere else it is the federal figure.
OWN = {
    "AZ": ("14.70", "15.15", "15.15"), "CA": ("16.50", "16.90", "17.40"), "CO": ("14.81", "15.16", "15.71"),
    "CT": ("16.35", "16.94", "17.48"), "DC": ("17.50", "17.95", "18.40"), "FL": ("13.00", "14.00", "15.00"),
    "HI": ("14.00", "16.00", "16.00"), "IL": ("15.00", "15.00", "15.00"), "MA": ("15.00", "15.00", "15.00"),
    "MD": ("15.00", "15.00", "15.00"), "ME": ("14.65", "15.10", "15.70"), "MN": ("11.13", "11.41", "11.87"),
    "MO": ("13.75", "15.00", "15.00"), "MT": ("10.55", "10.85", "10.85"), "NJ": ("14.53", "15.23", "16.25"),
    "NM": ("12.00", "12.00", "12.00"), "NV": ("12.00", "12.00", "12.00"), "NY": ("15.50", "16.00", "16.00"),
    "OR": ("14.70", "15.05", "15.55"), "RI": ("15.00", "16.00", "17.00"), "SD": ("11.50", "11.85", "11.85"),
    "VA": ("12.41", "12.77", "13.75"), "WA": ("16.66", "17.13", "17.73"),
}  # fmt: skip
DAYS = ("2025-03-07", "2026-06-05", "2027-08-06")

#: From how many employees a state's law begins, and what it asks for then on those days.
FROM_SEVERAL = {
    "AR": (4, ("11.00", "11.00", "11.00")),
    "MI": (2, ("12.48", "13.73", "15.00")),
    "NE": (4, ("13.50", "15.00", "15.26")),
    "WV": (6, ("8.75", "8.75", "8.75")),
}

#: Where those who live in have overtime, and over how many hours a week, on 5 June 2026.
LIVE_IN = {
    "CA": 45, "CO": 40, "DC": 40, "HI": 40, "IL": 40, "MA": 40, "MD": 40, "ME": 40, "MN": 48, "NJ": 40, "NM": 40,
    "NV": 40, "NY": 44, "OR": 44,
}  # fmt: skip

EXCLUDED = {"AK", "DE", "ID", "NH", "OH", "PA", "VT"}
WITHOUT_LAW = {"AL", "LA", "MS", "SC", "TN"}


def _day(day: str) -> datetime.date:
    return datetime.date.fromisoformat(day)


def _minimum(state: str, day: str, *places: str, lives_in: bool = False, employees: int = 1) -> str:
    wage = governing_minimum_wage(state, places, _day(day), lives_in=lives_in, employees=employees)
    return str(Decimal(wage.cents).scaleb(-2))


def _paid(
    state: str, rate: str, hours: str, day: str = "2026-06-05", *, days: int = 14, **more
) -> HoursWorked:
    end = _day(day)
    given_ = {
        "work_state": state,
        "pay_date": end,
        "period_start": end - datetime.timedelta(days=days - 1),
        "period_end": end,
        "regular_hours": Decimal(hours),
        "overtime_hours": Decimal(0),
        "hourly_rate": Decimal(rate),
        "overtime_rate": Decimal(rate) * Decimal("1.5"),
    }
    return HoursWorked(**(given_ | more))


def _codes(paid: HoursWorked) -> list[str]:
    return [warning.code for warning in labor_warnings(paid)]


# --- minimum wages ------------------------------------------------------------------------------------------------


def test_the_minimum_wage_of_every_state():
    with every_case() as case:
        for state in STATES:
            with case(state):
                found = tuple(_minimum(state, day) for day in DAYS)
                assert found == OWN.get(state, (FEDERAL,) * 3)
                least, several = FROM_SEVERAL.get(state, (1, found))
                assert tuple(_minimum(state, day, employees=least) for day in DAYS) == several
                assert tuple(_minimum(state, day, employees=max(1, least - 1)) for day in DAYS) == found


def test_the_data_say_why_federal_law_governs():
    laws = {state: minimum_wages_of(state).law for state in STATES}
    assert {state for state, law in laws.items() if law == "excludes_household"} == EXCLUDED
    assert {state for state, law in laws.items() if law == "none"} == WITHOUT_LAW
    assert {state for state, law in laws.items() if law == "own"} == OWN.keys() | FROM_SEVERAL.keys()
    assert all(minimum_wages_of(state).rule for state in STATES)


CHANGES = [
    ("CA", "2025-12-31", "16.50", "16.90"),
    ("CA", "2026-12-31", "16.90", "17.40"),
    ("CO", "2026-12-31", "15.16", "15.71"),
    ("CT", "2026-12-31", "16.94", "17.48"),
    ("DC", "2025-06-30", "17.50", "17.95"),
    ("DC", "2026-06-30", "17.95", "18.40"),
    ("FL", "2025-09-29", "13.00", "14.00"),
    ("FL", "2026-09-29", "14.00", "15.00"),
    ("HI", "2025-12-31", "14.00", "16.00"),
    ("ME", "2026-12-31", "15.10", "15.70"),
    ("MN", "2026-12-31", "11.41", "11.87"),
    ("NJ", "2025-12-31", "14.53", "15.23"),
    ("NJ", "2026-12-31", "15.23", "16.25"),
    ("NY", "2026-12-31", "16.00", "16.00"),
    ("OR", "2025-06-30", "14.70", "15.05"),
    ("OR", "2026-06-30", "15.05", "15.55"),
    ("RI", "2026-12-31", "16.00", "17.00"),
    ("VA", "2026-12-31", "12.77", "13.75"),
    ("WA", "2026-12-31", "17.13", "17.73"),
]


def test_a_figure_changes_overnight():
    with every_case() as case:
        for state, before, old, new in CHANGES:
            with case(state, before, old, new):
                after = _day(before) + datetime.timedelta(days=1)
                assert (_minimum(state, before), _minimum(state, str(after))) == (old, new)


def test_michigan_raised_its_figure_within_a_year():
    assert [_minimum("MI", day, employees=2) for day in ("2025-02-20", "2025-02-21")] == ["10.56", "12.48"]


#: What one employee is owed an hour in a place on a day, by the ordinances and notices that the file names.
HIGHER_IN_A_PLACE = [
    ("NY", "NYC", "2026-06-05", "17.00"),
    ("NY", "yonkers", "2025-06-05", "16.50"),
    ("NY", "BUFFALO", "2026-06-05", "16.00"),
    ("NY", "NYC", "2027-01-01", "17.00"),
    ("CO", "DENVER", "2026-06-05", "19.29"),
    ("CO", "DENVER", "2027-01-01", "19.84"),
    ("AZ", "Flagstaff", "2026-01-01", "18.35"),
    ("AZ", "FLAGSTAFF", "2025-12-31", "17.85"),
    ("WA", "SEATTLE", "2026-01-01", "21.30"),
    ("WA", "SEATTLE", "2025-12-31", "20.76"),
    ("OR", "TRIMET", "2025-07-01", "16.30"),
    ("IL", "Chicago", "2025-07-01", "16.60"),
    ("IL", "Chicago", "2026-07-01", "17.05"),
    ("IL", "Cook County", "2026-07-01", "15.40"),
    ("IL", "COOK-COUNTY", "2026-06-30", "15.00"),
    ("MD", "MONTGOMERY-COUNTY", "2025-07-01", "15.50"),
    ("MD", "Bethesda", "2026-07-01", "15.95"),
    ("MD", "20910", "2026-07-01", "15.95"),
    ("MD", "Howard County", "2025-12-31", "15.00"),
    ("MD", "Ellicott City", "2026-01-01", "15.50"),
    ("MD", "21044", "2026-07-01", "16.00"),
    ("CA", "Oakland", "2026-11-20", "17.34"),
    ("CA", "Richmond", "2026-01-01", "19.18"),
    ("CA", "Sunnyvale", "2025-01-01", "19.00"),
    ("CA", "Sunnyvale", "2026-01-01", "19.50"),
    ("CA", "Santa Rosa", "2026-01-01", "18.21"),
    ("CA", "Malibu", "2026-06-30", "17.27"),
    ("CA", "Malibu", "2026-07-01", "17.91"),
    ("CA", "San Francisco", "2026-07-01", "19.61"),
    ("CA", "Sherman Oaks", "2026-07-01", "18.42"),
    ("CA", "Altadena", "2026-07-01", "18.47"),
    ("CA", "Hayward", "2026-07-01", "16.90"),  # the state's for employers of 25 or fewer
    ("CA", "Fresno", "2026-07-01", "16.90"),
    ("CO", "Boulder", "2025-06-01", "15.57"),
    ("CO", "Boulder", "2027-01-01", "18.17"),
    ("CO", "Boulder County", "2025-06-01", "16.57"),
    ("CO", "Niwot", "2026-06-01", "16.82"),
    ("CO", "Edgewater", "2025-06-01", "16.52"),
    ("CO", "Edgewater", "2028-01-01", "21.99"),
    ("IL", "Evanston", "2026-07-01", "15.40"),
    ("ME", "Portland", "2028-01-01", "19.00"),
    ("ME", "Rockland", "2026-01-01", "15.10"),  # from 26 employees on it is 16.00
    ("MN", "Saint Paul", "2026-06-30", "13.25"),
    ("MN", "St. Paul", "2026-07-01", "14.25"),
    ("MN", "Saint Paul", "2027-07-01", "15.00"),
    ("MN", "Minneapolis", "2025-01-01", "15.97"),
    ("NM", "Las Cruces", "2026-01-01", "13.01"),
    ("NM", "Santa Fe", "2026-03-01", "15.40"),
    ("NM", "Santa Fe", "2027-01-01", "17.50"),
    ("NM", "Tesuque", "2026-03-01", "15.40"),
    ("NM", "Albuquerque", "2026-03-01", "12.00"),
    ("NY", "Brooklyn", "2026-06-05", "17.00"),
    ("NY", "11530", "2026-06-05", "17.00"),  # Garden City, Nassau
    ("NY", "10583", "2026-06-05", "17.00"),  # Scarsdale, Westchester
    ("NY", "10509", "2026-06-05", "16.00"),  # Brewster, Putnam
    ("OR", "Beaverton", "2026-07-01", "16.80"),
    ("OR", "Eugene", "2026-07-01", "15.55"),
    ("OR", "Coos Bay", "2026-07-01", "14.55"),  # in place of the state's standard figure
    ("OR", "Wallowa County", "2025-07-01", "14.05"),
    ("WA", "Bellingham", "2025-05-01", "18.66"),
    ("WA", "Bellingham", "2027-01-01", "19.73"),
    ("WA", "Vashon", "2025-01-01", "17.29"),
    ("WA", "King County", "2026-01-01", "18.32"),
    ("WA", "Tukwila", "2026-01-01", "17.13"),  # from 15 employees on it is 21.65
    ("HI", "Honolulu", "2028-01-01", "18.00"),
    ("VA", "Arlington", "2028-01-01", "15.00"),
    ("TX", "DENVER", "2026-06-05", FEDERAL),  # a place belongs to its state
]


def test_a_place_may_ask_for_more():
    with every_case() as case:
        for state, place, day, figure in HIGHER_IN_A_PLACE:
            with case(state, place, day, figure):
                assert _minimum(state, day, place) == figure


def test_washington_covers_those_who_live_in_from_july_2027():
    days = ("2026-06-05", "2027-06-30", "2027-07-01")
    assert [_minimum("WA", day, lives_in=True) for day in days] == [FEDERAL, FEDERAL, "17.73"]
    assert [_minimum("WA", day) for day in days] == ["17.13", "17.73", "17.73"]


@given(
    st.sampled_from(sorted(STATES)),
    st.dates(datetime.date(2025, 1, 1), datetime.date(2027, 12, 31)),
    st.booleans(),
    st.integers(1, 7),
)
def test_nothing_goes_below_the_federal_figure_and_every_employee_can_only_add(
    state, day, lives_in, employees
):
    def figure(count: int) -> int:
        return governing_minimum_wage(state, (), day, lives_in=lives_in, employees=count).cents

    assert 725 <= figure(employees) <= figure(employees + 1)


# --- overtime -----------------------------------------------------------------------------------------------------


def test_overtime_of_every_state():
    with every_case() as case:
        for state in STATES:
            with case(state):
                _check_overtime(state)


def _check_overtime(state):
    hours = Decimal("0.001")
    out, lives_in = _paid(state, "30", "80"), _paid(state, "30", "0", lives_in=True)
    assert _codes(out) == []
    assert _codes(out._replace(regular_hours=80 + hours)) == ["overtime_paid_as_regular"]
    week = LIVE_IN.get(state)
    if week is None:
        assert _codes(lives_in._replace(regular_hours=Decimal(168))) == []
        return
    full = Decimal(2 * week)
    assert _codes(lives_in._replace(regular_hours=full)) == []
    assert _codes(lives_in._replace(regular_hours=full + hours)) == ["overtime_paid_as_regular"]


def test_the_data_have_overtime_of_their_own_where_it_reaches_further():
    own = {state for state in STATES if overtime_of(state).law == "own"}
    assert own == LIVE_IN.keys() | {"MT", "ND", "VA", "WA"}


@pytest.mark.parametrize(
    ("days", "room"),
    [
        (5, 40),  # a week named by its working days
        (3, 40),
        (7, 40),
        (12, 80),  # two weeks named so
        (14, 80),
        (15, 90),
        (16, 100),
        (28, 160),
        (31, 190),
    ],
)
def test_a_period_holds_its_weeks_and_long_days_of_a_week_begun(days, room):
    assert _codes(_paid("TX", "30", str(room), days=days)) == []
    [warning] = labor_warnings(_paid("TX", "30", str(room + 1), days=days))
    assert warning.figures == {
        "regular_hours": Decimal(room + 1),
        "hours_without_overtime": Decimal(room),
    }
    assert warning.field == "regular_hours"
    assert "at least 1, as overtime_hours" in warning.message


def test_hours_of_a_day_count_where_a_state_counts_them():
    """Two days of 10 hours in California; four of 8 in Nevada, for a rate below 18.00 only."""
    [warning] = labor_warnings(_paid("CA", "30", "18.5", days=2))
    assert warning.code == "overtime_paid_as_regular"
    assert "9 a day" in warning.message
    assert "double time over 12" in warning.message
    assert _codes(_paid("CA", "30", "18", days=2)) == _codes(_paid("TX", "30", "20", days=2)) == []
    assert _codes(_paid("CO", "30", "24.5", days=2)) == ["overtime_paid_as_regular"]
    assert _codes(_paid("NV", "17.99", "33", days=4)) == ["overtime_paid_as_regular"]
    assert _codes(_paid("NV", "18", "33", days=4)) == []


def test_federal_law_counts_where_it_begins_earlier():
    """Minnesota's own law begins at 48 hours, California's for nannies at 45: who lives elsewhere has it from 40 on."""
    for state, own in (("MN", 48), ("CA", 45)):
        [out] = labor_warnings(_paid(state, "30", "42", days=7))
        assert "by federal law hours over 40" in out.message
        assert _codes(_paid(state, "30", str(own), days=7, lives_in=True)) == []
        [within] = labor_warnings(_paid(state, "30", str(own + 1), days=7, lives_in=True))
        assert f"by the law of {STATES[state]} hours over {own}" in within.message


def test_washington_counts_overtime_of_those_who_live_in_from_july_2027():
    for day, told in (("2027-06-30", []), ("2027-07-01", ["overtime_paid_as_regular"])):
        assert _codes(_paid("WA", "30", "100", day, lives_in=True)) == told
        assert _codes(_paid("WA", "30", "100", day)) == ["overtime_paid_as_regular"]


def test_the_overtime_rate_is_one_and_a_half_times_the_regular_one():
    paid = _paid("TX", "20", "40", days=7, overtime_hours=Decimal(2))
    assert _codes(paid) == []
    [warning] = labor_warnings(paid._replace(overtime_rate=Decimal("29.99")))
    assert (warning.code, warning.field) == ("overtime_rate_too_low", "overtime_rate")
    assert warning.figures == {
        "overtime_rate": Decimal("29.99"),
        "hourly_rate": Decimal("20.00"),
        "least_overtime_rate": Decimal("30.00"),
    }
    # Half a cent rounded off is not held against anyone; without overtime nobody asks.
    odd = paid._replace(hourly_rate=Decimal("15.55"), overtime_rate=Decimal("23.32"))
    assert _codes(odd) == _codes(paid._replace(overtime_hours=Decimal(0), overtime_rate=Decimal(20))) == []


def test_who_lives_in_is_owed_a_higher_rate_only_where_there_is_overtime():
    paid = _paid(
        "TX", "20", "40", days=7, lives_in=True, overtime_hours=Decimal(2), overtime_rate=Decimal(20)
    )
    assert _codes(paid) == []
    assert _codes(paid._replace(work_state="NY")) == ["overtime_rate_too_low"]


# --- what is told -------------------------------------------------------------------------------------------------


def test_a_warning_says_whose_law_since_when_and_where_it_is_printed():
    [warning] = labor_warnings(_paid("CA", "16.89", "80"))
    assert (warning.code, warning.field, warning.confidence) == ("below_minimum_wage", "pay_rate", "high")
    assert warning.figures == {"hourly_rate": Decimal("16.89"), "minimum_wage": Decimal("16.90")}
    for part in ("16.89", "16.90", "the law of California", "since 2026-01-01", "Labor Code 1182.12"):
        assert part in warning.message
    assert warning.sources[0].title.startswith("California Labor Code")
    assert labor_warnings(_paid("CA", "16.90", "80")) == ()


def test_hours_of_before_the_change_are_told_apart():
    told = labor_warnings(_paid("AZ", "14.80", "80", "2026-01-09"))[0].message
    assert "For hours before 2026-01-01 it was 14.70, which the rate reaches." in told
    assert "For hours before" not in labor_warnings(_paid("AZ", "14.69", "80", "2026-01-09"))[0].message
    assert "For hours before" not in labor_warnings(_paid("AZ", "14.80", "80", "2026-01-14"))[0].message


def test_a_figure_that_is_not_published_yet_is_told():
    assert "2027-01-01 is not known" in labor_warnings(_paid("AZ", "15", "80", "2027-01-01"))[0].message
    assert "not known" not in labor_warnings(_paid("AZ", "15", "80", "2026-12-31"))[0].message
    assert "not known" not in labor_warnings(_paid("FL", "14", "80", "2027-12-31"))[0].message


def test_from_the_awaited_day_on_a_rate_within_the_usual_step_is_told_that_the_figure_is_older():
    """15.15 of 2026 and 4 percent: 15.756, from 2027 on; a year later twice that."""
    [told] = labor_warnings(_paid("AZ", "15.75", "80", "2027-01-01"))
    assert (told.code, told.field) == ("minimum_wage_outdated", "pay_rate")
    assert told.figures == {"hourly_rate": Decimal("15.75"), "minimum_wage": Decimal("15.15")}
    for part in ("the law of Arizona changed on 2027-01-01", "last known one is 15.15, since 2026-01-01"):
        assert part in told.message
    assert _codes(_paid("AZ", "15.15", "80", "2026-12-31")) == []
    assert _codes(_paid("AZ", "15.76", "80", "2027-12-31")) == []
    assert _codes(_paid("AZ", "15.76", "80", "2028-01-01")) == ["minimum_wage_outdated"]
    assert _codes(_paid("AZ", "15.14", "80", "2027-01-01")) == ["below_minimum_wage"]


def test_a_place_whose_figure_is_older_is_told_though_the_state_has_passed_it():
    """California's 17.40 of 2027 is above Oakland's 17.34 of 2026; with 4 percent Oakland's may be 18.04."""
    there = {"localities": ("Oakland", "94612")}
    [told] = labor_warnings(_paid("CA", "17.40", "80", "2027-01-04", **there))
    assert (told.code, told.figures["minimum_wage"]) == ("minimum_wage_outdated", Decimal("17.34"))
    assert _codes(_paid("CA", "18.04", "80", "2027-01-04", **there)) == []
    [below] = labor_warnings(_paid("CA", "17.39", "80", "2027-01-04", **there))
    assert below.code == "below_minimum_wage"
    assert "The Oakland figure of 2027-01-01 is not known" in below.message
    assert _codes(_paid("CA", "17.40", "80", "2027-01-04")) == []


def test_no_figure_is_older_than_the_law_on_the_day_of_the_tests():
    with every_case() as case:
        for state in STATES:
            for wages in (
                minimum_wages_of(state).wages,
                *(each.wages for each in minimum_wages_of(state).places),
            ):
                with case(state, wages[-1].law if wages else ""):
                    assert not wages or not wages[-1].is_outdated(_day("2026-11-20"))


def test_a_place_is_found_by_one_name_only():
    """No two places of a state share a name or a ZIP code, but a city within an area of the state's own law."""
    with every_case() as case:
        for state in STATES:
            places = minimum_wages_of(state).places
            for at, place in enumerate(places):
                for other in places[:at]:
                    with case(state, place.name, other.name):
                        assert not place.keys & other.keys
                        assert not any(
                            a.startswith(b) or b.startswith(a) for a in place.zips for b in other.zips
                        )


def test_a_place_is_named_with_its_state():
    [warning] = labor_warnings(_paid("CO", "19", "80", localities=("DENVER",)))
    assert "19.29 by the law of Denver (Colorado)" in warning.message


def test_what_is_not_certain_is_told_as_such():
    [doubtful] = labor_warnings(_paid("IL", "20", "90", lives_in=True))
    assert (doubtful.confidence, "not certain" in doubtful.message) == ("low", True)
    [certain] = labor_warnings(_paid("IL", "20", "90"))
    assert (certain.confidence, "not certain" in certain.message) == ("high", False)


def test_without_hours_nothing_is_held_against_a_rate():
    assert labor_warnings(_paid("CA", "1", "0")) == ()
    assert labor_warnings(_paid("CA", "1", "40", days=7, hourly_rate=None)) == ()


@given(
    st.sampled_from(sorted(STATES)),
    st.dates(datetime.date(2025, 1, 15), datetime.date(2027, 12, 31)),
    st.booleans(),
    st.integers(1, 31),
    st.integers(0, 7_440).map(lambda tenths: Decimal(tenths).scaleb(-1)),
    st.integers(0, 200).map(Decimal),
    st.integers(1, 4_000),
    st.integers(0, 4_000),
    st.integers(1, 6),
)
def test_a_higher_rate_never_adds_a_warning(
    state, day, lives_in, days, regular, overtime, cents, more, employees
):
    """The overtime rate at one and a half times it, as it is where nothing else is told.

    That a figure may have risen takes the place of that the rate is below it.
    """

    def codes(rate_cents: int, overtime_cents: int) -> set[str]:
        paid = HoursWorked(
            work_state=state,
            pay_date=day,
            period_start=day - datetime.timedelta(days=days),
            period_end=day - datetime.timedelta(days=1),
            regular_hours=regular,
            overtime_hours=overtime,
            hourly_rate=Decimal(rate_cents).scaleb(-2),
            overtime_rate=Decimal(overtime_cents).scaleb(-2),
            lives_in=lives_in,
            employees=employees,
        )
        about_the_minimum = {"below_minimum_wage", "minimum_wage_outdated"}
        return {
            "minimum" if warning.code in about_the_minimum else warning.code
            for warning in labor_warnings(paid)
        }

    full = cents * 3 // 2
    assert codes(cents + more, (cents + more) * 3 // 2) <= codes(cents, full)
    assert codes(cents, full + more) <= codes(cents, full)
    assert codes(cents, full) <= codes(cents, max(0, full - more))


@given(
    st.sampled_from(sorted(STATES)),
    st.dates(datetime.date(2025, 1, 1), datetime.date(2027, 12, 31)),
    st.integers(1, 31),
    st.integers(0, 744),
)
def test_who_lives_in_has_no_more_overtime_than_who_does_not(state, day, days, hours):
    paid = _paid(state, "40", str(hours), str(day), days=days)
    assert len(labor_warnings(paid._replace(lives_in=True))) <= len(labor_warnings(paid))


# --- the files ----------------------------------------------------------------------------------------------------


def _edited(module, old: str, new: str) -> RuleTable:
    text = module._FILE.read_text("utf-8")
    assert text.count(old) >= 1, old
    return RuleTable.of(module._FILE.name, parse_toml(module._FILE.name, text.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('state = "AL"', 'state = "AK"', "twice"),
        ('state = "AL"', 'state = "PR"', "must be one of"),
        ("amount = 14.70", "amount = 14.705", "two decimals"),
        ("amount = 14.70", "amount = 14.70\nsince = 2025", "is not a key"),
        (
            "effective_from = 2025-01-01\namount = 14.70",
            "effective_from = 2026-01-01\namount = 14.70",
            "ascend",
        ),
        ("awaited = 2027-01-01", "awaited = 2026-01-01", "is past"),
        ('law = "none"', 'law = "own"', "wage: is missing"),
        ('source = "flsa-206"', 'source = "flsa-205"', "not listed"),
    ],
)
def test_a_mistake_in_the_minimum_wages_is_refused(old, new, key):
    with pytest.raises(RuleError, match=key):
        read_minimum_wages(_edited(wages_module, old, new))


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('state = "AL"', 'state = "AK"', "twice"),
        ("weekly_hours = 45", "weekly_hours = 0", "from 1 to 168"),
        ("daily_hours = 9", "daily_hours = 25", "from 1 to 24"),
        ("daily_hours = 8\n", "", "needs daily_hours"),
        ('law = "federal"', 'law = "own"', "overtime: is missing"),
        ("effective_from = 2027-07-01", "effective_from = 2024-07-01", "ascend"),
        ("percent = 150", "percents = 150", "percent: is missing"),
    ],
)
def test_a_mistake_in_the_overtime_rules_is_refused(old, new, key):
    with pytest.raises(RuleError, match=key):
        read_overtime(_edited(overtime_module, old, new))


def test_every_state_stands_in_both_files():
    for module, read in ((wages_module, read_minimum_wages), (overtime_module, read_overtime)):
        content = parse_toml(module._FILE.name, module._FILE.read_text("utf-8"))
        content["state"] = [row for row in content["state"] if row["state"] != "WY"]
        with pytest.raises(RuleError, match="WY is missing"):
            read(RuleTable.of("x.toml", content))


def test_every_source_is_used():
    for module in (wages_module, overtime_module):
        text = module._FILE.read_text("utf-8")
        for name in parse_toml("x.toml", text)["sources"]:
            assert text.count(f'"{name}"') >= 1, name


def test_of_several_versions_the_latest_that_covers_counts():
    rules = overtime_rules("WA", _day("2027-07-01"), lives_in=False)
    assert [rule.law for rule in rules] == ["Washington", "federal law"]
    assert rules[0].covers == "all"
