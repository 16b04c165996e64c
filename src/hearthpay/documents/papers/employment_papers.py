"""The hiring documents, in English or Spanish: a work agreement and a notice of pay, both to be signed."""

import datetime
import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal

from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.marks import edges
from hearthpay.documents.papers.sheets import REST, LinePage, SheetRow, SheetTable
from hearthpay.documents.papers.writing import american
from hearthpay.documents.rendering import render_pdf
from hearthpay.employees.commands import PaperLanguage
from hearthpay.taxes.jurisdictions import STATES

EmploymentPaper = Literal["agreement", "notice"]

_WORDS: Final = Path(__file__).with_name("employment_words.toml")
_NO_MARKS: Final = PaperMarks()
_TERM_WIDTH: Final = 170
_NO_NUMBERS: Final = 9
"""More than the columns of any table here, since none of them holds amounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmploymentTerms:
    """What the household has on record about a job; what is None is left to be filled in by hand."""

    state: str
    place: str | None
    first_day: datetime.date
    hourly_rate: Decimal | None
    overtime_rate: Decimal | None
    salary: Decimal | None
    salary_per: str | None
    pay_frequency: str
    payment_method: str
    weekly_hours: Decimal | None
    working_days: tuple[str, ...]
    lives_in: bool
    insurer: str | None


def employment_paper(
    paper: EmploymentPaper,
    terms: EmploymentTerms,
    *,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    language: PaperLanguage,
    marks: PaperMarks = _NO_MARKS,
) -> bytes:
    """Return the document as a PDF/UA."""
    return render_pdf("lines", employment_sheet(paper, terms, household, employee, language, marks))


def employment_sheet(
    paper: EmploymentPaper,
    terms: EmploymentTerms,
    household: HouseholdIdentity,
    employee: EmployeeIdentity,
    language: PaperLanguage,
    marks: PaperMarks,
) -> Mapping[str, object]:
    """Return the contents of the document."""
    words = _words()[language]
    heading = words[paper]
    parts = _agreement(words, terms, language) if paper == "agreement" else _notice(words, terms)
    laws = _words()["terms"].get(terms.state)
    if laws is not None:
        text = " ".join(laws[language]) if paper == "agreement" else ""
        parts.append(
            SheetTable(
                words["state_terms"].format(state=STATES[terms.state]),
                text=f"{text} {words['law']}: {laws['law']}.".strip(),
            )
        )
    parts.append(_signatures(words, household, employee))
    page = LinePage(
        kicker=words["kicker"],
        heading=heading,
        year="",
        use=words[f"{paper}_use"],
        facts=[
            (words["employer"], _party(words, household.name, household.address, household.phone)),
            (words["employee"], _party(words, employee.name, employee.address, None)),
        ],
        parts=parts,
    )
    foot = [words["foot"]]
    if marks.issued_on is not None:
        foot.append(words["issued"].format(day=_day(marks.issued_on)))
    return {
        **edges(f"{heading}: {employee.name}", marks, words["foot"], language),
        "foot": " · ".join(foot),
        "page": words["page"],
        "test": words["test"] if marks.test else None,
        "pages": [asdict(page)],
    }


def _agreement(words: Mapping[str, Any], terms: EmploymentTerms, language: str) -> list[SheetTable]:
    blank = words["blank"]
    weeks = _words()["terms"].get(terms.state, {}).get("notice_weeks")
    notice = blank
    if weeks is not None:
        count = weeks[1] if terms.lives_in else weeks[0]
        notice = f"{count} {'semanas' if language == 'es' else 'weeks'}"
    parts = [
        _table(words["job"], [
            (words["place"], terms.place), (words["first_day"], _day(terms.first_day)),
            (words["last_day"], None), (words["duties"], None), ("", None), ("", None),
        ], blank),
        _table(words["pay"], [*_pay(words, terms), (words["deductions"], words["deductions_text"])], blank),
        _table(words["hours"], [
            *_hours(words, terms), (words["schedule"], None), ("", None), (words["breaks"], None),
        ], blank),
        _table(words["leave"], [
            (words["sick"], words["sick_text"]), (words["vacation"], None), (words["holidays"], None),
        ], blank),
        _table(words["other"], [
            (words["transport"], None), (words["expenses"], None), (words["benefits"], None),
            (words["insurance"], terms.insurer),
        ], blank),
    ]  # fmt: skip
    if terms.lives_in:
        rows = [(words[name], None) for name in ("lodging", "sleep", "privacy")]
        parts.append(_table(words["living"], rows, blank))
    parts.append(_table(words["ending"], [(words["notice_time"], notice)], blank))
    return parts


def _notice(words: Mapping[str, Any], terms: EmploymentTerms) -> list[SheetTable]:
    rows = [
        (words["first_day"], _day(terms.first_day)),
        *_pay(words, terms),
        (words["sick"], words["sick_text"]),
        (words["insurance"], terms.insurer),
    ]
    return [_table(words["pay"], rows, words["blank"])]


def _pay(words: Mapping[str, Any], terms: EmploymentTerms) -> list[tuple[str, str | None]]:
    if terms.salary is not None:
        name = "salary_year" if terms.salary_per == "year" else "salary_period"
        rate: tuple[str, str | None] = (words[name], f"${terms.salary:,.2f}")
    else:
        rate = (words["rate"], None if terms.hourly_rate is None else f"${terms.hourly_rate:,.2f}")
    overtime = terms.overtime_rate
    if overtime is None and terms.hourly_rate is not None:
        overtime = terms.hourly_rate * Decimal("1.5")
    return [
        rate,
        (words["overtime"], None if overtime is None else words["overtime_rate"].format(rate=f"${overtime:,.2f}")),
        (words["frequency"], words["frequencies"].get(terms.pay_frequency)),
        (words["method"], words["methods"].get(terms.payment_method)),
        (words["allowances"], None),
    ]  # fmt: skip


def _hours(words: Mapping[str, Any], terms: EmploymentTerms) -> list[tuple[str, str | None]]:
    weekly_hours = terms.weekly_hours
    hours = (
        None if weekly_hours is None else words["hour_count"].format(hours=f"{weekly_hours.normalize():f}")
    )
    days = ", ".join(words["weekdays"].get(day, day) for day in terms.working_days) or None
    return [(words["weekly"], hours), (words["days"], days)]


def _table(title: str, rows: Sequence[tuple[str, str | None]], blank: str) -> SheetTable:
    return SheetTable(
        title,
        heads=("", ""),
        widths=(_TERM_WIDTH, REST),
        numeric=_NO_NUMBERS,
        rows=[SheetRow([name, blank if value is None else value]) for name, value in rows],
    )


def _signatures(
    words: Mapping[str, Any], household: HouseholdIdentity, employee: EmployeeIdentity
) -> SheetTable:
    blank = words["blank"]
    return SheetTable(
        words["signatures"],
        heads=(words["name"], words["signature"], words["date"]),
        widths=(_TERM_WIDTH, REST, 120),
        numeric=_NO_NUMBERS,
        rows=[SheetRow([name, blank, "________________"]) for name in (household.name, employee.name)],
    )


def _party(words: Mapping[str, Any], name: str, address: Any, phone: str | None) -> list[str]:
    lines = [name, *(address_lines(address) or [words["blank"]])]
    return lines if phone is None else [*lines, words["phone"].format(phone=phone)]


def _day(day: datetime.date) -> str:
    return american(day)


@functools.cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads(_WORDS.read_text("utf-8"))
