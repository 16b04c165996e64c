"""The five questions of setup: their order, the frame of each page, and what is wrong with the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hearthpay.employees.setup_questions import FREQUENCY, LAST_QUESTION, METHOD, PAY
from hearthpay.languages.catalogue import mark

HOUSEHOLD: Final = 1
PERSON: Final = 2

QUESTIONS: Final[Mapping[int, tuple[str, str]]] = {
    HOUSEHOLD: (mark("You and your state"), mark("Your name and home address")),
    PERSON: (mark("Who works for you"), mark("Name, first day, email")),
    PAY: (mark("Pay"), mark("By the hour or a salary")),
    FREQUENCY: (mark("How often"), mark("Every week, every two weeks")),
    METHOD: (mark("How you pay"), mark("Check, cash or direct deposit")),
}
"""What each question is about, and what it asks for."""

LEAVE: Final = "leave"
"""The name of the button that saves the answer and leaves setup."""

_FILL_IN: Final = "Fill in this field."
_MISSING: Final[Mapping[str, str]] = {
    "first_name": mark("Enter a first name."),
    "last_name": mark("Enter a last name."),
    "email": mark("Enter an email address, like ana@example.com."),
    "address_line1": mark("Enter the street address."),
    "address_city": mark("Enter the city."),
    "address_zip": mark("Enter a ZIP code, like 94110."),
    "address_state": mark("Choose a state."),
    "start_date": mark("Enter the first day of work."),
    "locality": mark("Choose a place, or “None of these”."),
    "pay": mark("Enter the pay in dollars, like 28.50."),
    "usual_weekly_hours": mark("Enter the hours of a usual week, like 20."),
    "pay_frequency": mark("Choose how often you pay."),
    "payment_method": mark("Choose how you pay."),
}
"""What is missing, by field."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A problem with an answer; `anchor` is the element to go to, empty if it concerns no field."""

    anchor: str
    text: str


def missing(problems: dict[str, str], values: Mapping[str, object], names: Sequence[str]) -> None:
    """Add a problem for each of the fields without a value that has none yet."""
    for name in names:
        if values.get(name) in (None, ""):
            problems.setdefault(name, _MISSING[name])


def in_plain_words(problems: Mapping[str, str]) -> dict[str, str]:
    """Return the problems with the name of the field that is missing."""
    return {
        name: _MISSING.get(name, problem) if problem == _FILL_IN else problem
        for name, problem in problems.items()
    }


def question_facts(
    number: int,
    back: str,
    problems: Mapping[str, str],
    form_values: Mapping[str, str],
    anchors: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what every question's page shows; `anchors` are the elements of fields that have another id."""
    said = in_plain_words(problems)
    return {
        "flow": "plain",
        "number": number,
        "last": LAST_QUESTION,
        "next_question": QUESTIONS[number + 1][0] if number < LAST_QUESTION else None,
        "back": back,
        "problems": said,
        "mistakes": [Mistake((anchors or {}).get(name, name), text) for name, text in said.items()],
        "form_values": form_values,
    }
