"""Reading the app's forms field by field, with each problem next to its field.

Values are checked by the same models as the API's requests, so a page accepts exactly what the API does.
"""

import datetime
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from hearthpay.access.refusal import Refusal
from hearthpay.languages.catalogue import mark
from hearthpay.web.refusal_words import above_the_form, problem_on_page, refusal_above_form
from hearthpay.wire.problems import problems_of as problems_of_model
from hearthpay.wire.typed_numbers import typed_decimal

Model = TypeVar("Model", bound=BaseModel)

ROOT: Final = ""
"""The place of problems that concern no particular field: above the form."""

_LONGEST: Final = 20
"""The characters of the longest amount."""
_NO_AMOUNT: Final = mark("Enter an amount, like 28.50.")
_NO_NUMBER: Final = mark("Enter a whole number.")
_AS_TYPED: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)
_NO_DAY: Final = mark("Enter a date, like 11/20/2026.")
_SAID: Final = (
    mark("Fill in this field."),
    mark("Enter an email address, like ana@example.com."),
    mark("Enter a number from 0.01 to 9,999.99."),
    mark("Enter a number from 0 to 999,999,999."),
    mark("Enter a number from 0 to 999,999."),
    mark("Use at most 2 decimals."),
    mark("Enter a ZIP code, like 94110."),
    mark("Enter a two-letter state code, like CA."),
    mark("Use 1 to 100 characters."),
    mark("Enter an email address. Only a test household may have none."),
)
"""Common problems that services and models report, in the reader's language."""

_ON_THE_PAGE: Final = frozenset(
    {
        "duplicate_employee",
        "plan_limit_reached",
        "unsupported_jurisdiction",
        "unsupported_tax_year",
        "invalid_state",
        "direct_deposit_unavailable",
        "invitation_too_soon",
        "employee_incomplete",
        "employee_not_started",
    }
)
"""Refusals that a person can fix in the form: they are shown above it."""


def typed_day(text: str) -> datetime.date:
    """Return a day typed as 11/20/2026 or as 2026-11-20; raises ValueError for anything else."""
    written = _AS_TYPED.fullmatch(text)
    if written is not None:
        month, day, year = map(int, written.groups())
        return datetime.date(year, month, day)
    return datetime.date.fromisoformat(text)


class Entries:
    """The fields of a form; `problems` collects what is wrong with them."""

    def __init__(self, form: Mapping[str, str]) -> None:
        self._form: Final = form
        self.problems: Final[dict[str, str]] = {}

    def has(self, name: str) -> bool:
        """Return whether the form has the field at all."""
        return name in self._form

    def text(self, name: str) -> str | None:
        """Return the text of a field, without surrounding spaces; None if empty."""
        return self._form.get(name, "").strip() or None

    def ticked(self, name: str) -> bool:
        """Return whether the box was checked."""
        return bool(self._form.get(name))

    def amount(self, name: str) -> Decimal | None:
        """Return dollars, typed with or without "$" and commas; None if empty or not an amount."""
        typed = self.text(name)
        if typed is None:
            return None
        found = typed_decimal(typed.replace("$", "")) if len(typed) <= _LONGEST else None
        if found is None:
            self.problems[name] = _NO_AMOUNT
            return None
        return found

    def number(self, name: str) -> int | None:
        """Return a whole number; None if empty or not a number."""
        typed = self.text(name)
        if typed is None:
            return None
        if not (typed.isascii() and typed.isdigit() and len(typed) < 10):
            self.problems[name] = _NO_NUMBER
            return None
        return int(typed)

    def day(self, name: str) -> datetime.date | None:
        """Return a day; None if empty or not a day."""
        typed = self.text(name)
        if typed is None:
            return None
        try:
            return typed_day(typed)
        except ValueError:
            self.problems[name] = _NO_DAY
            return None

    def checked(self, model: type[Model], values: Mapping[str, object]) -> Model | None:
        """Return the model of the values; None if anything is wrong, which `problems` then has.

        Values that are None are left out.
        """
        given = {name: value for name, value in values.items() if value is not None}
        try:
            made = model.model_validate(given)
        except ValidationError as error:
            for each in problems_of_model(error.errors(include_url=False, include_input=False)):
                self.problems.setdefault(spelled(each.field), problem_on_page(each))
            return None
        return None if self.problems else made


def spelled(field: str) -> str:
    """Return the form's name for a field of a request: `address.line1` is `address_line1`."""
    whole = field.replace("federal_withholding.", "federal_").replace("state_withholding.", "state_")
    return whole.replace(".", "_").replace("[", "_").replace("]", "")


def problems_in(error: Refusal, form: Mapping[str, str]) -> dict[str, str]:
    """Return a service's problems by the form's fields; those that concern none are shown above the form.

    Raises the refusal itself if another entry wouldn't help.
    """
    if error.code == "validation_error" and isinstance(error.details, list):
        found: dict[str, str] = {}
        for each in error.details:
            name = spelled(each.field)
            if name in form:
                found[name] = problem_on_page(each)
            else:
                found.setdefault(ROOT, above_the_form(each))
        return found
    if error.code in _ON_THE_PAGE:
        return {ROOT: refusal_above_form(error)}
    raise error
