"""Withholding certificates as questions: the entries of the legal forms in plain words, and the answers to them.

The year's rulebook says which entries a form has and what each may contain; `certificate_words.toml` has their names.
Nothing here changes anything: `signing` stores the answers.
"""

import datetime
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from hearthpay.languages.catalogue import mark, say_in
from hearthpay.taxes import rulebook_for
from hearthpay.taxes.certificates import FEDERAL_TAX_TOLD, MAX_COUNT, CertificateField, CertificateForm

FEDERAL: Final = "US"
"""The jurisdiction of Form W-4; a state's certificate has the state as its jurisdiction."""

QuestionKind = Literal["choice", "count", "money", "flag"]

_LANGUAGES: Final = ("en", "es")
_STATUSES: Final = ("single", "married", "head_of_household")
# Form W-4 from step 1(c) to step 4(c); a household's agreement first.
_W4: Final[tuple[tuple[str, QuestionKind], ...]] = (
    ("elected", "flag"),
    ("filing_status", "choice"),
    ("multiple_jobs", "flag"),
    ("dependents_credit", "money"),
    ("other_income", "money"),
    ("deductions", "money"),
    ("extra_withholding", "money"),
    ("exempt", "flag"),
    ("nonresident_alien", "flag"),
)
_OF_HOUSEHOLD: Final = frozenset({FEDERAL_TAX_TOLD, "reciprocity_certificate_on_file"})
"""Entries that no employee answers: one is the payroll's own, the other is a document that the household keeps."""

_LARGEST: Final = Decimal(9_999_999)
_LONGEST_AMOUNT: Final = 20
"""Characters of an amount as typed, with its sign, commas and cents."""
_NOT_A_NUMBER: Final = mark("Enter a whole number from 0 to 999.")
_NOT_MONEY: Final = mark("Enter an amount in dollars, like 25 or 25.50.")
_NOT_CHOSEN: Final = mark("Choose one from the list.")


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of a form: `field` is its name in the page's form, `entered` is what the record says now, as typed."""

    name: str
    field: str
    kind: QuestionKind
    label: str
    help: str
    line: str
    choices: tuple[tuple[str, str], ...]
    entered: str

    def as_asked(self) -> dict[str, Any]:
        """Return the question as a signed copy stores it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "label": self.label,
            "help": self.help,
            "line": self.line,
            "choices": [list(each) for each in self.choices],
        }


@dataclass(frozen=True, slots=True)
class CertificateSheet:
    """A form to fill in, in one language, under the law of one year."""

    jurisdiction: str
    form: str
    law_year: int
    rulebook_version: str
    wording: str
    language: str
    declaration: str
    questions: tuple[Question, ...]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The questions and the declaration, as a signed copy stores them."""
        return [
            *(each.as_asked() for each in self.questions),
            {"name": "declaration", "label": self.declaration},
        ]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers: as typed, and as the record's entries take them, None if the law decides an entry.

    For a box, what is stored is whether it was checked, as `on`; nobody can type any other value for it.
    """

    typed: Mapping[str, str]
    entries: Mapping[str, Any]


class AnswersError(Exception):
    """Some answers are invalid; `problems` says what is wrong, by the field of the page's form."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("the certificate has problems")
        self.problems: Final = problems


def sheet_for(
    jurisdiction: str, on: datetime.date, language: str, stored: Mapping[str, Any]
) -> CertificateSheet | None:
    """Return the form under the law of a day, with the record's values; None if there is none to fill in.

    Raises `TaxInputError` for a state that the year's rulebook doesn't have.
    """
    rulebook = rulebook_for(on)
    if jurisdiction == FEDERAL:
        form = "W-4"
        questions = [
            _question(FEDERAL, name, kind, language, "", _named(_STATUSES, language), stored)
            for name, kind in _W4
        ]
    else:
        income_tax = rulebook.state(jurisdiction).income_tax
        if income_tax is None:
            return None
        form = income_tax.form.form
        questions = _of_state(jurisdiction, income_tax.form, language, stored)
        if income_tax.household == "required":
            questions = [each for each in questions if each.name != "elected"]
    # What the household hasn't agreed to, the employee can't request alone.
    if stored.get("elected") is False:
        questions = [each for each in questions if each.name != "elected"]
    words = _words()
    return CertificateSheet(
        jurisdiction,
        form,
        on.year,
        rulebook.version,
        words["version"],
        language,
        words["declaration"][language],
        tuple(questions),
    )


def read_answers(sheet: CertificateSheet, form: Mapping[str, str]) -> Answers:
    """Return the answers of a form. Raises AnswersError."""
    typed: dict[str, str] = {}
    entries: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for question in sheet.questions:
        text = form.get(question.field, "").strip()
        try:
            entry = entries[question.name] = _READERS[question.kind](question, text)
        except ValueError as error:
            problems[question.field] = str(error)
            continue
        typed[question.name] = ("on" if entry else "") if question.kind == "flag" else text
    if problems:
        raise AnswersError(problems)
    return Answers(typed, entries)


def was_touched(sheet: CertificateSheet, form: Mapping[str, str]) -> bool:
    """Return whether somebody has begun to fill in this form: its values differ from those it was shown with."""
    # A browser omits an unchecked box, and nothing else.
    return any(
        form.get(each.field, "" if each.kind == "flag" else each.entered).strip() != each.entered
        for each in sheet.questions
    )


