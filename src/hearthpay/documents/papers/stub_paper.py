"""The pay stub as a document, in English or Spanish; for the household's file, with a page of its costs."""

import datetime
import functools
import itertools
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, cast

from hearthpay.documents.figures.stub import PayStub, SickLeave, StubLine
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.marks import edges
from hearthpay.documents.papers.writing import money, number, percent
from hearthpay.documents.rendering import most_width, render_pdf
from hearthpay.taxes.jurisdictions import STATES

StubLanguage = Literal["en", "es"]

_WORDS: Final = Path(__file__).parent / "stub_words.toml"
_NO_MARKS: Final = PaperMarks()
_WORDS_IN_TABLES: Final = (
    "kind", "hours", "rate", "current", "year", "line", "wages", "step", "gross_pay", "withheld_total",
    "less_withheld", "set_aside", "net_pay", "household_total", "total_cost",
)  # fmt: skip
MOST_LETTERHEAD: Final = 60
MOST_NOTE: Final = 300


def pay_stub(
    stub: PayStub,
    *,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    marks: PaperMarks = _NO_MARKS,
    language: StubLanguage = "en",
    file_copy: bool = False,
    letterhead: str | None = None,
    note: str | None = None,
) -> bytes:
    """Return a pay stub as a PDF; ``file_copy`` adds the page for the household's file.

    ``letterhead`` and ``note`` are the household's own words. Raises `ValueError` if they are too long, or for a
    language without stubs.
    """
    paper = stub_paper(
        stub,
        household=household,
        employee=employee,
        marks=marks,
        language=language,
        file_copy=file_copy,
        letterhead=letterhead,
        note=note,
    )
    return render_pdf("pay_stub", paper)


def stub_paper(
    stub: PayStub,
    *,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    marks: PaperMarks,
    language: StubLanguage,
    file_copy: bool,
    letterhead: str | None,
    note: str | None,
) -> Mapping[str, object]:
    """Return the contents of the stub, as its template takes them."""
    if len(letterhead or "") > MOST_LETTERHEAD:
        raise ValueError(f"letterhead has at most {MOST_LETTERHEAD} characters")
    if len(note or "") > MOST_NOTE:
        raise ValueError(f"note has at most {MOST_NOTE} characters")
    words = _words(language)
    title = words["refund_title" if stub.is_refund else "title"]
    day = _Days(words)
    paper = {
        **edges(f"{title}, {employee.name}, {day(stub.pay_date)}", marks, words["foot"], language),
        **_foot(marks, words, day),
        "words": {key: value for key, value in words.items() if isinstance(value, str)},
        "heading": title,
        "test": words["test"] if marks.test else None,
        "letterhead": letterhead or household.name,
        "employer": [household.name, *address_lines(household.address), household.phone or ""],
        "business_number": _business_number(stub, household),
        "employee": [employee.name, *address_lines(employee.address)],
        "identifier": words["not_told"] if employee.ssn is None else employee.ssn_truncated,
        "period": f"{day(stub.period_start)} – {day(stub.period_end)}",
        "pay_date": day(stub.pay_date),
        "basis": _basis(stub, words),
        "method": words["methods"].get(stub.payment_method, stub.payment_method),
        "earnings": _earnings(stub, words),
        "gross": [money(stub.gross_pay), money(stub.gross_pay_year)],
        "lines": [_line(line, words) for line in stub.withheld],
        "withheld": [money(stub.withheld_total), money(stub.withheld_year)],
        "less_withheld": money(-stub.withheld_total.cents),
        "set_aside": _set_aside(stub),
        "net": [money(stub.net_pay), money(stub.net_pay_year)],
        "carried": [[_line_name("", name, words), money(figure)] for name, figure in stub.carried],
        "sick_leave": _sick_leave(stub.sick_leave, words),
        "note": note,
        "voided": stub.voided,
        "cost": _cost(stub, employee.name, words) if file_copy else None,
    }
    return {**paper, "widths": _most_widths(paper)}


def _most_widths(paper: Mapping[str, Any]) -> dict[str, float]:
    """Return the most that texts in tables and addresses can need on one line, in ems.

    A text with other letters than ASCII is left out: the template measures it.
    """
    return {text: most for text in set(_short_texts(paper)) if (most := most_width(text)) is not None}


def _short_texts(paper: Mapping[str, Any]) -> Iterator[str]:
    words, cost = paper["words"], paper["cost"]
    yield ""
    yield from (words[name] for name in _WORDS_IN_TABLES)
    tables = [paper["earnings"], paper["lines"]]
    rows = [
        paper["employer"], paper["employee"], paper["gross"], paper["withheld"], [paper["less_withheld"]],
        paper["set_aside"] or (), paper["net"],
    ]  # fmt: skip
    if cost is not None:
        tables += [cost["lines"], cost["pots"]]
        rows += [cost["total"], [cost["total_cost"]]]
    for table in tables:
        rows += table
    yield from itertools.chain.from_iterable(rows)


class _Days:
    """Writes dates in the words of a language."""

    def __init__(self, words: Mapping[str, Any]) -> None:
        self.words = words

    def __call__(self, day: datetime.date) -> str:
        month = self.words["months"][day.month - 1]
        return cast("str", self.words["date"]).format(month=month, day=day.day, year=day.year)


