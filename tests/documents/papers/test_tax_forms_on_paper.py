"""Forms W-2, W-3 and their corrections, Schedule H and the cover: every figure and caption, whose number in full."""

import datetime
import re
from dataclasses import replace

import pytest

from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.schedule_h import ScheduleH, ScheduleHQuestion, schedule_h_of, sources_of
from hearthpay.documents.figures.unemployment_part import StateContributions
from hearthpay.documents.figures.w2 import W2, CodedAmount, LocalWages, w2_of
from hearthpay.documents.figures.w3 import w3_of
from hearthpay.documents.identity import PaperMarks, missing_for_schedule_h, missing_for_w2
from hearthpay.documents.papers import (
    PackageItem,
    page_count,
    schedule_h,
    w2_for_employee,
    w2_for_household,
    w2_for_state,
    w2c,
    w3,
    w3c,
    year_cover,
)
from hearthpay.documents.papers.writing import money, plain_money
from tests.documents.household import Household
from tests.documents.papers.family import MILLERS, ROSA, lines_of, text_of, year_of_two_states

WHO = {"household": MILLERS, "employee": ROSA}
IN_FULL = "123-45-6780"
TRUNCATED = "XXX-XX-6780"
BOXES = {
    "1 Wages, tips, other compensation": "box_1",
    "2 Federal income tax withheld": "box_2",
    "3 Social security wages": "box_3",
    "4 Social security tax withheld": "box_4",
    "5 Medicare wages and tips": "box_5",
    "6 Medicare tax withheld": "box_6",
}


def box_values(lines: list[str], name: str) -> list[str]:
    return [lines[place + 1] for place, line in enumerate(lines) if line == name]


def test_the_employee_s_sheet_has_three_copies_with_every_box() -> None:
    form = year_of_two_states().form
    pdf = w2_for_employee(form, **WHO)
    lines = lines_of(pdf, page=0)
    for name, box in BOXES.items():
        assert box_values(lines, name) == [plain_money(getattr(form, box))] * 3, name
    for row in form.states:
        account = MILLERS.state_accounts[row.state]
        assert lines.count(f"{row.state} {account} {plain_money(row.wages)} {plain_money(row.tax)}") == 3
    assert len(form.states) == 2
    everywhere = lines_of(pdf)
    for item in form.box_14:
        assert everywhere.count(f"{item.label} {plain_money(item.figure)}") == 3, item.label
    text = " ".join(everywhere)
    for said in (
        "Copy B—To Be Filed With Employee's FEDERAL Tax Return.", "Copy C—For EMPLOYEE'S RECORDS",
        "Form W-2 Wage and Tax Statement",
        "Copy 2—To Be Filed With Employee's State, City, or Local Income Tax Return", "OMB No. 1545-0029", "12-3456789",
        "Department of the Treasury—Internal Revenue Service", "negligence penalty", "Notice to Employee",
        "Instructions for Employee", "$10,918.20", "EITC for 2025",
    ):  # fmt: skip
        assert said in text, said
    assert "Copy A" not in text


def test_the_number_is_in_full_only_where_the_law_wants_it() -> None:
    form = year_of_two_states().form
    hers = text_of(w2_for_employee(form, **WHO))
    assert IN_FULL not in hers
    assert TRUNCATED in hers
    for pdf in (w2_for_household(form, **WHO), w2_for_state(form, **WHO, state="NJ")):
        assert IN_FULL in text_of(pdf)
        assert "12-3456789" in text_of(pdf)
    later = replace(form, box_2=Figure(1))
    assert IN_FULL not in text_of(w2c(form, later, **WHO))
    assert IN_FULL in text_of(w2c(form, later, **WHO, for_employee=False))
    for pdf in (
        w2_for_employee(form, household=MILLERS, employee=replace(ROSA, ssn=None)),
        w2_for_household(form, household=replace(MILLERS, ein=None), employee=ROSA),
    ):
        assert "Applied For" in text_of(pdf)


def test_a_state_gets_its_own_rows_alone() -> None:
    form = year_of_two_states().form
    text = text_of(w2_for_state(form, **WHO, state="NJ"))
    assert "Copy 1—For State, City, or Local Tax Department" in text
    assert "NJ 123-456-789/000" in text
    assert "12-3456789-01" not in text
    with pytest.raises(LookupError, match="no row of CA"):
        w2_for_state(form, **WHO, state="CA")


