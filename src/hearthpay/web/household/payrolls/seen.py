"""What somebody was shown before she says yes: its digest travels in the form, and what is run is held against it.

It is no secret and no proof against anybody but a change meanwhile: another rate, another payroll run, another day.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

_AMOUNTS: Final = ("gross_pay", "net_pay", "total_cost")
_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class SeenPay:
    """What one paycheck was shown to come to, in cents."""

    name: str
    gross_pay: int
    net_pay: int
    total_cost: int


@dataclass(frozen=True, slots=True)
class SeenPayroll:
    """A payroll as it was shown: a digest of all its lines and dates, and what each paycheck comes to."""

    digest: str
    pays: tuple[SeenPay, ...]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SeenPayroll:
        """Return it for the answer of a preview, or of a run."""
        data = exact(data)
        period = data["pay_period"]
        dates = [str(period[name]) for name in ("start", "end", "pay_date")]
        content = [dates, [_lines(each) for each in data["employees"]]]
        digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:_DIGITS]
        pays = tuple(
            SeenPay(each["name"], *(_cents(each[name]) for name in _AMOUNTS)) for each in data["employees"]
        )
        return cls(digest, pays)

    @property
    def amounts(self) -> str:
        """What a form keeps of the paychecks, to show it again: their cents."""
        return " ".join(f"{each.gross_pay},{each.net_pay},{each.total_cost}" for each in self.pays)

    def as_shown(self, amounts: str) -> Sequence[tuple[int, ...]]:
        """Return the cents that a form kept; nothing where it is not of these paychecks."""
        try:
            kept = [tuple(int(cents) for cents in each.split(",")) for each in amounts.split()]
        except ValueError:
            return ()
        fits = len(kept) == len(self.pays) and all(len(each) == len(_AMOUNTS) for each in kept)
        return kept if fits else ()


class AmountsChangedError(Exception):
    """What would be run is not what was shown; `now` is what it would be."""

    def __init__(self, now: SeenPayroll) -> None:
        super().__init__("the amounts have changed")
        self.now = now


def _lines(pay: Mapping[str, Any]) -> list[Any]:
    return [
        str(pay["employee_id"]),
        pay["payment_method"],
        [_plain(part) for name, part in sorted(pay["earnings"].items()) if name != "salary"],
        *([_plain(pay["earnings"]["salary"]["paid_days"])] if "salary" in pay["earnings"] else []),
        [_cents(pay[name]) for name in _AMOUNTS],
        _cents(pay["voluntary_set_aside"]["amount"]),
        [
            [line["code"], line["payer"], _cents(line["taxable_wages"]), _cents(line["amount"])]
            for line in pay["lines"]
        ],
    ]


def exact(answer: Any) -> Any:
    """Return a part of an answer with Decimals for the numbers that an estimate spells in the shortest way."""
    if isinstance(answer, float):
        return Decimal(str(answer))
    if isinstance(answer, Mapping):
        return {name: exact(part) for name, part in answer.items()}
    return [exact(part) for part in answer] if isinstance(answer, list) else answer


def _cents(dollars: Decimal | int) -> int:
    return int(Decimal(dollars) * 100)


def _plain(number: Decimal | int) -> str:
    return f"{Decimal(number).normalize():f}"
