"""Reports as CSV (`wire.csv_text`)."""

from hearthpay.reports.state_wages import StateWageDetail, WagesOfLine
from hearthpay.reports.tax_liability import TaxLiability
from hearthpay.taxes.money import from_cents
from hearthpay.wire.csv_text import Cell, csv_text


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
