"""Schedule H by worked examples, line by line; the payrolls behind them are calculated by the real engine."""

from dataclasses import replace
from decimal import Decimal

import pytest

from hearthpay.documents.figures.books import futa_quarters
from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.forms import FormNotKnownError
from hearthpay.documents.figures.schedule_h import (
    ScheduleH,
    ScheduleHQuestion,
    schedule_h_of,
    sources_of,
)
from hearthpay.documents.figures.unemployment_part import StateContributions
from hearthpay.taxes.prior_wages import PriorLine
from tests.documents.household import Household


def written(schedule: ScheduleH) -> dict[str, str]:
    """Return the lines that are filled in, as they are written."""
    found = {}
    for name in ScheduleH.__slots__:
        value = getattr(schedule, name)
        if isinstance(value, Figure) and name.startswith("line_"):
            found[name.removeprefix("line_")] = str(value.dollars)
        elif (
            isinstance(value, bool) and name.startswith(("line_", "answer_")) and name != "line_14_zero_rate"
        ):
            found[name.removeprefix("line_").removeprefix("answer_")] = "Yes" if value else "No"
    for row in schedule.line_17:
        columns = (row.wages, row.at_largest_credit, row.at_own_rate, row.less, row.paid)
        found[f"17 {row.state}"] = " ".join(str(each.dollars) for each in columns)
    return found


def california(year: int = 2025, wages: str = "1000", income_tax: str | None = "50") -> Household:
    household = Household(year)
    household.weekly(household.hire("CA", income_tax=income_tax), wages)
    return household


PART_ONE = ("1", "2", "3", "4", "5", "6", "7", "8")


def test_one_state_whose_credit_is_reduced():
    lines = written(schedule_h_of(california().books()))
    assert lines == {
        "a": "Yes", "1": "52000.00", "2": "6448.00", "3": "52000.00", "4": "1508.00", "5": "0.00", "6": "0.00",
        "7": "2600.00", "8": "10556.00", "9": "Yes", "10": "No", "11": "Yes", "12": "Yes",
        "17 CA": "7000.00 378.00 238.00 140.00 238.00", "18g": "140.00", "18h": "238.00", "19": "378.00",
        "20": "7000.00", "21": "420.00", "22": "378.00", "23": "294.00", "24": "126.00", "25": "10556.00",
        "26": "10682.00", "27": "Yes",
    }  # fmt: skip


def test_the_worksheet_of_a_reduced_credit():
    schedule = schedule_h_of(california().books())
    assert schedule.worksheet_1 is None
    assert schedule.worksheet_2 == (37_800, 700_000, (("CA", 700_000, 12_000_000, 8_400),), 8_400, 29_400)
    assert schedule.line_24 is not None
    assert schedule.line_24.ledger_cents == 12_600


def test_a_provisional_reduction_of_one_and_a_half_percent_is_told():
    schedule = schedule_h_of(california(2026).books())
    lines = written(schedule)
    assert (lines["23"], lines["24"], lines["26"]) == ("273.00", "147.00", "10703.00")
    assert {remark.code for remark in schedule.remarks} == {
        "draft", "contributions_assumed", "credit_reduction_provisional",
    }  # fmt: skip


def test_two_states_whose_credit_is_whole():
    household = Household(2026)
    household.weekly(household.hire("NY", income_tax="0"), 900)
    cleaner = household.hire("FL", income_tax="100")
    for month in range(1, 13):
        household.pay(cleaner, 1000, f"2026-{month:02}-15", frequency="monthly")
    lines = written(schedule_h_of(household.books()))
    assert lines == {
        "a": "Yes", "1": "58800.00", "2": "7291.20", "3": "58800.00", "4": "1705.20", "5": "0.00", "6": "0.00",
        "7": "1200.00", "8": "10196.40", "9": "Yes", "10": "No", "11": "Yes", "12": "Yes",
        "17 FL": "7000.00 378.00 189.00 189.00 189.00", "17 NY": "17600.00 950.40 708.40 242.00 708.40",
        "18g": "431.00", "18h": "897.40", "19": "1328.40", "20": "14000.00", "21": "840.00", "22": "756.00",
        "23": "756.00", "24": "84.00", "25": "10196.40", "26": "10280.40", "27": "Yes",
    }  # fmt: skip


