"""Forms W-2 and W-3 box by box; the payrolls behind them are calculated by the real engine."""

from dataclasses import replace
from decimal import Decimal
from uuid import UUID

import pytest

from hearthpay.documents.figures.books import BookedPaycheck, HouseholdBooks
from hearthpay.documents.figures.figure import Figure, derived
from hearthpay.documents.figures.forms import FormNotKnownError
from hearthpay.documents.figures.schedule_h import schedule_h_of
from hearthpay.documents.figures.state_boxes import state_boxes
from hearthpay.documents.figures.w2 import W2, CodedAmount, sheets_of, w2_of
from hearthpay.documents.figures.w3 import w3_of
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.prior_wages import PriorLine
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.documents.household import Household

FEDERAL = ("box_1", "box_2", "box_3", "box_4", "box_5", "box_6")


def forms(household: Household) -> list[W2]:
    return [w2_of(person) for person in household.books().everyone()]


def only(household: Household) -> W2:
    [form] = forms(household)
    return form


def federal(form: W2) -> list[str | None]:
    boxes: list[Figure | None] = [getattr(form, name) for name in FEDERAL]
    return [None if box is None else str(box.dollars) for box in boxes]


def other(form: W2) -> list[tuple[str, str]]:
    return [(item.label, str(item.figure.dollars)) for item in form.box_14]


def rows(form: W2) -> list[tuple[str, str, str | None]]:
    return [(row.state, str(row.wages.dollars), _written(row.tax)) for row in form.states]


def _written(figure: Figure | None) -> str | None:
    return None if figure is None else str(figure.dollars)


def told(form: W2) -> set[str]:
    return {remark.code for remark in form.remarks}


# --- boxes 1 to 6 -------------------------------------------------------------------------------------------------


def test_the_example_of_publication_926():
    """Mary Brown pays Jane Oak 70 a week in 48 weeks of 2025, no income tax: IRS Publication 926 (2025).

    The example prints 48.72 of Medicare, the product; by the publication's own Table 3 each payment of 70 bears 1.02,
    which makes 48.96. Box 6 says what was withheld; Schedule H has the product of both shares.
    """
    household = Household(2025)
    household.weekly(household.hire("TX"), 70, weeks=48)
    form = only(household)
    assert federal(form) == ["3360.00", None, "3360.00", "208.32", "3360.00", "48.96"]
    schedule = schedule_h_of(household.books())
    assert schedule.line_2 is not None
    assert schedule.line_4 is not None
    assert (schedule.line_2.cents, schedule.line_2.ledger_cents) == (2 * 20_832, 2 * 20_832)
    assert (schedule.line_4.cents, schedule.line_4.ledger_cents) == (2 * 4_872, 2 * 4_896)
    assert form.required_for == ("fica",)
    assert told(form) == set()


def test_wages_above_the_base_stand_whole_in_box_5():
    """199,750 in 2025: box 3 176,100.00, box 5 199,750.00 (General Instructions for Forms W-2 and W-3, 2025)."""
    household = Household(2025)
    nanny = household.hire("TX")
    household.pay(nanny, 100_000, "2025-03-14")
    household.pay(nanny, 99_750, "2025-09-12")
    assert federal(only(household)) == ["199750.00", None, "176100.00", "10918.20", "199750.00", "2896.38"]


def test_additional_medicare_tax_is_in_box_6():
    household = Household(2026)
    nanny = household.hire("TX")
    household.pay(nanny, 150_000, "2026-03-13")
    household.pay(nanny, 100_000, "2026-09-11")
    # 250,000 at 1.45 %, and 50,000 at 0.9 %
    assert federal(only(household)) == [
        "250000.00",
        None,
        "184500.00",
        "11439.00",
        "250000.00",
        "4075.00",
    ]


def test_shares_that_the_household_pays_are_wages_in_box_1_alone():
    """100 a week with 7.65 paid for the employee: 107.65 of income wages each week (Publication 926, 2025)."""
    household = Household(2025)
    nanny = household.hire("TX")
    for month in range(1, 13):
        household.pay(nanny, 1000, f"2025-{month:02}-14", paid_for=("US-SS-EE", "US-MED-EE"))
    assert federal(only(household)) == ["12918.00", None, "12000.00", "744.00", "12000.00", "174.00"]


