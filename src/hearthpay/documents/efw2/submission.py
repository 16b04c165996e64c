"""What a household sends to the SSA: its Forms W-2 of a year, the submitter, and what is still missing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from hearthpay.documents.efw2.layout import Efw2Layout
from hearthpay.documents.efw2.lettering import line_letters, name_letters
from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.w2 import W2
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity
from hearthpay.employers.commands import PostalAddress
from hearthpay.security.vault_numbers import InvalidNumberError, parse_number

PREPARERS = ("A", "L", "S", "P", "O")
_USER_ID = 8


class SubmissionProblem(NamedTuple):
    """What the file lacks or can't say: the field by its path, words about it, and whose form it is, if one's."""

    field: str
    text: str
    person: UUID | None = None


class SubmissionError(ValueError):
    """The file can't be written: lists everything that is missing or doesn't fit."""

    def __init__(self, problems: Sequence[SubmissionProblem]) -> None:
        super().__init__("; ".join(problem.text for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitter:
    """Who uploads the file. Fields that are None take the household's own values."""

    user_id: str | None
    """The Business Services Online user id of the person who attests to the file: eight letters and digits."""

    contact_name: str | None = None
    phone: str | None = None
    email: str | None = None
    name: str | None = None
    ein: str | None = field(default=None, repr=False)
    address: PostalAddress | None = None
    preparer_code: str = "L"
    """L: by the household itself; A accounting firm, S service bureau, P parent company, O other."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The Forms W-2 of a household's year, each with its employee."""

    tax_year: int
    household: HouseholdIdentity
    forms: Sequence[tuple[W2, EmployeeIdentity]]
    submitter: Submitter
    terminating: bool = False
    """Whether the household no longer employs anyone."""

    @property
    def sender_address(self) -> PostalAddress | None:
        """The submitter's address."""
        return self.submitter.address or self.household.address

    @property
    def contact(self) -> tuple[str, str, str]:
        """Name, phone number and email address of the contact for the SSA."""
        household = self.household
        return (
            self.submitter.contact_name or household.contact_name or household.name,
            self.submitter.phone or household.phone or "",
            self.submitter.email or household.email or "",
        )


def digits_of(phone: str) -> str:
    """Return a phone number's digits, without the country code."""
    digits = "".join(letter for letter in phone if letter.isascii() and letter.isdigit())
    return digits[1:] if len(digits) == 11 and digits.startswith("1") else digits


def check(submission: Submission, layout: Efw2Layout) -> None:
    """Raise `SubmissionError` with everything that prevents the file from being written."""
    problems = [*_of_household(submission), *_of_submitter(submission)]
    if not submission.forms:
        problems.append(SubmissionProblem("forms", "there is no Form W-2 to send"))
    for form, employee in submission.forms:
        problems += _of_form(submission.tax_year, form, employee, layout)
    if problems:
        raise SubmissionError(problems)


def _of_household(submission: Submission) -> list[SubmissionProblem]:
    household = submission.household
    problems = []
    if household.ein is None:
        problems.append(SubmissionProblem("household.ein", "the SSA takes no file without an EIN"))
    if household.address is None:
        problems.append(SubmissionProblem("household.address", "the household's address is missing"))
    if not line_letters(household.name):
        problems.append(
            SubmissionProblem("household.name", "the household's name has no letter for the file")
        )
    return problems


def _of_submitter(submission: Submission) -> list[SubmissionProblem]:
    name, phone, email = submission.contact
    user_id = submission.submitter.user_id or ""
    problems = []
    if len(user_id) != _USER_ID or not (user_id.isascii() and user_id.isalnum()):
        problems.append(
            SubmissionProblem(
                "submitter.user_id", "the eight characters of Business Services Online are missing"
            )
        )
    if not line_letters(name):
        problems.append(SubmissionProblem("submitter.contact_name", "the contact's name is missing"))
    if len(digits_of(phone)) != 10:
        problems.append(SubmissionProblem("submitter.phone", "the contact's phone number needs ten digits"))
    if "@" not in email or not (email.isascii() and email.isprintable()) or len(email) > 40:
        problems.append(
            SubmissionProblem(
                "submitter.email", "the contact's email address is missing, or longer than 40 characters"
            )
        )
    if submission.submitter.preparer_code not in PREPARERS:
        problems.append(
            SubmissionProblem(
                "submitter.preparer_code", f"the preparer code is none of {', '.join(PREPARERS)}"
            )
        )
    return problems


def _of_form(
    tax_year: int, form: W2, employee: EmployeeIdentity, layout: Efw2Layout
) -> list[SubmissionProblem]:
    def problem(name: str, text: str) -> SubmissionProblem:
        return SubmissionProblem(name, f"{employee.name}: {text}", form.person_id)

    problems = []
    if form.tax_year != tax_year:
        problems.append(problem("form.tax_year", f"the Form W-2 is of {form.tax_year}"))
    if employee.ssn is not None and not _is_issued(employee.ssn):
        problems.append(problem("employee.ssn", "no Social Security number like the one entered is issued"))
    if not (name_letters(employee.first_name) and name_letters(employee.last_name)):
        problems.append(problem("employee.name", "the name has no letter for the file"))
    problems += [
        problem("form.box_12", f"code {entry.code} of box 12 has no field in the layout known for {tax_year}")
        for entry in form.box_12
        if layout.field_of_code(entry.code) is None
    ]
    if any(figure.cents < 0 for figure in _figures(form)):
        problems.append(problem("form.amounts", "an amount is negative, which the file can't say"))
    return problems


def _is_issued(ssn: str) -> bool:
    try:
        parse_number("ssn", ssn)
    except InvalidNumberError:
        return False
    return True


def _figures(form: W2) -> list[Figure]:
    boxes = [form.box_1, form.box_2, form.box_3, form.box_4, form.box_5, form.box_6]
    boxes += [entry.figure for entry in form.box_12]
    for state in form.states:
        boxes += [state.wages, state.tax]
    for local in form.localities:
        boxes += [local.wages, local.tax]
    return [figure for figure in boxes if figure is not None]