def test_two_states_of_which_one_owes_the_federal_fund():
    household = california(2025)
    cleaner = household.hire("TX")
    for month in range(1, 13):
        household.pay(cleaner, 750, f"2025-{month:02}-15", frequency="monthly")
    lines = written(schedule_h_of(household.books()))
    assert [lines[name] for name in PART_ONE] == [
        "61000.00", "7564.00", "61000.00", "1769.00", "0.00", "0.00", "2600.00", "11933.00",
    ]  # fmt: skip
    assert lines["17 CA"] == "7000.00 378.00 238.00 140.00 238.00"
    assert lines["17 TX"] == "9000.00 486.00 243.00 243.00 243.00"
    assert [lines[name] for name in ("18g", "18h", "19", "20", "21", "22", "23", "24", "26")] == [
        "383.00", "481.00", "864.00", "14000.00", "840.00", "756.00", "672.00", "168.00", "12101.00",
    ]  # fmt: skip


def test_contributions_paid_late():
    late = ScheduleHQuestion(contributions={"CA": StateContributions(0, 23_800)})
    schedule = schedule_h_of(california(2025, "1140", None).books(), late)
    lines = written(schedule)
    assert [lines[name] for name in ("2", "4", "7", "8", "11")] == [
        "7350.72",
        "1719.12",
        "0.00",
        "9069.84",
        "No",
    ]
    assert lines["17 CA"] == "7000.00 378.00 238.00 140.00 0.00"
    assert schedule.worksheet_1 == (37_800, 14_000, 23_800, 23_800, 23_800, 21_420, 35_420, 35_420)
    assert schedule.worksheet_2 is not None
    assert schedule.worksheet_2.line_5 == 27_020
    assert [lines[name] for name in ("19", "22", "23", "24", "26")] == [
        "140.00", "378.00", "270.20", "149.80", "9219.64",
    ]  # fmt: skip


def test_late_contributions_earn_no_more_than_what_is_left_of_the_credit():
    """238.00 asked, 100.00 in time: 138.00 of the credit are left, whatever more was paid with penalties."""
    paid = ScheduleHQuestion(contributions={"CA": StateContributions(10_000, 20_000)})
    schedule = schedule_h_of(california(2025, "1140", None).books(), paid)
    assert schedule.worksheet_1 == (37_800, 24_000, 13_800, 20_000, 13_800, 12_420, 36_420, 36_420)


def test_contributions_never_paid_earn_only_what_the_rate_saves():
    owed = ScheduleHQuestion(contributions={"CA": StateContributions(0)})
    schedule = schedule_h_of(california(2025, "1140", None).books(), owed)
    assert schedule.worksheet_1 is None
    assert schedule.worksheet_2 is not None
    assert schedule.worksheet_2[0] == 14_000
    assert written(schedule)["24"] == "364.00"


def test_one_state_in_section_a():
    """A published year of 860 a week in Illinois with 58 of income tax: lines 2 to 8, 16 and 26."""
    household = Household(2025)
    household.weekly(household.hire("IL", income_tax="58"), 860)
    schedule = schedule_h_of(household.books())
    lines = written(schedule)
    assert [lines[name] for name in PART_ONE] == [
        "44720.00", "5545.28", "44720.00", "1296.88", "0.00", "0.00", "3016.00", "9858.16",
    ]  # fmt: skip
    assert [lines[name] for name in ("10", "11", "12", "15", "16", "25", "26")] == [
        "Yes", "Yes", "Yes", "7000.00", "42.00", "9858.16", "9900.16",
    ]  # fmt: skip
    assert schedule.line_13 == "IL"
    assert not schedule.line_17
    assert schedule.line_20 is None