def test_shares_paid_by_the_household_are_wages_of_the_state_too():
    household = Household(2026)
    nanny = household.hire("IL", income_tax="10")
    for month in range(1, 13):
        household.pay(nanny, 1000, f"2026-{month:02}-14", paid_for=("US-SS-EE", "US-MED-EE"))
    form = only(household)
    assert [row[:2] for row in rows(form)] == [("IL", "12918.00")]
    assert [item.cents for item in (form.box_1, form.states[0].wages)] == [1_291_800] * 2


def test_no_other_line_can_be_paid_for():
    household = Household(2026)
    booked = household.pay(household.hire("CA"), 1000, "2026-01-16")
    with pytest.raises(ValueError, match="CA-SDI-EE"):
        replace(booked, paid_for=frozenset({"CA-SDI-EE"}))


# --- the threshold ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wages", "boxes"), [("2999.99", None), ("3000", "3000.00")])
def test_boxes_3_to_6_wait_for_the_threshold(wages, boxes):
    household = Household(2026)
    household.pay(household.hire("TX", income_tax="25"), wages, "2026-02-13")
    form = only(household)
    assert federal(form)[:2] == [str(Decimal(wages).quantize(Decimal("0.01"))), "25.00"]
    assert federal(form)[2] == federal(form)[4] == boxes
    assert form.required_for == (("federal_income_tax",) if boxes is None else ("fica", "federal_income_tax"))


def test_what_was_withheld_below_the_threshold_is_to_be_repaid_then_told_as_repaid():
    household = Household(2026)
    nanny = household.hire("TX")
    household.pay(nanny, 600, "2026-02-13")
    form = only(household)
    assert (federal(form)[2:], form.required_for) == ([None] * 4, ())
    [remark] = form.remarks
    assert (remark.code, remark.cents) == ("fica_to_be_repaid", 4_590)
    household.refund(nanny)
    form = only(household)
    assert federal(form) == ["600.00", None, None, None, None, None]
    [remark] = form.remarks
    assert (remark.code, remark.cents) == ("fica_repaid", 4_590)


def test_wages_after_a_refund_that_reach_the_threshold_fill_the_boxes_again():
    household = Household(2026)
    nanny = household.hire("TX")
    household.pay(nanny, 600, "2026-02-13")
    household.refund(nanny)
    household.pay(nanny, 400, "2026-12-31")
    assert federal(only(household)) == ["1000.00", None, None, None, None, None]
    household.pay(nanny, 2_500, "2026-12-31")
    form = only(household)
    assert federal(form) == ["3500.00", None, "3500.00", "217.00", "3500.00", "50.75"]
    assert told(form) == set()


def test_a_household_charged_as_thresholds_are_reached():
    household = Household(2026, as_paid=True)
    nanny = household.hire("TX")
    household.pay(nanny, 2_900, "2026-02-13")
    form = only(household)
    assert (federal(form), told(form)) == (["2900.00", None, None, None, None, None], set())
    household.pay(nanny, 600, "2026-03-13")
    form = only(household)
    assert federal(form) == ["3500.00", None, "3500.00", "217.00", "3500.00", "50.75"]


def test_a_relative_has_no_boxes_3_to_6_and_nothing_to_be_repaid():
    household = Household(2026)
    household.pay(household.hire("TX", relationship="parent"), 40_000, "2026-02-13")
    form = only(household)
    assert federal(form) == ["40000.00", None, None, None, None, None]
    assert (form.required_for, told(form)) == ((), set())


# --- one person, several records or payrolls ----------------------------------------------------------------------


def test_who_left_and_came_back_has_one_form():
    household = Household(2026)
    first = household.hire("TX")
    household.pay(first, 2_000, "2026-02-13")
    again = household.hire("TX", again=first)
    household.pay(again, 2_000, "2026-09-11")
    form = only(household)
    assert form.person_id == first
    assert federal(form) == ["4000.00", None, "4000.00", "248.00", "4000.00", "58.00"]