def test_wages_below_the_threshold_leave_boxes_empty_and_tell_the_household() -> None:
    household = Household(2025)
    household.weekly(household.hire("TX", income_tax="10"), 100, weeks=10)
    form = w2_of(next(household.books().everyone()))
    assert form.box_3 is None
    lines = lines_of(w2_for_household(form, **WHO))
    amounts = [line for line in lines if re.fullmatch(r"[\d.]+\.\d\d", line)]
    assert amounts == ["1000.00", "100.00"]
    assert "boxes 3 to 6 are blank" in text_of(w2_for_household(form, **WHO))


def test_what_does_not_fit_goes_on_a_further_sheet() -> None:
    form = year_of_two_states().form
    places = tuple(LocalWages("NJ", f"Place {n}", f"NJ-{n}", Figure(n * 100), Figure(n)) for n in range(1, 6))
    codes = tuple(CodedAmount(code, Figure(100)) for code in ("DD", "FF", "II", "W", "TT"))
    pdf = w2_for_household(replace(form, localities=places, box_12=codes), **WHO)
    assert page_count(pdf) == 3
    assert box_values(lines_of(pdf), "1 Wages, tips, other compensation").count(plain_money(form.box_1)) == 1
    for place in places:
        assert f"{plain_money(place.wages)} {plain_money(place.tax)} {place.name}" in text_of(pdf)


def test_a_w3_is_marked_as_a_household_s_and_adds_up() -> None:
    form = w3_of([year_of_two_states().form])
    pdf = w3(form, household=MILLERS)
    lines = lines_of(pdf)
    assert "[ X ] Hshld. emp." in text_of(pdf)
    assert "[ X ] None apply" in text_of(pdf)
    for number, name, box in (
        ("1", "Wages, tips, other compensation", form.box_1),
        ("4", "Social security tax withheld", form.box_4),
        ("16", "State wages, tips, etc.", form.box_16),
        ("17", "State income tax", form.box_17),
    ):
        assert f"{number} {name} {plain_money(box)}" in lines
    assert "not to be filed" in text_of(pdf)


def test_corrections_tell_what_was_and_what_is_and_nothing_else() -> None:
    form = year_of_two_states().form
    new_jersey = replace_tax(form, "NJ", 12_345)
    later = replace(new_jersey, box_1=Figure(5_000_000), box_4=None)
    pdf = w2c(form, later, **WHO, employee_before=replace(ROSA, last_name="Dias"))
    assert page_count(pdf) == 3
    for page in range(3):
        lines = lines_of(pdf, page)
        assert f"1 Wages, tips, other compensation {plain_money(form.box_1)} 50000.00" in lines
        assert f"4 Social security tax withheld {plain_money(form.box_4)} 0.00" in lines
        was = next(row.tax for row in form.states if row.state == "NJ")
        assert f"17 State income tax (NJ) {plain_money(was)} 123.45" in lines
        assert not any(line.startswith("2 Federal") for line in lines)
        assert "Rosa Dias" in text_of(pdf, page)
    with pytest.raises(ValueError, match="nothing on the Form W-2"):
        w2c(form, form, **WHO)
    with pytest.raises(ValueError, match="one person"):
        w2c(form, replace(form, tax_year=2024), **WHO)

    sums = w3c(w3_of([form]), w3_of([later]), household=MILLERS)
    assert f"1 Wages, tips, other compensation {plain_money(form.box_1)} 50000.00" in lines_of(sums)
    with pytest.raises(ValueError, match="nothing on the Form W-3"):
        w3c(w3_of([form]), w3_of([form]), household=MILLERS)


def replace_tax(form: W2, state: str, cents: int) -> W2:
    rows = tuple(row._replace(tax=Figure(cents)) if row.state == state else row for row in form.states)
    return replace(form, states=rows)


