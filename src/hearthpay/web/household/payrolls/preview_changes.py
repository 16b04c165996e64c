"""What somebody was shown before she says yes: the preview's own token travels in the form, and holds the run to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self

from hearthpay.access.refusal import Refusal
from hearthpay.payroll.ledger.preview_tokens import FIELD
from hearthpay.payroll.ledger.rows import PayrollRecord

TOKEN_FIELD: Final = FIELD
"""What the form calls the token."""


@dataclass(frozen=True, slots=True)
class ChangedPay:
    """One paycheck, as it was shown and as it would be now, in dollars."""

    name: str
    net_pay: Decimal
    net_pay_now: Decimal
    total_cost: Decimal
    total_cost_now: Decimal


@dataclass(frozen=True, slots=True)
class ChangedSince:
    """Something is not as it was shown; `pays` tells the amounts, where the refusal does."""

    pays: tuple[ChangedPay, ...]

    @classmethod
    def of(cls, refusal: Refusal, record: PayrollRecord | None) -> Self | None:
        """Return it for what a run was refused for; None for a refusal that has nothing to do with what was shown.

        A token that has expired or is none is as one that shows something else: it has to be looked at once more.
        """
        details: Any = refusal.details
        if refusal.code == "amounts_changed":
            names = (
                {} if record is None else {each.employee_id: each.employee_name for each in record.paychecks}
            )
            pairs = zip(details["previewed"], details["now"], strict=True)
            return cls(tuple(_changed(names, then, now) for then, now in pairs))
        of_token = refusal.code == "validation_error" and isinstance(details, list)
        return cls(()) if of_token and any(each.field == FIELD for each in details) else None


def exact(answer: Any) -> Any:
    """Return a part of an answer with Decimals for the numbers that an estimate spells in the shortest way."""
    if isinstance(answer, float):
        return Decimal(str(answer))
    if isinstance(answer, Mapping):
        return {name: exact(part) for name, part in answer.items()}
    return [exact(part) for part in answer] if isinstance(answer, list) else answer


def _changed(names: Mapping[Any, str], then: Mapping[str, Any], now: Mapping[str, Any]) -> ChangedPay:
    return ChangedPay(
        names.get(then["employee_id"], ""),
        then["net_pay"],
        now["net_pay"],
        then["total_cost"],
        now["total_cost"],
    )
