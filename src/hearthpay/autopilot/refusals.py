"""Refusals that Autopilot uses in more than one place."""

from collections.abc import Sequence
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.eligibility import Reason
from hearthpay.taxes.messages import message


def not_enrolled(employee_id: UUID) -> Refusal:
    """Return the refusal for a missing enrollment."""
    return Refusal(
        "not_found",
        "This employee is not enrolled in Autopilot.",
        details={"employee_id": employee_id},
    )


def enrolled_already(employee_id: UUID) -> Refusal:
    """Return the refusal for an existing enrollment."""
    return Refusal(
        "invalid_state",
        "This employee is enrolled in Autopilot already. Change the enrollment, or end it first.",
        details={"employee_id": employee_id},
    )


def not_eligible(reasons: Sequence[Reason]) -> Refusal:
    """Return the refusal for an ineligible employee, with the reasons."""
    return Refusal(
        "invalid_state",
        message("autopilot_not_eligible", reasons=", ".join(reasons)),
        details={"eligible": False, "reasons": list(reasons)},
    )
