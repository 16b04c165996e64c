"""Schedule H as a sheet of figures by line, and the payrolls behind each of them.

It isn't a substitute form, and says so: one that is filed would have to keep every line of the official form in its
place (Publication 1167). The filer types these figures into tax software, or onto the official form.
"""

import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hearthpay.documents.figures.books import (
    ADDITIONAL_MEDICARE,
    FUTA,
    MEDICARE,
    SOCIAL_SECURITY,
    federal_line,
)
from hearthpay.documents.figures.figure import Figure, Part
from hearthpay.documents.figures.forms import schedule_h_form
from hearthpay.documents.figures.schedule_h import ScheduleH, sources_of
from hearthpay.documents.identity import HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.sheets import REST, LinePage, LinePaper, SheetRow, SheetTable, line_paper
from hearthpay.documents.papers.writing import american, money, percent_of
from hearthpay.documents.rendering import render_pdf
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.thresholds import liability_thresholds

_TEXTS: Final = Path(__file__).parent / "schedule_h_lines.toml"
_NO_MARKS: Final = PaperMarks()
_LINE_WIDTHS: Final = (34, REST, 92)
_LINES_ON_A_TABLE: Final = 5
_BLANK_WHERE_NOTHING: Final = frozenset({"5", "6", "7"})
_STRONG: Final = frozenset({"8", "16", "24", "26"})


def schedule_h(form: ScheduleH, *, household: HouseholdIdentity, marks: PaperMarks = _NO_MARKS) -> bytes:
    """Return the figures of Schedule H, with the payrolls behind them; raises `FormNotKnownError`."""
    return render_pdf("lines", schedule_h_sheets(form, household, marks))


def schedule_h_sheets(
    form: ScheduleH, household: HouseholdIdentity, marks: PaperMarks
) -> Mapping[str, object]:
    """Return the contents of the sheets."""
    texts, filled = _texts(), _figures_of_law(form)
    words = texts["words"]
    draft = form.status == "draft"
    kicker = f"Figures for Schedule H (Form 1040), Household Employment Taxes · {words['omb']}"
    parts = [_questions(form, texts, filled)]
    if form.required:
        parts += [*_lines_of(form, texts, filled), _part_four(form, words, household)]
    else:
        parts.append(SheetTable("No schedule", text=words["not_required"].format(**filled)))
    pages = [
        LinePage(
            kicker,
            "Figures for Schedule H: not a form to file",
            str(form.tax_year),
            words["use"],
            [
                ("Name of employer", [household.name]),
                ("Social security number", [household.ssn_in_full or "on your tax return"]),
                ("Employer identification number", [household.ein_in_full]),
            ],
            parts,
            [remark.text for remark in form.remarks],
            draft,
        )
    ]
    sources = _source_tables(form)
    if sources:
        heading = "The payrolls behind each line"
        pages.append(
            LinePage(kicker, heading, str(form.tax_year), words["use_sources"], (), sources, (), draft)
        )
    return line_paper(
        LinePaper(f"Figures for Schedule H {form.tax_year}, {household.name}", words["foot"], pages), marks
    )


@functools.cache
def _texts() -> Mapping[str, Any]:
    return tomllib.loads(_TEXTS.read_text("utf-8"))


def _figures_of_law(form: ScheduleH) -> Mapping[str, object]:
    """Return the figures that the year's rules supply to the questions and lines."""
    year, law = form.tax_year, schedule_h_form(form.tax_year)
    fica, futa_quarter = liability_thresholds("NY", year)[:2]
    security, medicare = federal_line(SOCIAL_SECURITY, year), federal_line(MEDICARE, year)
    both = {
        "social_security": security.rate + federal_line("US-SS-ER", year).rate,
        "medicare": medicare.rate + federal_line("US-MED-ER", year).rate,
    }
    rates = {
        **both,
        "additional_medicare": federal_line(ADDITIONAL_MEDICARE, year).rate,
        "gross_rate": law.gross_rate,
        "largest_credit": law.largest_credit,
        "futa_net": law.gross_rate - law.largest_credit,
        "late_share": law.credit_of_late_contributions,
    }
    return {
        **{name: percent_of(rate) for name, rate in rates.items()},
        "year": year,
        "year_before": year - 1,
        "due": american(law.contributions_due),
        "fica_threshold": _whole(fica.cents),
        "quarter_threshold": _whole(futa_quarter.cents),
        "wage_base": _whole(security.wage_base or 0),
        "futa_base": _whole(federal_line(FUTA, year).wage_base or 0),
        "goes_to": form.goes_to or "",
    }