def test_what_another_payroll_paid_is_in_the_form_and_told():
    household = Household(2026)
    nanny = household.hire("IL")
    lines = [
        PriorLine("US-FIT", 500_000, 500_000, 40_000),
        PriorLine("US-SS-EE", 500_000, 500_000, 31_000),
        PriorLine("US-MED-EE", 500_000, 500_000, 7_250),
        PriorLine("IL-SIT", 500_000, 500_000, 20_000),
    ]
    household.bring(nanny, "2026-03-31", 500_000, lines, "Old Payroll")
    household.pay(nanny, 1_000, "2026-05-15")
    form = only(household)
    assert federal(form) == ["6000.00", "400.00", "6000.00", "372.00", "6000.00", "87.00"]
    assert rows(form) == [("IL", "6000.00", "200.00")]
    assert told(form) == {"prior_wages"}
    assert {part.row for part in form.box_1.parts} == {household.prior[0].id, household.posted[0].id}


def test_a_payroll_that_told_no_lines_leaves_tax_to_be_made_up():
    household = Household(2026)
    nanny = household.hire("TX")
    household.bring(nanny, "2026-03-31", 500_000, [])
    form = only(household)
    assert federal(form) == ["5000.00", None, "5000.00", "0.00", "5000.00", "0.00"]
    assert [(remark.code, remark.cents) for remark in form.remarks if remark.code == "open"] == [
        ("open", 31_000), ("open", 7_250),
    ]  # fmt: skip


def test_a_void_without_a_paycheck_after_it_leaves_boxes_3_and_5_to_the_law():
    household = Household(2026)
    nanny = household.hire("TX")
    first = household.pay(nanny, 184_500, "2026-02-13")
    household.pay(nanny, 10_000, "2026-03-13")
    household.void(first)
    form = only(household)
    assert federal(form) == ["10000.00", None, "10000.00", "0.00", "10000.00", "145.00"]
    assert [(remark.code, remark.cents) for remark in form.remarks] == [("open", 62_000)]
    household.pay(nanny, 100_000, "2026-04-17")
    form = only(household)
    assert federal(form)[2:4] == ["110000.00", "6820.00"]
    assert told(form) == set()


def test_a_voided_paycheck_is_behind_no_box():
    household = Household(2026)
    nanny = household.hire("TX")
    voided = household.pay(nanny, 4_000, "2026-02-13")
    kept = household.pay(nanny, 5_000, "2026-03-13")
    household.void(voided)
    assert {part.row for part in only(household).box_1.parts} == {kept.id}
    household.void(kept)
    assert forms(household) == []


# --- boxes 12 and 14 ----------------------------------------------------------------------------------------------


def test_overtime_of_2026_stands_under_tt_and_of_2025_nowhere():
    for year, expected in ((2025, []), (2026, [("TT", 10_000)])):
        household = Household(year)
        nanny = household.hire("TX")
        # 40 hours at 20.00, 10 at 30.00: the half above the regular rate is 100.00
        household.pay(nanny, 0, f"{year}-02-13", hours="40", overtime="10")
        assert [(entry.code, entry.figure.cents) for entry in only(household).box_12] == expected


@pytest.mark.parametrize(
    ("regular", "overtime", "qualified"),
    [("30", "8", None), ("36", "8", 4_000), ("32", "8", None), ("40", "8", 8_000)],
)
def test_overtime_of_a_day_counts_only_beyond_forty_hours_of_the_week(regular, overtime, qualified):
    household = Household(2026)
    household.pay(household.hire("CA"), 0, "2026-02-13", hours=regular, overtime=overtime)
    found = [entry.figure.cents for entry in only(household).box_12 if entry.code == "TT"]
    assert found == ([] if qualified is None else [qualified])


def test_double_time_counts_as_far_as_the_half_that_the_law_asks_for():
    household = Household(2026)
    household.pay(household.hire("TX", overtime_rate=Decimal(40)), 0, "2026-02-13", hours="40", overtime="10")
    assert [entry.figure.cents for entry in only(household).box_12] == [10_000]


