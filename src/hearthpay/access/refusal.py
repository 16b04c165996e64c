"""Refusals: one exception, one table of codes, whoever is refused and by whatever way he came.

Services raise `Refusal` (or `invalid(field, message)`); `http/errors.py` puts it on the wire, `web/` on a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.messages import Message

STATUS: Final[Mapping[str, int]] = {
    "validation_error": 400,
    "invalid_state": 400,
    "unsupported_tax_year": 400,
    "unsupported_jurisdiction": 400,
    "tax_year_not_final": 400,
    "pay_date_past_deadline": 400,
    "confirmation_required": 400,
    "duplicate_employee": 400,
    "too_many_employees": 400,
    "employee_not_in_household": 400,
    "employee_not_started": 400,
    "employee_incomplete": 400,
    "document_not_available": 400,
    "authentication_required": 401,
    "plan_limit_reached": 403,
    "subscription_required": 403,
    "scope_required": 403,
    "household_forbidden": 403,
    "key_mode_mismatch": 403,
    "autopilot_enroll_in_app": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "clock_advancing": 409,
    "autopilot_run_scheduled": 409,
    "period_ahead_of_anchor": 409,
    "payroll_overlap": 409,
    "idempotency_conflict": 409,
    "amounts_changed": 409,
    "gone": 410,
    "invitation_too_soon": 412,
    "direct_deposit_unavailable": 412,
    "rate_limited": 429,
    "internal_error": 500,
    "service_unavailable": 503,
}
"""Every code the API answers with, and its HTTP status."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a request: the field as the client wrote it (`employees[0].bonus`) and why."""

    field: str
    message: str
    said: Message | None = None
    """What is wrong by code, where it has one: to say it in another language."""


class Refusal(Exception):  # noqa: N818 - the name says what happens to the caller
    """A refusal the client can understand and act on.

    `details` is a list of `Problem` for `validation_error`, a mapping for every other code. `example`
    replaces the endpoint's own example (a request to send again, for `confirmation_required`). `status`
    departs from the code's usual one.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Mapping[str, object] | Sequence[Problem] | None = None,
        example: object = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
        self.example = example
        self.headers = headers
        self.status = STATUS[code] if status is None else status


def invalid(field: str, message: str | Message) -> Refusal:
    """Return the `validation_error` for one field, named as the client wrote it."""
    return invalid_fields([problem(field, message)])


def problem(field: str, message: str | Message) -> Problem:
    """Return what is wrong with a field: in words, or by code."""
    return Problem(field, message) if isinstance(message, str) else Problem(field, message.text, message)


def invalid_fields(problems: Sequence[Problem]) -> Refusal:
    """Return the `validation_error` that lists every problem of a request; its message tells the first."""
    first = problems[0]
    more = f" ({len(problems) - 1} more in details)" if len(problems) > 1 else ""
    return Refusal("validation_error", f"{first.field}: {first.message}{more}", details=list(problems))


def from_tax_engine(error: TaxInputError) -> Refusal:
    """Return what the tax engine refuses, as the API says it."""
    if error.code == "validation_error":
        return invalid(error.field, error.said or error.message)
    return Refusal(error.code, f"{error.field}: {error.message}", details={"field": error.field})