@pytest.mark.parametrize(
    ("state", "paid", "tax"),
    [("CA", None, "126.00"), ("TX", None, "42.00"), ("TX", StateContributions(0), "231.00")],
)
def test_federal_unemployment_on_7000(state, paid, tax):
    """On time: 126.00 with California's reduction, 42.00 elsewhere. Unpaid at 2.7 %, 2.7 of the 5.4 % are earned."""
    household = Household(2025)
    household.pay(household.hire(state), 7000, "2025-02-14")
    told = ScheduleHQuestion(contributions=None if paid is None else {state: paid})
    lines = written(schedule_h_of(household.books(), told))
    assert lines.get("16", lines.get("24")) == tax


def test_without_state_contributions_all_of_6_percent_is_due():
    household = Household(2025)
    nanny = household.hire("TX")
    household.pay(nanny, 7000, "2025-02-14")
    books = household.books()
    [booked] = books.paychecks
    federal = tuple(line for line in booked.paycheck.lines if line.code.startswith("US-"))
    assert len(federal) < len(booked.paycheck.lines)
    without = (replace(booked, paycheck=replace(booked.paycheck, lines=federal)),)
    lines = written(schedule_h_of(replace(books, paychecks=without)))
    assert (lines["10"], lines["12"], lines["24"]) == ("No", "No", "420.00")


# --- the three questions --------------------------------------------------------------------------------------------


def test_below_the_threshold_with_income_tax_it_begins_at_line_7():
    household = Household(2026)
    nanny = household.hire("TX", income_tax="20")
    for day, wages in (("01-15", "900"), ("04-15", "900"), ("07-15", "900"), ("10-15", "299.99")):
        household.pay(nanny, wages, f"2026-{day}")
    schedule = schedule_h_of(household.books())
    assert written(schedule) == {"a": "No", "b": "Yes", "7": "80.00", "8": "80.00", "9": "No"}
    assert schedule.total is not None
    assert str(schedule.total.dollars) == "80.00"
    assert {remark.code for remark in schedule.remarks} == {"draft", "fica_not_due"}


def test_one_quarter_of_a_thousand_begins_at_line_10():
    household = Household(2026)
    nanny = household.hire("TX")
    for day, wages in (("01-15", 1000), ("04-15", 900), ("07-15", 900), ("10-15", 100)):
        household.pay(nanny, wages, f"2026-{day}")
    lines = written(schedule_h_of(household.books()))
    assert lines == {
        "a": "No", "b": "No", "c": "Yes", "10": "Yes", "11": "Yes", "12": "Yes", "14": "78.30", "15": "2900.00",
        "16": "17.40", "25": "0.00", "26": "17.40", "27": "Yes",
    }  # fmt: skip


def test_a_quarter_of_the_year_before_counts():
    household = Household(2026)
    household.pay(household.hire("TX"), 500, "2026-02-06")
    assert not schedule_h_of(household.books()).required
    told = ScheduleHQuestion(quarters_before={4: 100_000})
    lines = written(schedule_h_of(household.books(), told))
    assert (lines["c"], lines["16"]) == ("Yes", "3.00")


def test_quarters_are_of_all_together_by_pay_date():
    household = Household(2026)
    one, two = household.hire("TX"), household.hire("TX")
    household.pay(one, 600, "2026-03-31")
    household.pay(two, 399, "2026-01-02")
    household.pay(two, 1, "2026-04-01")
    assert futa_quarters(household.books()) == {1: 99_900, 2: 100, 3: 0, 4: 0}
    assert not schedule_h_of(household.books()).required


def test_nobody_was_paid():
    schedule = schedule_h_of(Household(2026).books())
    assert not schedule.required
    assert written(schedule) == {"a": "No", "b": "No", "c": "No"}


@pytest.mark.parametrize(
    "relationship", ["spouse", "parent", "child_under_18", "child_18_to_20", "child_under_21"]
)
def test_family_that_no_tax_counts(relationship):
    household = Household(2026)
    household.weekly(household.hire("TX", relationship=relationship), 400)
    assert not schedule_h_of(household.books()).required


