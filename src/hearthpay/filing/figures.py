"""The figures of a return as it was filed, kept as they were then: pure sums of the household's ledger, in cents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hearthpay.duties.amounts import is_among
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import Household
from hearthpay.duties.periods import Paydays
from hearthpay.duties.rules import HouseholdDuty, duties_of


@dataclass(frozen=True, slots=True)
class AsFiled:
    """The taxes of an item's period, by line code, and how much of them other items pay."""

    total: int | None
    """None for what is filed without amounts, such as the report of a hire."""

    paid_with_other_items: int
    lines: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return how they are stored."""
        return {
            "total": self.total,
            "paid_with_other_items": self.paid_with_other_items,
            "lines": dict(self.lines),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "AsFiled":
        """Return what was stored."""
        return cls(stored["total"], stored["paid_with_other_items"], stored["lines"])


def figures_of(household: Household, item: CalendarItem) -> AsFiled:
    """Return the figures of an item of the household's calendar, as its ledger has them today."""
    duty_id = item.key.split("/")[1]
    duty = next((each for each in duties_of(item.jurisdiction).duties if each.id == duty_id), None)
    if duty is None or not duty.lines:
        return AsFiled(None, 0, {})
    lines = _lines(household, duty, item)
    return AsFiled(sum(lines.values()), item.earlier, lines)


def _lines(household: Household, duty: HouseholdDuty, item: CalendarItem) -> dict[str, int]:
    if isinstance(duty.partition, Paydays):
        charged = [
            (paid.line, paid.cents)
            for paid in household.paydays
            if item.period_start <= paid.day <= item.period_end
        ]
    else:
        first, last = item.period_start, item.period_end
        charged = [
            (amount.line, amount.cents)
            for amount in household.amounts
            if (first.year, first.month) <= (amount.year, amount.month) <= (last.year, last.month)
        ]
    cents: dict[str, int] = {}
    for line, amount in charged:
        if is_among(line, duty.lines):
            cents[line] = cents.get(line, 0) + amount
    return {line: cents[line] for line in sorted(cents) if cents[line]}