def test_who_lives_in_has_no_qualified_overtime():
    household = Household(2026)
    household.pay(household.hire("TX", lives_in=True), 0, "2026-02-13", hours="40", overtime="10")
    assert only(household).box_12 == ()


def test_what_no_payroll_knows_is_told_by_the_household():
    household = Household(2026)
    household.pay(household.hire("TX"), 5_000, "2026-02-13")
    [books] = household.books().everyone()
    form = w2_of(books, [CodedAmount("II", derived(100_000, "as told"))])
    assert [entry.code for entry in form.box_12] == ["II"]


@pytest.mark.parametrize(
    ("state", "labels"),
    [
        ("CA", [("CASDI", "130.00")]),
        ("NY", [("NYPFL", "43.20"), ("NYSDI", "0.60")]),
        ("NJ", [("UI/WF/SWF", "42.50"), ("DI", "19.00"), ("FLI", "23.00")]),
        ("WA", [("WA PFML", "80.72"), ("WA CARES", "58.00")]),
        ("PA", [("PA SUI", "7.00")]),
        ("AK", [("AK SUI", "50.00")]),
        ("TX", []),
    ],
)
def test_box_14_by_the_labels_of_each_state(state, labels):
    household = Household(2026)
    household.pay(household.hire(state), 10_000, "2026-02-13")
    form = only(household)
    assert other(form) == labels
    assert form.other_box == "14a"


def test_every_employees_line_of_every_year_has_one_box():
    """Federal boxes, the state's income tax, box 14 or boxes 18 to 20: none is left out, none is there twice."""
    for year in supported_years():
        rulebook = rulebook_of(year)
        for state in rulebook.supported_states:
            rules, boxes = rulebook.state(state), state_boxes()[state]
            places = {tax.code for tax in rules.local_taxes if tax.payer == "employee"}
            contributions = {
                line.code
                for line in rules.contributions
                if line.payer == "employee" and not line.code.startswith("US-")
            }
            assert contributions <= boxes.lines_in_other, (year, state)
            assert boxes.locality_names.keys() <= places, (year, state)
            named = [code for item in boxes.other for code in item.lines]
            assert len(named) == len(set(named))
            assert all(len(item.label) <= 15 for item in boxes.other)


def test_every_state_has_its_boxes():
    assert state_boxes().keys() == STATES.keys()
    assert len({boxes.fips for boxes in state_boxes().values()}) == 51
    rulebook = rulebook_of(2026)
    for state, boxes in state_boxes().items():
        assert (boxes.account is not None) == (rulebook.state(state).income_tax is not None), state


# --- boxes 15 to 20 -----------------------------------------------------------------------------------------------


def test_two_states_in_a_year():
    household = Household(2026)
    nanny = household.hire("IL", income_tax="0")
    household.pay(nanny, 3_000, "2026-02-13", frequency="monthly")
    household.move(nanny, "GA")
    household.pay(nanny, 4_000, "2026-08-14", frequency="monthly")
    found = rows(only(household))
    assert [row[:2] for row in found] == [("GA", "4000.00"), ("IL", "3000.00")]
    assert all(row[2] is not None for row in found)


def test_state_wages_stand_without_tax_and_in_a_state_without_one_not_at_all():
    for state, expected in (("CA", [("CA", "5000.00", None)]), ("TX", []), ("AZ", [("AZ", "5000.00", None)])):
        household = Household(2026)
        household.pay(household.hire(state), 5_000, "2026-02-13")
        assert rows(only(household)) == expected


def test_new_yorks_box_16_is_the_whole_year():
    household = Household(2026)
    nanny = household.hire("NJ", income_tax="0")
    household.pay(nanny, 3_000, "2026-02-13", frequency="monthly")
    household.move(nanny, "NY")
    household.pay(nanny, 4_000, "2026-08-14", frequency="monthly")
    assert [row[:2] for row in rows(only(household))] == [("NJ", "3000.00"), ("NY", "7000.00")]


def test_the_state_of_residence_by_reciprocity():
    household = Household(2026)
    nanny = household.hire(
        "VA",
        income_tax="0",
        residence_state="MD",
        state_withholding={"reciprocity_certificate_on_file": True},
    )
    household.pay(nanny, 3_000, "2026-02-13", frequency="monthly")
    assert [row[0] for row in rows(only(household))] == ["MD"]


