"""Reading the certificates of the tax page, each signed separately, and signatures in general."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hearthpay.access.refusal import Refusal
from hearthpay.employees.certificate_sheets import (
    FEDERAL,
    Answers,
    AnswersError,
    CertificateSheet,
    read_answers,
    sheet_for,
    was_touched,
)
from hearthpay.employees.models import Employee
from hearthpay.languages.catalogue import mark
from hearthpay.people.identity import read_name
from hearthpay.taxes import TaxInputError
from hearthpay.web.refusal_words import problem_on_page

_NOT_TODAY: Final = mark("Enter today's date.")


@dataclass(frozen=True, slots=True)
class FilledIn:
    """A completed and signed certificate, with the name and day of the signature."""

    sheet: CertificateSheet
    answers: Answers
    name: str
    on: datetime.date


def sheets_of(
    employee: Employee, today: datetime.date, language: str, *, blank: bool = False
) -> tuple[CertificateSheet, ...]:
    """Return the forms that an employee may sign: the federal one, and the state's if it has one.

    With `blank` they show nothing on record, since anyone with a link may enter data but read nothing.
    """
    found = []
    for jurisdiction in (FEDERAL, employee.work_state):
        stored = employee.federal_withholding if jurisdiction == FEDERAL else employee.state_withholding
        if blank:
            stored = {name: entry for name, entry in stored.items() if name == "elected" and entry is False}
        try:
            sheet = sheet_for(jurisdiction, today, language, stored)
        except TaxInputError:
            continue
        if sheet is not None:
            found.append(sheet)
    return tuple(found)


def prefix_of(sheet: CertificateSheet) -> str:
    """Return the prefix of a certificate's field names."""
    return f"{sheet.jurisdiction.lower()}_"


def read_certificates(
    sheets: Sequence[CertificateSheet],
    form: Mapping[str, str],
    today: datetime.date,
    problems: dict[str, str],
) -> list[FilledIn]:
    """Return the completed certificates; problems go into `problems`.

    An untouched certificate stays as it is on record: it may have been given on paper.
    """
    found = []
    for sheet in sheets:
        prefix = prefix_of(sheet)
        sent = any(each.field in form for each in sheet.questions)
        if not form.get(f"{prefix}signed_name", "").strip() and not (sent and was_touched(sheet, form)):
            continue
        signed = read_signature(form, today, problems, prefix)
        try:
            answers = read_answers(sheet, form)
        except AnswersError as error:
            problems.update(error.problems)
            continue
        if signed is not None:
            found.append(FilledIn(sheet, answers, *signed))
    return found


def read_signature(
    form: Mapping[str, str], today: datetime.date, problems: dict[str, str], prefix: str = ""
) -> tuple[str, datetime.date] | None:
    """Return the name and day of a signature; problems go into `problems`."""
    name = None
    try:
        name = read_name(form.get(f"{prefix}signed_name", ""), f"{prefix}signed_name")
    except Refusal as error:
        if not isinstance(error.details, list):
            raise
        problems.update({each.field: problem_on_page(each) for each in error.details})
    if form.get(f"{prefix}signed_on", "").strip() != today.isoformat():
        problems[f"{prefix}signed_on"] = _NOT_TODAY
        return None
    return None if name is None else (name, today)