def test_income_tax_of_a_child_is_reported_all_the_same():
    household = Household(2026)
    household.weekly(household.hire("TX", relationship="child_18_to_20", income_tax="10"), 400)
    assert written(schedule_h_of(household.books())) == {
        "a": "No", "b": "Yes", "7": "520.00", "8": "520.00", "9": "No",
    }  # fmt: skip


def test_a_student_under_18_counts_for_unemployment_alone():
    household = Household(2026)
    household.weekly(household.hire("TX", relationship="student_under_18"), 200)
    lines = written(schedule_h_of(household.books()))
    assert (lines["a"], lines["b"], lines["c"], lines["16"], lines["26"]) == (
        "No",
        "No",
        "Yes",
        "42.00",
        "42.00",
    )


def test_a_parent_who_cares_for_a_grandchild_counts_for_part_one_alone():
    household = Household(2026)
    household.weekly(household.hire("TX", relationship="parent_caring_for_grandchild"), 400)
    lines = written(schedule_h_of(household.books()))
    assert (lines["a"], lines["8"], lines["9"]) == ("Yes", "3182.40", "No")


# --- wages ----------------------------------------------------------------------------------------------------------


def test_a_year_above_every_base():
    household = Household(2026)
    nanny = household.hire("TX")
    for month in range(1, 13):
        household.pay(nanny, 20_000, f"2026-{month:02}-15", frequency="monthly")
    lines = written(schedule_h_of(household.books()))
    assert [lines[name] for name in PART_ONE] == [
        "184500.00", "22878.00", "240000.00", "6960.00", "40000.00", "360.00", "0.00", "30198.00",
    ]  # fmt: skip


def test_set_asides_touch_nothing():
    plain, saving = Household(2026), Household(2026)
    for household, wish in ((plain, None), (saving, 5_000)):
        nanny = household.hire("TX")
        for month in range(1, 13):
            household.pay(nanny, 1000, f"2026-{month:02}-15", frequency="monthly", set_aside=wish)
    assert saving.posted[-1].paycheck.set_aside.balance == 60_000
    assert written(schedule_h_of(saving.books())) == written(schedule_h_of(plain.books()))


def test_shares_paid_by_the_household_are_no_wages_of_the_schedule():
    household = Household(2026)
    nanny = household.hire("TX")
    for month in range(1, 13):
        household.pay(
            nanny, 1000, f"2026-{month:02}-15", frequency="monthly", paid_for=("US-SS-EE", "US-MED-EE")
        )
    lines = written(schedule_h_of(household.books()))
    assert (lines["1"], lines["3"], lines["8"], lines["15"]) == ("12000.00", "12000.00", "1836.00", "7000.00")


def test_who_moves_has_her_first_wages_where_they_were_paid_first():
    household = Household(2025)
    nanny = household.hire("CA")
    household.pay(nanny, 5_000, "2025-02-14")
    household.move(nanny, "TX")
    household.pay(nanny, 5_000, "2025-05-16")
    schedule = schedule_h_of(household.books())
    assert schedule.worksheet_2 is not None
    assert schedule.worksheet_2.line_3 == (("CA", 500_000, 12_000_000, 6_000),)
    household = Household(2025)
    nanny = household.hire("TX")
    household.pay(nanny, 8_000, "2025-02-14")
    household.move(nanny, "CA")
    household.pay(nanny, 8_000, "2025-05-16")
    schedule = schedule_h_of(household.books())
    assert schedule.worksheet_2 is not None
    assert schedule.worksheet_2.line_3 == (("CA", 0, 12_000_000, 0),)
    assert written(schedule)["24"] == "42.00"


def test_first_wages_are_by_pay_date_whenever_they_were_entered():
    household = Household(2025)
    nanny = household.hire("TX")
    household.pay(nanny, 5_000, "2025-05-16")
    household.move(nanny, "CA")
    household.pay(nanny, 5_000, "2025-02-14")
    schedule = schedule_h_of(household.books())
    assert schedule.worksheet_2 is not None
    assert schedule.worksheet_2.line_3 == (("CA", 500_000, 12_000_000, 6_000),)


