"""HTTP status codes of refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hearthpay.access.refusal import Problem, Refusal, RefusalCode

STATUS: Final[Mapping[RefusalCode, int]] = {
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
"""Every code the API returns, and its HTTP status."""

CONFLICT: Final = 409
FORBIDDEN: Final = 403


class HttpRefusal(Refusal):
    """A refusal by the HTTP layer itself, with its own status."""

    def __init__(
        self,
        code: RefusalCode,
        message: str,
        *,
        status: int,
        details: Mapping[str, object] | Sequence[Problem] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code, message, details=details, headers=headers)
        self.status = status


def status_of(refusal: Refusal) -> int:
    """Return the HTTP status of a refusal."""
    if isinstance(refusal, HttpRefusal):
        return refusal.status
    return CONFLICT if refusal.conflict else STATUS[refusal.code]
