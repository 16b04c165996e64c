"""Why a document can't be issued, and what to do about it: the refusals of this package."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.documents.figures.forms import FormNotKnownError, schedule_h_form, w2_form

if TYPE_CHECKING:
    from hearthpay.documents.efw2 import SubmissionProblem

_HOW: Final = {
    "household.address": "enter it on the page /app/{employer}/taxes/papers/address, or PATCH "
    "/api/v1/employers/{employer} with `address`",
    "household.ein": "enter it on the page /app/{employer}/state-accounts/ein, or the operator does with "
    "`hearthpay households ein {employer}`; once it is applied for, /app/{employer}/state-accounts or "
    "`hearthpay households ein-status {employer} pending` lets papers say so",
    "employee.address": "enter it on the page /app/{employer}/employees/{employee}/change, or PATCH "
    "/api/v1/employees/{employee} with `address`, or the employee types it behind a link, which "
    "/app/{employer}/employees/{employee}/invitations sends (POST /api/v1/employees/{employee}/invite with `tax_info`)",
    "household.name": "change it on the page /app/{employer}/household, or PATCH /api/v1/employers/{employer}",
    "employee.name": "change it on the page /app/{employer}/employees/{employee}/change, or PATCH "
    "/api/v1/employees/{employee}",
    "employee.ssn": "the employee enters it again behind a link, which "
    "/app/{employer}/employees/{employee}/invitations sends (POST /api/v1/employees/{employee}/invite with `tax_info`)",
}
_SUBMITTER_HOW: Final = (
    "enter it on the page /app/{employer}/taxes/papers/wage-file, or send it in `submitter`"
)
_FORM_HOW: Final = "type this form in W-2 Online: https://www.ssa.gov/employer"


def not_available(reason: str, message: str, **details: object) -> Refusal:
    """Return the refusal for a document that can't be issued."""
    return Refusal("document_not_available", message, details={"reason": reason, **details})


def missing_details(
    names: Iterable[str], employer_id: UUID, people: Mapping[UUID, Sequence[str]] = MappingProxyType({})
) -> Refusal:
    """Return the refusal for a document with missing details, and how to supply each.

    `names` are the household's; `people` lists what is missing for each employee.
    """
    missing: list[dict[str, object]] = [
        {"field": name, "how": _HOW[name].format(employer=employer_id)} for name in dict.fromkeys(names)
    ]
    for employee_id, of_employee in people.items():
        for name in of_employee:
            how = _HOW[name].format(employer=employer_id, employee=employee_id)
            missing.append({"field": name, "employee_id": employee_id, "how": how})
    listed = ", ".join(dict.fromkeys(str(each["field"]) for each in missing))
    return not_available(
        "details_missing", f"This paper needs what is not known yet: {listed}.", missing=missing
    )


def wage_file_problems(problems: Sequence["SubmissionProblem"], employer_id: UUID) -> Refusal:
    """Return the refusal for a wage file that can't be written: each problem, whose it is, and what to do."""
    missing: list[dict[str, object]] = []
    for problem in problems:
        how = _HOW.get(problem.field) or (_SUBMITTER_HOW if problem.person is None else _FORM_HOW)
        named = {} if problem.person is None else {"employee_id": problem.person}
        missing.append(
            {
                "field": problem.field,
                "how": how.format(employer=employer_id, employee=problem.person),
                **named,
            }
        )
    listed = "; ".join(problem.text for problem in problems)
    return not_available(
        "details_missing", f"The wage file needs what is not known yet: {listed}.", missing=missing
    )


def require_year(tax_year: int, today: datetime.date) -> None:
    """Refuse a year that has not begun."""
    if tax_year > today.year:
        raise not_available(
            "future_year", f"{tax_year} has not begun: nothing was paid in it yet.", tax_year=tax_year
        )


def require_w2_form(tax_year: int) -> None:
    """Refuse a year whose Forms W-2 and W-3 aren't known."""
    try:
        w2_form(tax_year)
    except FormNotKnownError as error:
        raise not_available("form_not_published", f"{error}.", tax_year=tax_year) from None


def require_schedule_h_form(tax_year: int) -> None:
    """Refuse a year whose Schedule H isn't known."""
    try:
        schedule_h_form(tax_year)
    except FormNotKnownError as error:
        raise not_available("form_not_published", f"{error}.", tax_year=tax_year) from None
