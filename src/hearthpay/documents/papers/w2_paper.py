"""Form W-2 as a document: copies B, C and 2 for the employee, D for the household, 1 for a state.

Substitute copies by Publication 1141: core boxes 1 to 6 in their order at the upper right, boxes 15 to 20 at the
bottom, titles and captions of the official form, boxes that no household fills in (7 to 11) left out, no advertising.
Copy A is never drawn: the SSA takes it electronically, or on its own red-ink form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from hearthpay.documents.figures.w2 import W2, sheets_of
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.marks import edges
from hearthpay.documents.papers.w2_texts import W2Texts, notice_and_instructions, w2_texts
from hearthpay.documents.papers.writing import plain_money
from hearthpay.documents.rendering import render_pdf

_NO_MARKS: Final = PaperMarks()
_FOR_EMPLOYEE: Final = ("B", "C", "2")
_ROWS: Final = 2
"""States and localities on one sheet."""


def w2_for_employee(
    form: W2,
    *,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    marks: PaperMarks = _NO_MARKS,
) -> bytes:
    """Return copies B, C and 2 on one sheet, with the notice and the instructions; the SSN is truncated.

    Raises `FormNotKnownError` for a year whose copies aren't known.
    """
    return render_pdf("w2", employee_sheets(form, household, employee, marks))


def w2_for_household(
    form: W2,
    *,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    marks: PaperMarks = _NO_MARKS,
) -> bytes:
    """Return copy D with the SSN in full, and what the household needs to know about the figures."""
    return render_pdf("w2", household_sheets(form, household, employee, marks))


def w2_for_state(
    form: W2,
    *,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    state: str,
    marks: PaperMarks = _NO_MARKS,
) -> bytes:
    """Return copy 1 with the rows of one state and the SSN in full; raises `LookupError` if there are none."""
    states = tuple(row for row in form.states if row.state == state)
    localities = tuple(row for row in form.localities if row.state == state)
    if not (states or localities):
        raise LookupError(f"this Form W-2 has no row of {state}")
    own = replace(form, states=states, localities=localities)
    texts = w2_texts(form.tax_year)
    copies = [
        [_copy(sheet, "1", texts, household, employee, employee.ssn_in_full)] for sheet in sheets_of(own)
    ]
    return render_pdf("w2", _paper(form, employee, marks, texts, "state", copies))


def employee_sheets(
    form: W2, household: HouseholdIdentity, employee: EmployeeIdentity, marks: PaperMarks
) -> Mapping[str, object]:
    """Return the contents of the employee's sheets, as the template takes them."""
    texts = w2_texts(form.tax_year)
    sheets = [
        [_copy(sheet, name, texts, household, employee, employee.ssn_truncated) for name in _FOR_EMPLOYEE]
        for sheet in sheets_of(form)
    ]
    words = notice_and_instructions(form)
    return {**_paper(form, employee, marks, texts, "employee", sheets), "instructions": words}


def household_sheets(
    form: W2, household: HouseholdIdentity, employee: EmployeeIdentity, marks: PaperMarks
) -> Mapping[str, object]:
    """Return the contents of the household's sheets."""
    texts = w2_texts(form.tax_year)
    sheets = [
        [_copy(sheet, "D", texts, household, employee, employee.ssn_in_full)] for sheet in sheets_of(form)
    ]
    remarks = [remark.text for remark in form.remarks]
    return {**_paper(form, employee, marks, texts, "household", sheets), "remarks": remarks}


def _paper(
    form: W2,
    employee: EmployeeIdentity,
    marks: PaperMarks,
    texts: W2Texts,
    use: str,
    sheets: Sequence[Sequence[Mapping[str, object]]],
) -> dict[str, object]:
    return {
        **edges(f"Form W-2 {form.tax_year}, {employee.name}", marks, texts.foot[use]),
        "draft": texts.draft,
        "use": texts.use[use],
        "sheets": sheets,
        "instructions": [],
        "remarks": [],
    }


def _copy(
    sheet: W2,
    name: str,
    texts: W2Texts,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    ssn: str,
) -> Mapping[str, object]:
    boxes = {f"box_{number}": plain_money(getattr(sheet, f"box_{number}")) for number in (2, 3, 4, 5, 6)}
    further = not sheet.box_1.cents and not sheet.box_1.parts
    codes = [[entry.code, plain_money(entry.figure)] for entry in sheet.box_12]
    return {
        **boxes,
        "box_1": "" if further else plain_money(sheet.box_1),
        "copy": name,
        "caption": texts.captions[name],
        "furnished": texts.furnished.get(name, ""),
        "omb": texts.omb,
        "year": str(sheet.tax_year),
        "ssn": ssn,
        "ein": household.ein_in_full,
        "employer": [household.name, *address_lines(household.address)],
        "first_names": " ".join(part for part in (employee.first_name, employee.middle_name) if part),
        "last_name": employee.last_name,
        "suffix": employee.suffix,
        "employee_address": address_lines(employee.address),
        "box_12": codes + [["", ""]] * (4 - len(codes)),
        "other_box": sheet.other_box,
        "box_14": [[entry.label, plain_money(entry.figure)] for entry in sheet.box_14],
        "rows": [_row(sheet, number, household) for number in range(_ROWS)],
    }


def _row(sheet: W2, number: int, household: HouseholdIdentity) -> list[str]:
    """Return boxes 15 to 20 of one line."""
    state = sheet.states[number] if number < len(sheet.states) else None
    local = sheet.localities[number] if number < len(sheet.localities) else None
    cells = ["", "", "", ""]
    if state is not None:
        account = household.state_accounts.get(state.state, "")
        cells = [state.state, account, plain_money(state.wages), plain_money(state.tax)]
    if local is None:
        return [*cells, "", "", ""]
    return [*cells, plain_money(local.wages), plain_money(local.tax), local.name]
