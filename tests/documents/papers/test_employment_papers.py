"""The papers of a hire: what the agreement and the notice say in both languages, and the new hire report."""

import csv
import datetime
import io
from dataclasses import replace
from decimal import Decimal

import pytest

from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks
from hearthpay.documents.papers.employment_papers import EmploymentTerms, employment_paper, employment_sheet
from hearthpay.documents.papers.new_hire_report import NewHire, asked_by, new_hire_file, new_hire_sheet
from hearthpay.employers.commands import PostalAddress

MILLER = HouseholdIdentity(
    name="Ana Miller",
    address=PostalAddress(line1="12 Oak Ave", city="Newark", state="NJ", zip="07102"),
    ein="12-3456789",
    phone="415-555-0134",
)
ROSA = EmployeeIdentity(
    first_name="Rosa",
    last_name="Díaz",
    address=PostalAddress(line1="5 Elm St", line2="Apt 2", city="Newark", state="NJ", zip="07103"),
    ssn="123-45-6789",
)
TERMS = EmploymentTerms(
    state="NJ",
    place="12 Oak Ave, Newark, NJ 07102",
    first_day=datetime.date(2026, 11, 2),
    hourly_rate=Decimal("25.00"),
    overtime_rate=None,
    salary=None,
    salary_per=None,
    pay_frequency="biweekly",
    payment_method="check",
    weekly_hours=Decimal(40),
    working_days=("monday", "friday"),
    lives_in=True,
    insurer="State Fund · 77",
)
HIRE = NewHire(
    state="NJ",
    hired_on=datetime.date(2026, 11, 2),
    office="New Jersey New Hire Operations Center",
    link="https://nj-newhire.com",
    due=datetime.date(2026, 11, 22),
    birth_date=datetime.date(1990, 5, 7),
)


def said(paper: str, language: str) -> str:
    return str(employment_sheet(paper, TERMS, MILLER, ROSA, language, PaperMarks()))


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["Work agreement", "$37.50 an hour", "4 weeks", "Monday, Friday", "arbitration", "34:11-69"]),
        ("es", ["Contrato de trabajo", "$37.50 por hora", "4 semanas", "lunes, viernes", "arbitraje", "Cada dos"]),
    ],
)  # fmt: skip
def test_the_agreement_says_what_is_on_record_and_what_the_state_adds(
    language: str, words: list[str]
) -> None:
    text = said("agreement", language)
    assert [each for each in words if each not in text] == []
    assert text.count("______________________________") > 8


def test_the_notice_names_pay_insurer_and_phone() -> None:
    text = said("notice", "en")
    assert all(each in text for each in ("$25.00", "State Fund · 77", "415-555-0134", "Every two weeks"))
    assert "Duties" not in text


@pytest.mark.parametrize("language", ["en", "es"])
def test_both_papers_can_be_drawn(language: str) -> None:
    for paper in ("agreement", "notice"):
        pdf = employment_paper(paper, TERMS, household=MILLER, employee=ROSA, language=language)
        assert pdf.startswith(b"%PDF")


def test_the_report_of_new_jersey_has_its_columns_in_the_states_order() -> None:
    (row,) = csv.reader(io.StringIO(new_hire_file(HIRE, MILLER, ROSA).decode()))
    assert row[:3] == ["123456789", "Díaz", "Rosa"]
    assert row[12:15] == ["20261102", "19900507", ""]
    assert row[15] == "Ana Miller"
    assert asked_by("NJ") == ("birth_date",)
    assert new_hire_sheet(HIRE, MILLER, ROSA).startswith(b"%PDF")


@pytest.mark.parametrize("state", ["TX", "MN", "NJ"])
def test_no_cell_of_a_report_is_a_formula(state: str) -> None:
    """A name comes from whoever was hired, and the file is opened in a spreadsheet."""
    formula = '=HYPERLINK("https://evil.example","Rosa")'
    rosa = replace(
        ROSA,
        first_name=formula,
        last_name="@SUM(1)",
        address=PostalAddress(line1="+1", line2=" -2", city="\t=3", state="NJ", zip="07103"),
    )
    miller = replace(MILLER, name="-Ana")
    report = NewHire(state=state, hired_on=HIRE.hired_on, office="x", link=None, due=HIRE.due)
    *_, row = csv.reader(io.StringIO(new_hire_file(report, miller, rosa).decode()))
    assert {f"'{formula}", "'@SUM(1)", "'+1", "' -2", "'\t=3", "'-Ana"} <= set(row)
    assert not [cell for cell in row if cell.lstrip().startswith(("=", "+", "-", "@"))]


def test_other_states_get_named_columns() -> None:
    head, row = csv.reader(io.StringIO(new_hire_file(NewHire(
        state="TX", hired_on=HIRE.hired_on, office="x", link=None, due=HIRE.due), MILLER, ROSA).decode()))  # fmt: skip
    told = dict(zip(head, row, strict=True))
    assert (told["ssn"], told["hire_date"], told["state_of_hire"]) == ("123456789", "11022026", "TX")
    assert (told["employer_ein"], told["birth_date"]) == ("123456789", "")