def _whole(cents: int) -> str:
    return f"{from_cents(cents):,.0f}"


def _yes_no(answer: bool) -> str:
    return "Yes" if answer else "No"


def _questions(form: ScheduleH, texts: Mapping[str, Any], filled: Mapping[str, object]) -> SheetTable:
    answers = {"A": form.answer_a, "B": form.answer_b, "C": form.answer_c}
    rows = [
        SheetRow([name, texts["questions"][name].format(**filled), _yes_no(answer)])
        for name, answer in answers.items()
        if answer is not None
    ]
    return SheetTable("Questions", ["Question", "What", "Answer"], _LINE_WIDTHS, 2, rows)


def _lines_of(
    form: ScheduleH, texts: Mapping[str, Any], filled: Mapping[str, object]
) -> Iterator[SheetTable]:
    """Yield the lines of Parts I to III and the worksheets, as far as the household fills them in."""
    titles = {
        "part_1": "Part I. Social security, Medicare, and federal income taxes",
        "part_2": "Part II. Federal unemployment (FUTA) tax",
        "part_3": "Part III. Total household employment taxes",
    }
    for part, title in titles.items():
        rows = []
        for number, text in texts[part].items():
            value = _value(form, number)
            if value:
                rows.append(SheetRow([number, text.format(**filled), value], number in _STRONG))
        if part == "part_2" and form.line_17:
            before = [row for row in rows if row.cells[0] in ("10", "11", "12")]
            yield SheetTable(title, ["Line", "What", "Figure"], _LINE_WIDTHS, 2, before)
            yield _line_17(form)
            rows = [row for row in rows if row not in before]
            title = "Part II, Section B. Lines 18 to 24"
        if rows:
            yield SheetTable(title, ["Line", "What", "Figure"], _LINE_WIDTHS, 2, rows)
        if part == "part_2":
            yield from _worksheets(form, texts, filled)


def _value(form: ScheduleH, number: str) -> str:
    if number == "14" and form.line_14_zero_rate:
        return "0% rate"
    value = getattr(form, f"line_{number}")
    if value is None:
        return ""
    if isinstance(value, bool):
        return _yes_no(value)
    if isinstance(value, Figure):
        return "" if number in _BLANK_WHERE_NOTHING and not value.cents else money(value)
    return STATES.get(str(value), str(value))


def _line_17(form: ScheduleH) -> SheetTable:
    most = percent_of(schedule_h_form(form.tax_year).largest_credit)
    heads = ["(a) State", "(c) Rate period", "(b) Wages", "(d) Rate", f"(e) at {most}", "(f) at (d)"]
    heads += ["(g) (e)−(f)", "(h) Paid"]
    rows = [
        SheetRow(
            [
                row.state,
                f"{american(row.period_from)} – {american(row.period_to)}",
                money(row.wages),
                percent_of(row.rate),
                money(row.at_largest_credit),
                money(row.at_own_rate),
                money(row.less),
                money(row.paid),
            ]
        )
        for row in form.line_17
    ]
    return SheetTable("Part II, Section B. Line 17", heads, [46, REST, 58, 42, 52, 52, 52, 52], 2, rows)


def _worksheets(
    form: ScheduleH, texts: Mapping[str, Any], filled: Mapping[str, object]
) -> Iterator[SheetTable]:
    heads = ["Line", "What", "Figure"]
    if form.worksheet_1 is not None:
        rows = [
            SheetRow(
                [name.removeprefix("line_"), text.format(**filled), money(getattr(form.worksheet_1, name))]
            )
            for name, text in texts["worksheet_1"].items()
        ]
        yield SheetTable("Worksheet 1. Contributions paid late", heads, _LINE_WIDTHS, 2, rows)
    if form.worksheet_2 is not None:
        rows = []
        for name, text in texts["worksheet_2"].items():
            number, value = name.removeprefix("line_"), getattr(form.worksheet_2, name)
            if isinstance(value, int):
                rows.append(SheetRow([number, text.format(**filled), money(value)]))
                continue
            for state, wages, rate, cents in value:
                line = text.format(state=STATES[state], wages=money(wages), rate=percent_of(rate))
                rows.append(SheetRow([number, line, money(cents)]))
        yield SheetTable("Worksheet 2. Credit reduction states", heads, _LINE_WIDTHS, 2, rows)