def schedule_with_section_b() -> ScheduleH:
    """California owes the federal fund, and was paid in part too late; nobody files a return."""
    household = Household(2025)
    household.weekly(household.hire("CA", income_tax="50"), 1000)
    household.weekly(household.hire("NY"), 400)
    paid = {"CA": StateContributions(10_000, 13_800), "NY": StateContributions(52_480)}
    return schedule_h_of(household.books(), ScheduleHQuestion(contributions=paid, files_return=False))


@pytest.mark.parametrize("section", ["A", "B"])
def test_every_line_of_schedule_h_stands_on_its_sheet_and_adds_up(section: str) -> None:
    form = schedule_with_section_b() if section == "B" else schedule_of_texas()
    assert (form.line_16 is None) == (section == "B")
    pdf = schedule_h(form, household=MILLERS)
    lines = lines_of(pdf)
    for name in ScheduleH.__slots__:
        value = getattr(form, name)
        if isinstance(value, Figure) and name.startswith("line_") and value.cents:
            number = name.removeprefix("line_")
            assert any(
                line.startswith(f"{number} ") and line.endswith(f" {money(value)}") for line in lines
            ), number
    for row in form.line_17:
        cells = [money(each) for each in (row.at_largest_credit, row.at_own_rate, row.less, row.paid)]
        assert any(line.startswith(f"{row.state} ") and line.endswith(" ".join(cells)) for line in lines)
    for worksheet in (form.worksheet_1, form.worksheet_2):
        for cents in worksheet or ():
            assert not isinstance(cents, int) or any(line.endswith(f" {money(cents)}") for line in lines)
    text = text_of(pdf)
    assert "not a form to file" in text
    assert "219-09-1111" in text
    assert ("sign it, and send it alone" if section == "B" else "Schedule 2 (Form 1040), line 9") in text
    assert "DRAFT" not in text


def schedule_of_texas() -> ScheduleH:
    household = Household(2025)
    household.weekly(household.hire("TX", income_tax="50"), 1000)
    return schedule_h_of(household.books())


def test_the_payrolls_behind_each_line_are_shown_and_come_to_it() -> None:
    form = year_of_two_states().schedule
    lines = lines_of(schedule_h(form, household=MILLERS))
    sources = sources_of(form)
    for part in sources["1"]:
        row = next(line for line in lines if str(part.payroll_id)[-12:] in line)
        assert row.startswith(f"{part.day:%m/%d/%Y} ")
        assert money(part.cents) in row
    [first, *_] = [line for line in lines if line.startswith("Figure of the line")]
    numbers = list(sources)[:5]
    assert first == " ".join(
        ["Figure of the line", *(money(sum(part.cents for part in sources[number])) for number in numbers)]
    )


def test_nothing_to_file_and_a_draft_are_said() -> None:
    household = Household(2026)
    household.pay(household.hire("TX"), 500, "2026-03-06")
    form = schedule_h_of(household.books())
    text = text_of(schedule_h(form, household=replace(MILLERS, ssn=None)))
    assert "no Schedule H is filed for 2026" in text
    assert "DRAFT" in text
    assert "on your tax return" in text
    assert "$3,000 or more in 2026" in text


def test_the_cover_sorts_what_is_handed_out_filed_and_kept() -> None:
    due = datetime.date(2026, 2, 2)
    items = [
        PackageItem(file_name="w3-2025.pdf", title="Form W-3", use="records", pages=1),
        PackageItem(
            file_name="w2-2025-rosa.pdf", title="Form W-2", use="hand_out", pages=2, to="Rosa Díaz", due=due
        ),
    ]
    pdf = year_cover(
        2025, items, household=MILLERS, marks=PaperMarks(test=True), remarks=["The EFW2 file is missing."]
    )
    text = text_of(pdf)
    assert text.index("To hand out") < text.index("For your records")
    assert "Form W-2 w2-2025-rosa.pdf Rosa Díaz 2 02/02/2026" in lines_of(pdf)
    assert "The EFW2 file is missing." in text
    assert "TEST" in text


def test_what_is_missing_is_named() -> None:
    assert missing_for_w2(MILLERS, ROSA) == ()
    nobody = replace(MILLERS, address=None, ein=None)
    assert missing_for_w2(nobody, replace(ROSA, address=None)) == (
        "household.address",
        "household.ein",
        "employee.address",
    )
    assert missing_for_schedule_h(nobody) == ("household.address",)
