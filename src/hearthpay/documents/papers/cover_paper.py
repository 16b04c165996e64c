"""The cover sheet of a year's package: what is in it, what to hand out, file or keep, and by when."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.documents.identity import HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.sheets import REST, LinePage, LinePaper, SheetRow, SheetTable, line_paper
from hearthpay.documents.papers.writing import american
from hearthpay.documents.rendering import render_pdf

PackageUse = Literal["hand_out", "file", "upload", "records"]

_NO_MARKS: Final = PaperMarks()
_TITLES: Final[Mapping[PackageUse, str]] = {
    "hand_out": "To hand out",
    "file": "To file",
    "upload": "To upload",
    "records": "For your records",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageItem:
    """A file of the package, and what to do with it."""

    file_name: str
    title: str
    use: PackageUse
    pages: int | None = None
    to: str = ""
    """The recipient."""

    due: datetime.date | None = None


def year_cover(
    tax_year: int,
    items: Sequence[PackageItem],
    *,
    household: HouseholdIdentity,
    marks: PaperMarks = _NO_MARKS,
    remarks: Sequence[str] = (),
) -> bytes:
    """Return the cover sheet; ``remarks`` are what is missing or needs to be known."""
    return render_pdf("lines", cover_sheet(tax_year, items, household, marks, remarks))


def cover_sheet(
    tax_year: int,
    items: Sequence[PackageItem],
    household: HouseholdIdentity,
    marks: PaperMarks,
    remarks: Sequence[str] = (),
) -> Mapping[str, object]:
    """Return the contents of the cover sheet."""
    parts = []
    for use, title in _TITLES.items():
        rows = [
            SheetRow(
                [
                    item.title,
                    item.file_name,
                    item.to,
                    "" if item.pages is None else str(item.pages),
                    "" if item.due is None else american(item.due),
                ]
            )
            for item in items
            if item.use == use
        ]
        if rows:
            heads, widths, numeric = ["What", "File", "For", "Pages", "By"], [150, REST, 95, 34, 56], 3
            if all(item.pages is None for item in items):
                heads, widths = ["What", "File", "For", "By"], [150, REST, 110, 62]
                rows = [SheetRow([*row.cells[:3], row.cells[4]]) for row in rows]
            parts.append(SheetTable(title, heads, widths, numeric, rows))
    page = LinePage(
        kicker="Household payroll",
        heading="The papers of the year",
        year=str(tax_year),
        use="This page lists what the package holds. It is for your records and is not filed.",
        facts=[
            ("Household", [household.name, *address_lines(household.address)]),
            ("Employer identification number", [household.ein_in_full]),
        ],
        parts=parts,
        remarks=remarks,
    )
    return line_paper(
        LinePaper(
            f"Papers of {tax_year}, {household.name}", "For the household's records: not filed", [page]
        ),
        marks,
    )
