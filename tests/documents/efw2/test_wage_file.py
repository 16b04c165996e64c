"""The wage file: what stands in each record, that totals tie, and that our reader names what is wrong."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hearthpay.documents.efw2 import (
    Efw2Error,
    Submission,
    SubmissionError,
    Submitter,
    efw2_layout,
    read_efw2,
    write_efw2,
)
from hearthpay.documents.efw2.lettering import line_letters, name_letters
from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.forms import FormNotKnownError
from hearthpay.documents.figures.w2 import W2, CodedAmount, w2_of
from hearthpay.documents.figures.w3 import w3_of
from hearthpay.documents.identity import EmployeeIdentity
from tests.documents.household import Household
from tests.documents.papers.family import MILLERS, ROSA, year_of_two_states
from tests.documents.test_random_years import live

SUBMITTER = Submitter(user_id="abcd1234")
MILO = EmployeeIdentity(first_name="Milo", last_name="O'Brien-Łęk", suffix="Jr.", ssn=None)


def forms() -> list[tuple[W2, EmployeeIdentity]]:
    household = Household(2025)
    household.weekly(household.hire("OH", income_tax="20", localities=("COLUMBUS",)), 400)
    second = w2_of(next(household.books().everyone()))
    coded = (
        CodedAmount("DD", Figure(120_000)),
        CodedAmount("II", Figure(50_000)),
        CodedAmount("DD", Figure(1)),
    )
    return [(year_of_two_states().form, ROSA), (replace(second, box_12=coded), MILO)]


def submission() -> Submission:
    return Submission(2025, MILLERS, forms(), SUBMITTER)


def test_a_file_says_what_the_forms_say_and_its_totals_are_form_w3() -> None:
    data = write_efw2(submission())
    assert {len(line) for line in data.decode("ascii").split("\r\n")[:-1]} == {512}
    assert data == write_efw2(submission())
    read = read_efw2(data)
    assert [record.kind for record in read.records] == [
        "RA",
        "RE",
        "RW",
        "RS",
        "RW",
        "RO",
        "RS",
        "RT",
        "RU",
        "RF",
    ]
    w3 = w3_of([form for form, _ in submission().forms])
    for record, (form, _) in zip(read.employees, submission().forms, strict=True):
        for key, box in BOXES.items():
            figure = getattr(form, box)
            assert record.amount(key) == (0 if figure is None else figure.cents)
    for key, box in BOXES.items():
        figure = getattr(w3, box)
        assert read.totals.amount(key) == (0 if figure is None else figure.cents)
    assert read.totals.amount("count") == 2
    assert read.totals.amount("code_dd") == 120_001
    assert read.records[-1].amount("count") == 2


BOXES = {
    "wages": "box_1",
    "federal_income_tax": "box_2",
    "social_security_wages": "box_3",
    "social_security_tax": "box_4",
    "medicare_wages": "box_5",
    "medicare_tax": "box_6",
}


def test_it_is_a_household_s_file_in_the_letters_it_knows() -> None:
    submitter, employer, rosa, rosa_nj, milo, more, ohio, _, total_more, _ = read_efw2(
        write_efw2(submission())
    ).records
    assert (submitter.text("ein"), submitter.text("user_id"), submitter.text("software_code")) == (
        "123456789",
        "ABCD1234",
        "99",
    )
    assert submitter.text("contact_email") == "dana@example.org"
    assert (employer.text("employment_code"), employer.text("kind_of_employer")) == ("H", "N")
    assert (employer.text("delivery_address"), employer.text("location_address")) == (
        "12 MAPLE STREET",
        "APT 4B",
    )
    assert (rosa.text("ssn"), rosa.text("employee_last_name"), rosa.text("zip_code_extension")) == (
        "123456780",
        "DIAZ",
        "1234",
    )
    assert (milo.text("ssn"), milo.text("employee_last_name"), milo.text("suffix")) == (
        "0" * 9,
        "O'BRIEN-LEK",
        "JR",
    )
    assert more.amount("code_ii") == total_more.amount("code_ii") == 50_000
    form = year_of_two_states().form
    jersey = next(row for row in form.states if row.state == "NJ")
    assert (rosa_nj.text("state_code"), rosa_nj.text("state_employer_account_number")) == (
        "34",
        "123456789000",
    )
    assert rosa_nj.amount("state_wages") == jersey.wages.cents
    assert jersey.tax is not None
    assert rosa_nj.amount("state_income_tax") == jersey.tax.cents
    _, milos = forms()
    [local] = milos[0].localities
    assert (ohio.text("tax_type_code"), ohio.amount("local_wages")) == ("C", local.wages.cents)
    assert ohio.text("supplemental_data_1") == local.name.upper()


@pytest.mark.parametrize("seed", range(5))
def test_the_file_of_a_random_year_ties_with_its_form_w3(seed: int) -> None:
    household, _ = live(seed)
    books = household.books()
    # Codes of 2026 have no field yet, which another test is about.
    forms = [replace(w2_of(person), box_12=()) for person in books.everyone()]
    data = write_efw2(Submission(books.tax_year, MILLERS, [(form, ROSA) for form in forms], SUBMITTER))
    totals, w3 = read_efw2(data).totals, w3_of(forms)
    for key, box in BOXES.items():
        figure = getattr(w3, box)
        assert totals.amount(key) == (0 if figure is None else figure.cents), key


def test_the_letters_of_names_and_addresses() -> None:
    assert name_letters("José María Ñandú-Smith, Ph.D. #2") == "JOSE MARIA NANDU-SMITH PHD"
    assert name_letters("李小龍") == "LIXIAOLONG"
    assert name_letters("12 —") == ""
    assert line_letters("12½ Straße “A” №3; c/o Ødegård") == "12 1/2 STRASSE A NO3 C/O ODEGARD"


def test_what_is_missing_is_said_all_at_once() -> None:
    household = replace(MILLERS, ein=None, address=None, email=None, phone="555")
    nobody = replace(ROSA, first_name="—", ssn="900-12-3456")
    form = replace(year_of_two_states().form, box_12=(CodedAmount("TT", Figure(5)),), box_2=Figure(-1))
    with pytest.raises(SubmissionError) as caught:
        write_efw2(
            Submission(2025, household, [(form, nobody)], Submitter(user_id="short", preparer_code="X"))
        )
    said = caught.value.problems
    of_form = dict.fromkeys(("employee.ssn", "employee.name", "form.box_12", "form.amounts"), form.person_id)
    of_all = (
        "household.ein", "household.address", "submitter.user_id", "submitter.phone", "submitter.email",
        "submitter.preparer_code",
    )  # fmt: skip
    assert {problem.field: problem.person for problem in said} == dict.fromkeys(of_all) | of_form
    assert "900" not in str(caught.value)
    with pytest.raises(SubmissionError, match="no Form W-2 to send"):
        write_efw2(Submission(2025, MILLERS, [], SUBMITTER))
    with pytest.raises(SubmissionError, match="is of 2025"):
        write_efw2(Submission(2026, MILLERS, forms(), SUBMITTER))


def test_layouts_are_final_or_draft_and_a_year_without_one_is_refused() -> None:
    assert efw2_layout(2025).status == "final"
    assert efw2_layout(2026).status == "draft"
    with pytest.raises(FormNotKnownError):
        efw2_layout(2031)


def test_wages_below_the_threshold_pass_with_empty_boxes() -> None:
    household = Household(2025)
    household.weekly(household.hire("TX", income_tax="10"), 100, weeks=10)
    form = w2_of(next(household.books().everyone()))
    read = read_efw2(write_efw2(Submission(2025, MILLERS, [(form, ROSA)], SUBMITTER)))
    assert [record.kind for record in read.records] == ["RA", "RE", "RW", "RT", "RF"]
    assert read.totals.amount("social_security_wages") == 0
    assert read.totals.amount("wages") == 100_000


Damage = Callable[[list[str]], object]


def at(record: int, first: int, text: str) -> Damage:
    """Write something over a record, at a position counted from 1."""

    def damage(lines: list[str]) -> None:
        line = lines[record]
        lines[record] = line[: first - 1] + text + line[first - 1 + len(text) :]

    return damage


RA, RE, RW, RS, MILO_RW, RO, _, RT, RU, RF = range(10)
DAMAGED: dict[str, tuple[Damage, int, str, str]] = {
    "no RA": (lambda lines: lines.pop(RA), 1, "RE", "Record Identifier"),
    "no RE": (lambda lines: lines.pop(RE), 9, "RF", "Record Identifier"),
    "no RT": (lambda lines: lines.pop(RT), 8, "RU", "Record Identifier"),
    "no RU": (lambda lines: lines.pop(RU), 8, "RT", "Record Identifier"),
    "no RF": (lambda lines: lines.pop(RF), 9, "RU", "Record Identifier"),
    "an RW missing": (lambda lines: lines.pop(RW), 3, "RS", "Record Identifier"),
    "an RW twice": (lambda lines: lines.insert(RW, lines[RW]), 9, "RT", "Total Number of RW Records"),
    "RO before its RW": (lambda lines: lines.insert(RW, lines.pop(RO)), 3, "RO", "Record Identifier"),
    "something after RF": (lambda lines: lines.append(lines[RA]), 11, "RA", "Record Identifier"),
    "a record nobody knows": (at(RW, 1, "RX"), 3, "RX", "Record Identifier"),
    "a record too short": (lambda lines: lines.__setitem__(RW, lines[RW][:-1]), 3, "RW", "length"),
    "a record too long": (lambda lines: lines.__setitem__(RT, lines[RT] + " "), 8, "RT", "length"),
    "an accent": (at(RW, 12, "É"), 3, "?", "characters"),
    "small letters": (at(RW, 12, "rosa"), 3, "RW", "Employee First Name"),
    "a name that begins late": (at(RW, 12, " R"), 3, "RW", "Employee First Name"),
    "no last name": (at(RW, 42, " " * 20), 3, "RW", "Employee Last Name"),
    "an SSN with a letter": (at(RW, 3, "12345678O"), 3, "RW", "Social Security Number (SSN)"),
    "an SSN that is none": (at(RW, 3, "666123456"), 3, "RW", "Social Security Number (SSN)"),
    "an ITIN": (at(RW, 3, "912701234"), 3, "RW", "Social Security Number (SSN)"),
    "an EIN with a dash": (at(RE, 8, "12-345678"), 2, "RE", "Employer /Agent Identification Number (EIN)"),
    "no employer's name": (at(RE, 40, " " * 57), 2, "RE", "Employer Name"),
    "a year without layout": (at(RE, 3, "2031"), 2, "RE", "Tax Year"),
    "an unknown employment code": (at(RE, 219, "Z"), 2, "RE", "Employment Code"),
    "an unknown kind of employer": (at(RE, 174, " "), 2, "RE", "Kind of Employer"),
    "blanks as an amount": (at(RW, 188, " " * 11), 3, "RW", "Wages, Tips and Other Compensation"),
    "a point in an amount": (at(RW, 188, "00050015.00"), 3, "RW", "Wages, Tips and Other Compensation"),
    "a minus": (at(RW, 199, "-0000000100"), 3, "RW", "Federal Income Tax Withheld"),
    "something where nothing stands": (at(RW, 265, "0"), 3, "RW", "Blank"),
    "an indicator that is none": (at(RW, 486, "X"), 3, "RW", "Statutory Employee Indicator"),
    "wages beside the total": (at(RW, 188, "00005001501"), 8, "RT", "Total Wages, Tips and Other Compensation"),
    "a total beside the wages": (at(RT, 25, "000000000000001"), 8, "RT", "Total Federal Income Tax Withheld"),
    "a total of RO": (at(RU, 190, "000000000050001"), 9, "RU", "Total Medicaid Waiver Payments (Code II)"),
    "a count of RT": (at(RT, 3, "0000003"), 8, "RT", "Total Number of RW Records"),
    "a count of RF": (at(RF, 8, "000000009"), 10, "RF", "Number of RW Records"),
    "Medicare below Social Security": (at(RW, 232, "00000300000"), 3, "RW", "Medicare Wages and Tips"),
    "tax without wages": (at(RW, 210, "0" * 11), 3, "RW", "Social Security Tax Withheld"),
    "a state by its letters": (at(RS, 3, "NJ"), 4, "RS", "State Code"),
    "no contact": (at(RA, 396, " " * 27), 1, "RA", "Contact Name"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "number", "record", "field"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_is_refused_by_record_and_field(
    damage: Damage, number: int, record: str, field: str
) -> None:
    lines = write_efw2(submission()).decode("ascii").split("\r\n")[:-1]
    damage(lines)
    if record == "RW" and field in ("Social Security Tax Withheld", "Medicare Wages and Tips"):
        lines[RT] = totals_again(lines)
    with pytest.raises(Efw2Error) as caught:
        read_efw2("".join(f"{line}\r\n" for line in lines).encode("latin-1"))
    error = caught.value
    assert (error.number, error.record) == (number, record), str(error)
    assert error.field == field or error.field.startswith(field), str(error)
    assert error.reason


def totals_again(lines: list[str]) -> str:
    """The record RT that ties with damaged records RW."""
    layout = efw2_layout(2025)
    line = lines[RT]
    details = {field.key: field for field in layout.records["RW"]}
    for field in layout.records["RT"]:
        if field.kind == "money" and field.key in details:
            own = details[field.key]
            cents = sum(int(each[own.first - 1 : own.last]) for each in lines if each.startswith("RW"))
            line = line[: field.first - 1] + f"{cents:0{field.length}d}" + line[field.last :]
    return line


def test_a_file_may_come_without_line_ends_but_not_cut_off() -> None:
    data = write_efw2(submission())
    bare = data.replace(b"\r\n", b"")
    assert read_efw2(bare).records == read_efw2(data).records
    assert read_efw2(data.replace(b"\r\n", b"\n")).tax_year == 2025
    with pytest.raises(Efw2Error, match="512"):
        read_efw2(bare[:-100])
    with pytest.raises(Efw2Error, match="empty"):
        read_efw2(b"")
    with pytest.raises(Efw2Error, match="no record RE"):
        read_efw2(bare[:512])


def test_wages_that_a_household_cannot_report_are_refused() -> None:
    form = year_of_two_states().form
    for boxes, said in (
        ({"box_3": Figure(100_000), "box_5": Figure(100_000)}, "a household reports none below 2,800"),
        ({"box_3": Figure(18_000_000), "box_5": Figure(18_000_000)}, "above the base of 176,100"),
        ({"box_4": Figure(2_000_000)}, "above the most of 10,918.20"),
        ({"box_5": None, "box_3": None, "box_4": None}, "there are no wages for it"),
    ):
        with pytest.raises(Efw2Error, match=said):
            write_efw2(Submission(2025, MILLERS, [(replace(form, **boxes), ROSA)], SUBMITTER))