@pytest.mark.parametrize(
    ("state", "locality", "name"),
    [
        ("NY", "NYC", "NYC"),
        ("NY", "YONKERS-NONRESIDENT", "YONKERS"),
        ("PA", "PHILADELPHIA", "PHILA"),
        ("MO", "KANSAS-CITY", "KC"),
        ("OH", "COLUMBUS", "COLUMBUS"),
        ("IN", "MARION-COUNTY", "MARION COUNTY"),
        ("DE", "WILMINGTON", "WILM"),
    ],
)
def test_box_20_names_the_locality(state, locality, name):
    household = Household(2026)
    household.pay(household.hire(state, income_tax="0", localities=(locality,)), 5_000, "2026-02-06")
    [row] = only(household).localities
    assert (row.state, row.name, row.wages.cents) == (state, name, 500_000)
    assert row.tax is not None
    assert row.tax.cents > 0


def test_a_fee_is_in_box_14_and_not_in_boxes_18_to_20():
    household = Household(2026)
    household.pay(household.hire("WV", income_tax="0", localities=("CHARLESTON",)), 5_000, "2026-02-06")
    form = only(household)
    assert [item.label for item in form.box_14] == ["WV CSF"]
    assert form.localities == ()


def test_what_does_not_fit_goes_on_another_sheet():
    household = Household(2026)
    nanny = household.hire("NJ", income_tax="0")
    for month, state in enumerate(("NJ", "CA", "NY", "IL"), 1):
        household.move(nanny, state)
        household.pay(nanny, 4_000, f"2026-{month:02}-13", frequency="monthly")
    form = only(household)
    sheets = sheets_of(form)
    assert [[row.state for row in sheet.states] for sheet in sheets] == [["CA", "IL"], ["NJ", "NY"]]
    assert [[item.label for item in sheet.box_14] for sheet in sheets] == [
        ["CASDI", "UI/WF/SWF", "DI"], ["FLI", "NYPFL", "NYSDI"],
    ]  # fmt: skip
    assert federal(sheets[0]) == federal(form)
    assert federal(sheets[1]) == ["0.00", None, None, None, None, None]
    summary = w3_of([form])
    assert (summary.box_c, summary.box_15) == (2, "X")
    assert summary.box_1.cents == 1_600_000


# --- Form W-3 -----------------------------------------------------------------------------------------------------


def test_a_form_w3_is_the_sum_of_the_forms():
    household = Household(2026)
    household.pay(household.hire("IL", income_tax="100"), 5_000, "2026-02-13", frequency="monthly")
    household.pay(household.hire("IL", income_tax="0"), 2_000, "2026-02-13", frequency="monthly")
    summary = w3_of(forms(household))
    assert [str(getattr(summary, name).dollars) for name in FEDERAL] == [
        "7000.00", "100.00", "5000.00", "310.00", "5000.00", "72.50",
    ]  # fmt: skip
    assert (summary.box_c, summary.box_15) == (2, "IL")
    assert summary.box_16 is not None
    assert summary.box_16.cents == 700_000
    assert (summary.box_12a, summary.box_18) == (None, None)


def test_overtime_is_not_in_box_12a():
    household = Household(2026)
    household.pay(household.hire("TX"), 0, "2026-02-13", hours="40", overtime="10")
    assert w3_of(forms(household)).box_12a is None


def test_a_form_w3_goes_with_forms_of_one_year():
    with pytest.raises(ValueError, match="one tax year"):
        w3_of([])


def test_a_year_without_a_form():
    household = Household(2027)
    household.pay(household.hire("TX"), 5_000, "2027-02-12")
    with pytest.raises(FormNotKnownError, match="2027"):
        forms(household)


def test_books_without_the_person_of_a_paycheck_have_no_form_of_it():
    household = Household(2026)
    booked: BookedPaycheck = household.pay(household.hire("TX"), 5_000, "2026-02-13")
    books = HouseholdBooks(2026, (), (booked,))
    assert list(books.everyone()) == []
    assert isinstance(booked.id, UUID)