def _part_four(form: ScheduleH, words: Mapping[str, str], household: HouseholdIdentity) -> SheetTable:
    if form.goes_to is None:
        return SheetTable(
            "Part IV. Address and signature",
            ["Place", "To be filled in"],
            [150, REST],
            2,
            [
                SheetRow(["Address", ", ".join(address_lines(household.address))]),
                SheetRow(["Employer's signature and date", "on the official form"]),
            ],
            words["alone"],
        )
    line = "goes_to" if form.line_26 is not None else "goes_to_8"
    return SheetTable(
        "Part IV. Address and signature",
        text=f"{words[line].format(goes_to=form.goes_to)} Part IV stays empty: the schedule goes with the return.",
    )


def _source_tables(form: ScheduleH) -> list[SheetTable]:
    """Return the ledger rows behind each line, one payroll per row, some lines per table; and what was rounded."""
    sources = sources_of(form)
    tables = [_source_table(lines) for lines in _batched(sources)]
    rounded = [
        SheetRow([number, money(value), money(value.ledger_cents), money(value.cents - value.ledger_cents)])
        for number, value in _products(form)
        if value.ledger_cents is not None and value.ledger_cents != value.cents
    ]
    if rounded:
        heads = ["Line", "By the form", "Charged, each paycheck rounded", "Difference"]
        tables.append(
            SheetTable(
                "Where the form's product parts from the paychecks", heads, [60, REST, 150, 80], 1, rounded
            )
        )
    return tables


def _batched(sources: Mapping[str, tuple[Part, ...]]) -> list[list[tuple[str, tuple[Part, ...]]]]:
    items = list(sources.items())
    return [items[start : start + _LINES_ON_A_TABLE] for start in range(0, len(items), _LINES_ON_A_TABLE)]


def _source_table(lines: Sequence[tuple[str, tuple[Part, ...]]]) -> SheetTable:
    amounts: dict[tuple[str, str], dict[str, int]] = {}
    for number, parts in lines:
        for part in parts:
            row = amounts.setdefault(_origin(part), {})
            row[number] = row.get(number, 0) + part.cents
    numbers = [number for number, _ in lines]
    rows = [
        SheetRow([day, origin, *(money(row[number]) if number in row else "" for number in numbers)])
        for (day, origin), row in sorted(amounts.items(), key=lambda each: (each[0][0][6:], each[0]))
    ]
    totals = [money(sum(part.cents for part in parts)) for _, parts in lines]
    rows.append(SheetRow(["", "Figure of the line", *totals], strong=True))
    heads = ["Pay date", "Payroll", *(_name_of(number) for number in numbers)]
    named = ", ".join(_name_of(number).removeprefix("Line ") for number in numbers)
    title = f"Lines {named}" if len(numbers) > 1 else f"Line {named}"
    return SheetTable(title, heads, [58, REST, *([60] * len(numbers))], 2, rows)


def _name_of(number: str) -> str:
    """Return a column's heading; a row of line 17 is named by its state and the day its rate begins."""
    words = number.split()
    return f"Line {words[0]}" if len(words) == 1 else f"17b {words[1]} {words[2][5:7]}/{words[2][8:]}"


def _origin(part: Part) -> tuple[str, str]:
    """Return the date and origin of an amount: the payroll by the end of its id, prior wages, or the law alone."""
    day = "" if part.day is None else american(part.day)
    if part.payroll_id is not None:
        return day, str(part.payroll_id)[-12:]
    return (day, "Other payroll") if part.row is not None else (day, "By law, in no row")


def _products(form: ScheduleH) -> Iterator[tuple[str, Figure]]:
    for name in ScheduleH.__slots__:
        value = getattr(form, name)
        if name.startswith("line_") and isinstance(value, Figure):
            yield name.removeprefix("line_"), value
