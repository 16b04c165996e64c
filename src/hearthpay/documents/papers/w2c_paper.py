"""Form W-2c: what an issued Form W-2 said, and what is correct."""

from collections.abc import Iterator, Mapping
from typing import Final

from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.w2 import W2
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.sheets import REST, LinePage, LinePaper, SheetRow, SheetTable, line_paper
from hearthpay.documents.papers.w2_texts import W2Texts, w2_texts
from hearthpay.documents.papers.writing import plain_money
from hearthpay.documents.rendering import render_pdf

_NO_MARKS: Final = PaperMarks()
_NOTHING: Final = Figure(0)
_FEDERAL: Final = (
    ("1", "Wages, tips, other compensation", "box_1"),
    ("2", "Federal income tax withheld", "box_2"),
    ("3", "Social security wages", "box_3"),
    ("4", "Social security tax withheld", "box_4"),
    ("5", "Medicare wages and tips", "box_5"),
    ("6", "Medicare tax withheld", "box_6"),
)


def w2c(
    before: W2,
    after: W2,
    *,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    marks: PaperMarks = _NO_MARKS,
    employee_before: EmployeeIdentity | None = None,
    for_employee: bool = True,
) -> bytes:
    """Return copies B, C and 2 with a truncated SSN, or copy D with the whole one.

    ``employee_before`` is the employee as named on the first form, if name or SSN are corrected. Raises `ValueError`
    for forms of two years or two people, or if nothing on them differs.
    """
    paper = w2c_sheets(before, after, household, employee, marks, employee_before, for_employee=for_employee)
    return render_pdf("lines", paper)


def w2c_sheets(
    before: W2,
    after: W2,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    marks: PaperMarks,
    employee_before: EmployeeIdentity | None = None,
    *,
    for_employee: bool = True,
) -> Mapping[str, object]:
    """Return the contents of the copies, each on its own page."""
    if (before.tax_year, before.person_id) != (after.tax_year, after.person_id):
        raise ValueError("a Form W-2c corrects one person's Form W-2 of one tax year")
    first = employee_before or employee
    renamed = (first.name, first.ssn) != (employee.name, employee.ssn)
    rows = [
        SheetRow([number, name, plain_money(was), plain_money(now)])
        for number, name, was, now in _changes(before, after)
        if was.cents != now.cents
    ]
    if not rows and not renamed:
        raise ValueError("nothing on the Form W-2 has changed")
    texts = w2_texts(after.tax_year)
    copies = ("B", "C", "2") if for_employee else ("D",)
    use = texts.foot["employee" if for_employee else "household"]
    pages = [
        _page(copy, texts, after, household, employee, first if renamed else None, rows) for copy in copies
    ]
    return line_paper(LinePaper(f"Form W-2c {after.tax_year}, {employee.name}", use, pages), marks)


def _page(
    copy: str,
    texts: W2Texts,
    form: W2,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    first: EmployeeIdentity | None,
    rows: list[SheetRow],
) -> LinePage:
    in_full = copy == "D"
    caption = texts.captions[copy].replace(" (See Notice to Employee.)", "")
    facts = [
        ("a Employer's name, address, and ZIP code", [household.name, *address_lines(household.address)]),
        ("b Employer's Federal EIN", [household.ein_in_full]),
        ("c Tax year/Form corrected", [f"{form.tax_year} / W-2"]),
        ("h, i Employee's name, address, and ZIP code", [employee.name, *address_lines(employee.address)]),
        ("d Employee's correct SSN", [employee.ssn_in_full if in_full else employee.ssn_truncated]),
        ("e Corrected SSN and/or name", ["[ X ]" if first is not None else "[   ]"]),
    ]
    if first is not None:
        facts += [
            (
                "f Employee's previously reported SSN",
                [first.ssn_in_full if in_full else first.ssn_truncated],
            ),
            ("g Employee's previously reported name", [first.name]),
        ]
    return LinePage(
        kicker=f"Corrected Wage and Tax Statement · OMB No. {texts.omb} · "
        "Department of the Treasury—Internal Revenue Service",
        heading=f"Form W-2c, Copy {copy}",
        year=str(form.tax_year),
        use=f"{caption.rstrip('.')}. {texts.use['correction_household' if in_full else 'correction_employee']}",
        facts=facts,
        parts=[
            SheetTable(
                "Boxes that change",
                ["Box", "What", "Previously reported", "Correct information"],
                [34, REST, 110, 110],
                2,
                rows,
                "Boxes that are not named stay as the Form W-2 has them." if rows else "No amount changes.",
            )
        ],
        remarks=[remark.text for remark in form.remarks] if in_full else [],
        draft=texts.draft,
    )


def _changes(before: W2, after: W2) -> Iterator[tuple[str, str, Figure, Figure]]:
    """Yield all boxes of both forms: number, name, and the two amounts, empty for a blank."""
    for number, name, box in _FEDERAL:
        yield number, name, getattr(before, box) or _NOTHING, getattr(after, box) or _NOTHING
    yield from _paired(
        {("12", f"Code {entry.code}"): entry.figure for entry in before.box_12},
        {("12", f"Code {entry.code}"): entry.figure for entry in after.box_12},
    )
    other = after.other_box
    yield from _paired(
        {(other, f"{entry.label} ({entry.state})"): entry.figure for entry in before.box_14},
        {(other, f"{entry.label} ({entry.state})"): entry.figure for entry in after.box_14},
    )
    yield from _paired(_of_states(before), _of_states(after))


def _of_states(form: W2) -> dict[tuple[str, str], Figure]:
    found = {}
    for state in form.states:
        found["16", f"State wages, tips, etc. ({state.state})"] = state.wages
        found["17", f"State income tax ({state.state})"] = state.tax or _NOTHING
    for local in form.localities:
        found["18", f"Local wages, tips, etc. ({local.name})"] = local.wages
        found["19", f"Local income tax ({local.name})"] = local.tax or _NOTHING
    return found


def _paired(
    before: Mapping[tuple[str, str], Figure], after: Mapping[tuple[str, str], Figure]
) -> Iterator[tuple[str, str, Figure, Figure]]:
    for number, name in [*before, *(key for key in after if key not in before)]:
        key = (number, name)
        yield number, name, before.get(key, _NOTHING), after.get(key, _NOTHING)