def _of_state(state: str, form: CertificateForm, language: str, stored: Mapping[str, Any]) -> list[Question]:
    entries = [
        entry
        for entry in form.fields.values()
        if entry.name not in _OF_HOUSEHOLD and entry.kind not in ("refused", "text")
    ]
    entries.sort(key=lambda entry: _place(entry, form))
    return [
        _question(
            state, entry.name, _kind(entry), language, entry.note, _choices(entry, language), stored, entry
        )
        for entry in entries
    ]


def _place(entry: CertificateField, form: CertificateForm) -> int:
    """Return an entry's position: agreement, then the status, the form's own entries, and what every form has last."""
    order = {"elected": 0, form.status_field: 1, "additional_withholding": 3, "exempt": 4}
    return order.get(entry.name, 2)


def _kind(entry: CertificateField) -> QuestionKind:
    match entry.kind:
        case "choice" | "count" | "money" | "flag":
            return entry.kind
        case _:
            raise ValueError(f"{entry.name} is not to be filled in")


def _question(
    jurisdiction: str,
    name: str,
    kind: QuestionKind,
    language: str,
    line: str,
    choices: tuple[tuple[str, str], ...],
    stored: Mapping[str, Any],
    entry: CertificateField | None = None,
) -> Question:
    words = _words()["fields"].get(name, {})
    ending = "" if language == "en" else f"_{language}"
    default = entry.default if entry is not None else ("single" if kind == "choice" else None)
    if name == "elected":
        default = True
    return Question(
        name,
        f"{jurisdiction.lower()}_{name}",
        kind,
        words.get(f"label{ending}") or _plain(name),
        words.get(f"help{ending}", ""),
        say_in(language)(line)
        if line and name not in ("elected", "exempt", "additional_withholding")
        else "",
        choices if kind == "choice" else (),
        _as_typed(kind, stored.get(name), default, entry),
    )


def _as_typed(kind: QuestionKind, stored: Any, default: Any, entry: CertificateField | None) -> str:
    if kind == "flag":
        return "on" if (default if stored is None else stored) else ""
    if kind == "choice":
        found = default if stored is None else stored
        if entry is not None and found is not None:
            found = entry.choices.get(str(found), found)
        return "" if found is None else str(found)
    if stored is None:
        return "0" if kind == "count" and default == 0 else ""
    return str(stored)


def _choices(entry: CertificateField, language: str) -> tuple[tuple[str, str], ...]:
    values = list(dict.fromkeys(entry.choices.values()))
    spelled = _places(entry)
    if spelled:
        values.sort(key=lambda value: spelled.get(value, value))
    return tuple((value, spelled.get(value) or choice_name(value, language)) for value in values)


def _places(entry: CertificateField) -> dict[str, str]:
    """Return the names of the places that codes stand for; empty if the choices aren't places."""
    found: dict[str, str] = {}
    for name, value in entry.names.items():
        if value.isdigit() and (value not in found or len(name) > len(found[value])):
            found[value] = name
    return {value: f"{name.title()} ({value})" for value, name in found.items()}


def _named(values: tuple[str, ...], language: str) -> tuple[tuple[str, str], ...]:
    return tuple((value, choice_name(value, language)) for value in values)


def choice_name(value: str, language: str) -> str:
    """Return the name of a choice of a form in the language: of a status its words, of a share a percentage."""
    known = _words()["choices"].get(value)
    if known is not None:
        return str(known[_LANGUAGES.index(language)])
    try:
        share = Decimal(value)
    except InvalidOperation:
        return _plain(value)
    return f"{share * 100:f}".rstrip("0").rstrip(".") + " %" if "." in value else value


def _plain(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def _read_choice(question: Question, text: str) -> str | None:
    if not text:
        return None
    if text not in {value for value, _ in question.choices}:
        raise ValueError(_NOT_CHOSEN)
    return text


def _read_count(question: Question, text: str) -> int | None:  # noqa: ARG001 - one signature for all kinds
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(MAX_COUNT)):
        raise ValueError(_NOT_A_NUMBER)
    return int(text)


def _read_money(question: Question, text: str) -> Decimal | None:  # noqa: ARG001 - one signature for all kinds
    if len(text) > _LONGEST_AMOUNT:
        raise ValueError(_NOT_MONEY)
    plain = text.removeprefix("$").replace(",", "").strip()
    if not plain:
        return None
    whole, _, cents = plain.partition(".")
    if not (whole.isascii() and whole.isdigit()) or len(whole) > len(str(_LARGEST)):
        raise ValueError(_NOT_MONEY)
    if (not cents and plain.endswith(".")) or len(cents) > len("00") or (cents and not cents.isdecimal()):
        raise ValueError(_NOT_MONEY)
    amount = Decimal(plain)
    if amount > _LARGEST:
        raise ValueError(_NOT_MONEY)
    return amount


def _read_flag(question: Question, text: str) -> bool:  # noqa: ARG001 - one signature for all kinds
    return text == "on"


_READERS: Final[Mapping[QuestionKind, Callable[[Question, str], Any]]] = {
    "choice": _read_choice,
    "count": _read_count,
    "money": _read_money,
    "flag": _read_flag,
}


@cache
def _words() -> dict[str, Any]:
    source = files("hearthpay.employees").joinpath("certificate_words.toml")
    return tomllib.loads(source.read_text("utf-8"))
