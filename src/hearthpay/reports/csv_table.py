"""Reports as CSV by RFC 4180, to open in a spreadsheet or to upload to a state.

Each text that a spreadsheet could take for a formula gets an apostrophe in front. Amounts are plain numbers of
dollars with two decimals.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from hearthpay.reports.state_wages import StateWageDetail, WagesOfLine
from hearthpay.reports.tax_liability import TaxLiability
from hearthpay.taxes.money import from_cents

_STARTS_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in spreadsheets; the last four are the wide ones of East Asian keyboards."""

Cell = str | int | Decimal | None


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV: commas, lines ending in CRLF, quotes if needed; None is an empty cell."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return written.getvalue()


def _safe(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return str(cell)
    return f"'{cell}" if cell.lstrip(" \u00a0").startswith(_STARTS_A_FORMULA) else cell


def state_wages_csv(report: StateWageDetail) -> str:
    """Return one row per person; each tax of the state has its subject and taxable wages and its amount."""
    codes = [line.code for line in report.lines]
    heads: list[Cell] = ["state", "year", "quarter", "employee_id", "last_name", "first_name"]
    heads += ["taxpayer_number_last_four", "gross_wages", "subject_wages", "excess_wages", "taxable_wages"]
    heads += [f"{code} {what}" for code in codes for what in ("subject_wages", "taxable_wages", "amount")]
    rows: list[list[Cell]] = [heads]
    for each in report.people:
        person, base = each.person, each.line(report.unemployment_line)
        row: list[Cell] = [report.state, report.year, report.quarter, str(person.id)]
        row += [person.last_name, person.first_name, person.last_four, from_cents(each.gross)]
        row += [from_cents(cents) for cents in _wages(base)]
        for code in codes:
            line = each.line(code)
            subject, _, taxable = _wages(line)
            row += [from_cents(subject), from_cents(taxable), from_cents(0 if line is None else line.amount)]
        rows.append(row)
    return csv_text(rows)


def _wages(line: WagesOfLine | None) -> tuple[int, int, int]:
    return (0, 0, 0) if line is None else (line.subject, line.excess, line.taxable)


def tax_liability_csv(report: TaxLiability) -> str:
    """Return one row per tax, with a column for each month and one for the total."""
    months = [f"{month:%Y-%m}" for month in report.months]
    rows: list[list[Cell]] = [["agency", "code", "name", "payer", "category", *months, "total"]]
    for agency in report.agencies:
        for line in agency.lines:
            amounts = [from_cents(cents) for cents in (*line.months, line.total)]
            rows.append([agency.agency, line.code, line.name, line.payer, line.category, *amounts])
    return csv_text(rows)