def test_a_rate_that_changes_in_july_takes_two_rows():
    household = Household(2026)
    nanny = household.hire("NJ")
    household.rates["NJ"] = Decimal("0.03")
    household.pay(nanny, 4_000, "2026-03-13")
    household.rates["NJ"] = Decimal("0.01")
    household.pay(nanny, 6_000, "2026-08-14")
    household.pay(household.hire("TX"), 4_000, "2026-08-14")
    rows = [row for row in schedule_h_of(household.books()).line_17 if row.state == "NJ"]
    assert [(str(row.period_from), str(row.period_to), row.rate, row.wages.cents) for row in rows] == [
        ("2026-01-01", "2026-06-30", 30_000_000, 400_000),
        ("2026-07-01", "2026-12-31", 10_000_000, 600_000),
    ]
    assert [(row.less.cents, row.paid.cents) for row in rows] == [(9_600, 12_000), (26_400, 6_000)]


def test_a_zero_rate_is_written_so():
    household = Household(2026)
    household.rates["TX"] = Decimal(0)
    household.pay(household.hire("TX"), 7_000, "2026-02-13")
    schedule = schedule_h_of(household.books())
    assert schedule.line_14_zero_rate
    assert written(schedule)["16"] == "42.00"


def test_a_rate_above_the_credit_adds_nothing():
    household = Household(2026)
    household.rates["TX"] = Decimal("0.0712")
    household.pay(household.hire("TX"), 7_000, "2026-02-13")
    household.pay(household.hire("FL"), 7_000, "2026-02-13")
    row = next(row for row in schedule_h_of(household.books()).line_17 if row.state == "TX")
    assert (row.at_own_rate.cents, row.less.cents) == (49_840, 0)


def test_rounding_of_payments_is_told_beside_the_product():
    household = Household(2026)
    household.weekly(household.hire("TX"), "333.33")
    schedule = schedule_h_of(household.books())
    assert schedule.line_2 is not None
    assert (schedule.line_2.cents, schedule.line_2.ledger_cents) == (214_931, 214_968)


def test_prior_wages_of_the_household_count():
    household = Household(2026)
    nanny = household.hire("TX")
    codes = ("US-SS-EE", "US-SS-ER", "US-MED-EE", "US-MED-ER", "US-FUTA", "TX-SUI-ER")
    taxes = (31_000, 31_000, 7_250, 7_250, 3_000, 13_500)
    household.bring(
        nanny,
        "2026-03-31",
        500_000,
        [PriorLine(code, 500_000, 500_000, tax) for code, tax in zip(codes, taxes, strict=True)],
    )
    household.pay(nanny, 5_000, "2026-05-15")
    lines = written(schedule_h_of(household.books()))
    assert (lines["1"], lines["2"], lines["8"], lines["14"], lines["15"], lines["16"]) == (
        "10000.00", "1240.00", "1530.00", "243.00", "7000.00", "42.00",
    )  # fmt: skip


def test_new_york_counts_from_the_quarter_that_reached_500():
    household = Household(2026, as_paid=True)
    nanny, cleaner = household.hire("NY"), household.hire("TX")
    household.pay(cleaner, 2_000, "2026-01-16", frequency="monthly")
    household.pay(nanny, 400, "2026-01-16", frequency="monthly")
    household.pay(nanny, 600, "2026-04-17", frequency="monthly")
    schedule = schedule_h_of(household.books())
    lines = written(schedule)
    assert (lines["12"], lines["17 NY"]) == ("No", "600.00 32.40 24.15 8.25 24.15")
    assert lines["20"] == "3000.00"


def test_every_line_names_the_rows_behind_it():
    household = california(2025)
    found = sources_of(schedule_h_of(household.books()))
    assert set(found) == {"1", "3", "7", "20", "17b CA 2025-01-01"}
    assert len(found["1"]) == len(found["7"]) == 52
    assert {part.row for part in found["1"]} == {each.id for each in household.posted}
    assert len(found["20"]) == 7


def test_a_year_without_a_form():
    with pytest.raises(FormNotKnownError, match="2027"):
        schedule_h_of(Household(2027).books())
