"""Form W-3 of a household, for its records, and the correction of one (W-3c).

The SSA doesn't accept either on plain paper, and needs none with an electronic filing. These sheets show the totals
that it calculates, for comparison.
"""

from collections.abc import Mapping
from typing import Final

from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.w3 import SEVERAL_STATES, W3
from hearthpay.documents.identity import HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.sheets import REST, LinePage, LinePaper, SheetRow, SheetTable, line_paper
from hearthpay.documents.papers.w2_texts import w2_texts
from hearthpay.documents.papers.writing import plain_money
from hearthpay.documents.rendering import render_pdf

_USE: Final = "For the household's records: not filed"
_NO_MARKS: Final = PaperMarks()
_KIND_OF_PAYER: Final = (
    "[   ] 941   [   ] Military   [   ] 943   [   ] 944",
    "[   ] CT-1   [ X ] Hshld. emp.   [   ] Medicare govt. emp.",
)
_KIND_OF_EMPLOYER: Final = (
    "[ X ] None apply   [   ] 501c non-govt.",
    "[   ] State/local   [   ] Federal govt.",
)
_BOXES: Final = (
    ("1", "Wages, tips, other compensation", "box_1"),
    ("2", "Federal income tax withheld", "box_2"),
    ("3", "Social security wages", "box_3"),
    ("4", "Social security tax withheld", "box_4"),
    ("5", "Medicare wages and tips", "box_5"),
    ("6", "Medicare tax withheld", "box_6"),
    ("12a", "Deferred compensation", "box_12a"),
    ("16", "State wages, tips, etc.", "box_16"),
    ("17", "State income tax", "box_17"),
    ("18", "Local wages, tips, etc.", "box_18"),
    ("19", "Local income tax", "box_19"),
)


def w3(form: W3, *, household: HouseholdIdentity, marks: PaperMarks = _NO_MARKS) -> bytes:
    """Return the sheet of a Form W-3; raises `FormNotKnownError` for a year without copies."""
    return render_pdf("lines", w3_sheet(form, household, marks))


def w3c(before: W3, after: W3, *, household: HouseholdIdentity, marks: PaperMarks = _NO_MARKS) -> bytes:
    """Return the sheet of what changed; raises `ValueError` for forms of two years, or if nothing changed."""
    return render_pdf("lines", w3c_sheet(before, after, household, marks))


def w3_sheet(form: W3, household: HouseholdIdentity, marks: PaperMarks) -> Mapping[str, object]:
    """Return the contents of the sheet."""
    texts = w2_texts(form.tax_year)
    rows = [
        SheetRow([number, name, plain_money(getattr(form, box))])
        for number, name, box in _BOXES
        if getattr(form, box) is not None
    ]
    page = LinePage(
        kicker=f"Form W-3 · Transmittal of Wage and Tax Statements · OMB No. {texts.omb}",
        heading="Form W-3",
        year=str(form.tax_year),
        use=texts.use["transmittal"],
        facts=[*_facts(form, household), ("15 State, employer's state ID number", [_state(form, household)])],
        parts=[SheetTable("Totals", ["Box", "What", "Amount"], [34, REST, 100], 2, rows)],
        draft=texts.draft,
    )
    return line_paper(LinePaper(f"Form W-3 {form.tax_year}, {household.name}", _USE, [page]), marks)


def w3c_sheet(before: W3, after: W3, household: HouseholdIdentity, marks: PaperMarks) -> Mapping[str, object]:
    """Return the contents of the correction: the boxes that changed, as reported and as correct."""
    if before.tax_year != after.tax_year:
        raise ValueError("a Form W-3c corrects one tax year")
    texts = w2_texts(after.tax_year)
    rows = [
        SheetRow([number, name, plain_money(was or Figure(0)), plain_money(now or Figure(0))])
        for number, name, was, now in (
            (number, name, getattr(before, box), getattr(after, box)) for number, name, box in _BOXES
        )
        if (was or Figure(0)).cents != (now or Figure(0)).cents
    ]
    if not rows and before.box_c == after.box_c:
        raise ValueError("nothing on the Form W-3 has changed")
    heads = ["Box", "What", "Previously reported", "Correct"]
    page = LinePage(
        kicker=f"Form W-3c · Transmittal of Corrected Wage and Tax Statements · OMB No. {texts.omb}",
        heading="Form W-3c",
        year=str(after.tax_year),
        use=texts.use["transmittal"],
        facts=[("a Tax year, form corrected", [f"{after.tax_year} / W-2"]), *_facts(after, household)],
        parts=[SheetTable("Totals that change", heads, [34, REST, 110, 110], 2, rows)],
        draft=texts.draft,
    )
    return line_paper(LinePaper(f"Form W-3c {after.tax_year}, {household.name}", _USE, [page]), marks)


def _facts(form: W3, household: HouseholdIdentity) -> list[tuple[str, list[str]]]:
    contact = [household.contact_name or household.name, household.phone or "", household.email or ""]
    return [
        ("e Employer identification number (EIN)", [household.ein_in_full]),
        ("f, g Employer's name, address, and ZIP code", [household.name, *address_lines(household.address)]),
        ("Employer's contact person", [line for line in contact if line]),
        ("b Kind of Payer", list(_KIND_OF_PAYER)),
        ("b Kind of Employer", list(_KIND_OF_EMPLOYER)),
        ("c Total number of Forms W-2", [str(form.box_c)]),
    ]


def _state(form: W3, household: HouseholdIdentity) -> str:
    if form.box_15 is None or form.box_15 == SEVERAL_STATES:
        return form.box_15 or ""
    return " ".join(part for part in (form.box_15, household.state_accounts.get(form.box_15, "")) if part)
