"""Refusals: one exception and one list of codes, for every caller and every interface.

Services raise `Refusal` (or `invalid(field, message)`); `http/errors.py` puts it on the wire, `web/` on a page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from hearthpay.access.refusal_details import DetailsCheck, check_details
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.messages import Message

_Checked = TypeVar("_Checked")

RefusalCode = Literal[
    "validation_error",
    "invalid_state",
    "unsupported_tax_year",
    "unsupported_jurisdiction",
    "tax_year_not_final",
    "pay_date_past_deadline",
    "confirmation_required",
    "duplicate_employee",
    "too_many_employees",
    "employee_not_in_household",
    "employee_not_started",
    "employee_incomplete",
    "document_not_available",
    "authentication_required",
    "plan_limit_reached",
    "subscription_required",
    "scope_required",
    "household_forbidden",
    "key_mode_mismatch",
    "autopilot_enroll_in_app",
    "not_found",
    "method_not_allowed",
    "clock_advancing",
    "autopilot_run_scheduled",
    "period_ahead_of_anchor",
    "payroll_overlap",
    "idempotency_conflict",
    "amounts_changed",
    "gone",
    "invitation_too_soon",
    "direct_deposit_unavailable",
    "rate_limited",
    "internal_error",
    "service_unavailable",
]
"""Every refusal code. A code never changes its meaning; its message may."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a request: the field as the client wrote it (`employees[0].bonus`) and why."""

    field: str
    message: str
    coded_message: Message | None = None
    """What is wrong, by code if it has one, so that it can be translated."""


class Refusal(Exception):  # noqa: N818 - the name says what happens to the caller
    """A refusal the client can understand and act on.

    `details` is a list of `Problem` for `validation_error`, for every other code what its row in `DETAILS` says: in
    tests, other details raise TypeError (`DetailsCheck`). `example` replaces the endpoint's own example (a request to
    send again, for `confirmation_required`). `conflict`: it is refused only while something else is under way. A
    sentence that names something is a `Message`, kept as `coded_message`: pages translate it.
    """

    def __init__(
        self,
        code: RefusalCode,
        message: str | Message,
        *,
        details: Mapping[str, object] | Sequence[Problem] | None = None,
        example: object = None,
        headers: Mapping[str, str] | None = None,
        conflict: bool = False,
    ) -> None:
        text = message if isinstance(message, str) else message.text
        super().__init__(text)
        if DetailsCheck.enabled and isinstance(details, Mapping):
            check_details(code, details)
        self.code = code
        self.message = text
        self.coded_message = None if isinstance(message, str) else message
        self.details = details
        self.example = example
        self.headers = headers
        self.conflict = conflict


def invalid(field: str, message: str | Message) -> Refusal:
    """Return the `validation_error` for one field, named as the client wrote it."""
    return invalid_fields([problem(field, message)])


def problem(field: str, message: str | Message) -> Problem:
    """Return what is wrong with a field: in words, or by code."""
    return Problem(field, message) if isinstance(message, str) else Problem(field, message.text, message)


def invalid_fields(problems: Sequence[Problem]) -> Refusal:
    """Return the `validation_error` that lists every problem of a request; its message is that of the first."""
    first = problems[0]
    more = f" ({len(problems) - 1} more in details)" if len(problems) > 1 else ""
    return Refusal("validation_error", f"{first.field}: {first.message}{more}", details=list(problems))


class Checks:
    """Runs several checks of a form, so that one refusal lists the problems of all of them."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def run(self, check: Callable[[], _Checked], otherwise: _Checked) -> _Checked:
        """Return what the check returns, or `otherwise` if it raises a `validation_error`, which is kept."""
        try:
            return check()
        except Refusal as error:
            if error.code != "validation_error" or not isinstance(error.details, list):
                raise
            self._problems += error.details
            return otherwise

    def refuse(self) -> None:
        """Raise one `validation_error` with every problem found so far, if any."""
        if self._problems:
            raise invalid_fields(self._problems)


def from_tax_engine(error: TaxInputError) -> Refusal:
    """Return the API's refusal for an error of the tax engine."""
    if error.code == "validation_error":
        return invalid(error.field, error.coded_message or error.message)
    return Refusal(error.code, f"{error.field}: {error.message}", details={"field": error.field})
