"""The federal forms of each tax year, read from ``forms.toml``."""

import datetime
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

_FILE: Final = Path(__file__).parent / "forms.toml"
FormStatus = Literal["final", "draft"]


class FormNotKnownError(LookupError):
    """No form of this tax year is published, nor a draft of it."""


@dataclass(frozen=True, slots=True)
class ScheduleHForm:
    """Schedule H of a year; rates are billionths."""

    tax_year: int
    status: FormStatus
    contributions_due: datetime.date
    goes_to: str
    """The line of the tax return to which line 26 is carried."""

    gross_rate: int
    largest_credit: int
    credit_of_late_contributions: int
    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class W2Form:
    """Form W-2 of a year."""

    tax_year: int
    status: FormStatus
    other_box: str
    """The box for states' programs: 14, or 14a once it is split."""

    overtime_code: str | None
    """The code of box 12 for qualified overtime; None in a year without it."""

    sources: tuple[Source, ...]
    confidence: Confidence


def schedule_h_form(tax_year: int) -> ScheduleHForm:
    """Return Schedule H of a tax year; raises `FormNotKnownError`."""
    form = _schedules().get(tax_year)
    if form is None:
        raise FormNotKnownError(f"Schedule H of {tax_year} is not published yet")
    return form


def w2_form(tax_year: int) -> W2Form:
    """Return Form W-2 of a tax year; raises `FormNotKnownError`."""
    form = _w2s().get(tax_year)
    if form is None:
        raise FormNotKnownError(f"Form W-2 of {tax_year} is not published yet")
    return form


def _status(table: RuleTable) -> FormStatus:
    return cast("FormStatus", table.choice("status", ("final", "draft")))


@functools.cache
def _file() -> tuple[dict[int, ScheduleHForm], dict[int, W2Form]]:
    table = RuleTable.load(_FILE)
    schedules = {}
    for entry in table.tables("schedule_h"):
        schedule = ScheduleHForm(
            tax_year=entry.integer("tax_year"),
            status=_status(entry),
            contributions_due=entry.date("contributions_due"),
            goes_to=entry.text("goes_to"),
            gross_rate=entry.rate("gross_rate"),
            largest_credit=entry.rate("largest_credit"),
            credit_of_late_contributions=entry.rate("credit_of_late_contributions"),
            sources=entry.sources(),
            confidence=entry.confidence(),
        )
        entry.close()
        schedules[schedule.tax_year] = schedule
    w2s = {}
    for entry in table.tables("w2"):
        form = W2Form(
            tax_year=entry.integer("tax_year"),
            status=_status(entry),
            other_box=entry.text("other_box"),
            overtime_code=entry.optional_text("overtime_code"),
            sources=entry.sources(),
            confidence=entry.confidence(),
        )
        entry.close()
        w2s[form.tax_year] = form
    table.close()
    return schedules, w2s


def _schedules() -> dict[int, ScheduleHForm]:
    return _file()[0]


def _w2s() -> dict[int, W2Form]:
    return _file()[1]