@functools.cache
def _all_words() -> Mapping[str, Any]:
    return tomllib.loads(_WORDS.read_text("utf-8"))


def _words(language: str) -> Mapping[str, Any]:
    words = _all_words().get(language)
    if words is None:
        raise ValueError(f"language must be one of {', '.join(_all_words())}")
    return cast("Mapping[str, Any]", words)


def _foot(marks: PaperMarks, words: Mapping[str, Any], day: _Days) -> dict[str, str]:
    foot = [words["foot"]]
    if marks.version > 1:
        foot.append(words["version"].format(version=marks.version))
    if marks.issued_on is not None:
        foot.append(words["issued"].format(date=day(marks.issued_on)))
    return {"foot": " · ".join(foot), "page": words["page"]}


def _business_number(stub: PayStub, household: HouseholdIdentity) -> str | None:
    return household.business_number if "er_bin" in stub.law.fields else None


def _basis(stub: PayStub, words: Mapping[str, Any]) -> str:
    if stub.salary is not None:
        how_often = words["frequencies"].get(stub.pay_frequency, stub.pay_frequency)
        return f"{words['salary']}, {how_often}"
    by_the_hour = any(row.hours is not None for row in stub.earnings)
    how_often = words["frequencies"].get(stub.pay_frequency, stub.pay_frequency)
    return f"{words['hourly' if by_the_hour else 'agreed']}, {how_often}"


def _earnings(stub: PayStub, words: Mapping[str, Any]) -> list[list[str]]:
    kinds = words["kinds"]
    rows = []
    for row in stub.earnings:
        name = kinds[row.kind] if row.hours is not None else kinds.get(f"{row.kind}_pay", kinds[row.kind])
        if row.kind == "salary" and stub.salary is not None and stub.salary.prorated:
            days = {"paid": f"{stub.salary.paid_days.normalize():f}", "all": stub.salary.working_days}
            name = f"{name} ({words['salary_days'].format(**days)})"
        rows.append([name, number(row.hours), number(row.rate), money(row.current), money(row.year_to_date)])
    return rows


def _line(line: StubLine, words: Mapping[str, Any]) -> list[str]:
    return [
        _line_name(line.code, line.name, words),
        money(line.taxable_wages),
        percent(line.rate),
        money(line.current),
        money(line.year_to_date),
    ]


def line_name(code: str, name: str, language: str) -> str:
    """Return a line's name as it appears on a pay stub in the language. Raises ValueError for another language."""
    return _line_name(code, name, _words(language))


def _line_name(code: str, name: str, words: Mapping[str, Any]) -> str:
    """Return a line's name in the stub's language; without a translation it keeps the agency's name."""
    if code in words["lines"]:
        return cast("str", words["lines"][code])
    for ending, pattern in words["patterns"].items():
        if code.endswith(ending):
            return cast("str", pattern).format(state=STATES.get(code[:2], code[:2]), name=name)
    return name


def _set_aside(stub: PayStub) -> list[str] | None:
    if not (stub.set_aside.cents or stub.set_aside_balance.cents):
        return None
    return [money(-stub.set_aside.cents), money(stub.set_aside_balance)]


def _sick_leave(leave: SickLeave | None, words: Mapping[str, Any]) -> list[list[str]]:
    """Return the rows of the sick leave box; without known sick leave there are none, and the stub has no such box."""
    if leave is None:
        return []
    unit = words["hours_unit"]
    hours = {
        "sick_available": leave.available,
        "sick_used": leave.used_in_period,
        "sick_used_year": leave.used_in_year,
        "sick_accrued_year": leave.accrued_in_year,
    }
    rows = [[words[name], f"{number(value)} {unit}"] for name, value in hours.items() if value is not None]
    if leave.paid_in_year is not None:
        rows.append([words["sick_paid_year"], money(leave.paid_in_year)])
    return rows


def _pots(stub: PayStub, name: str, words: Mapping[str, Any]) -> list[list[str]]:
    """Return where the money goes: to the employee with set-asides, held for taxes, the household's own taxes."""
    return [
        [words["pot_employee"].format(name=name), money(stub.net_pay.cents + stub.set_aside.cents)],
        [words["pot_held"], money(stub.withheld_total)],
        [words["pot_own"], money(stub.household_total)],
    ]


def _cost(stub: PayStub, name: str, words: Mapping[str, Any]) -> Mapping[str, object]:
    law = stub.law
    state = STATES[law.state]
    rows = (
        words["law_missing"].format(missing="; ".join(stub.missing))
        if stub.missing
        else words["law_complete"]
    )
    facts = [f"{law.statute}: {words[f'law_{law.category}']}.", rows]
    if law.household != "yes":
        facts.append(words["law_not_bound"])
    if law.confidence == "low":
        facts.append(words["law_unsure"])
    return {
        "lines": [_line(line, words) for line in stub.household],
        "total": [money(stub.household_total), money(stub.household_year)],
        "pots": _pots(stub, name, words),
        "total_cost": money(stub.total_cost),
        "warnings": list(stub.warnings),
        "law": words["law"].format(state=state),
        "law_facts": facts if law.category != "none" else [f"{state}: {words['law_none']}."],
    }
