"""One figure of a paper: its cents, and the rows of the ledger it is the sum of."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from hearthpay.taxes.money import RATE_SCALE, from_cents, rate_of
from hearthpay.taxes.rounding import half_up


class Part(NamedTuple):
    """An amount in cents that a figure contains, and where it stands."""

    cents: int
    what: str
    """The column, with the code of the line it is in: `gross_pay`, `US-FIT amount`; or why no row has it."""

    row: UUID | None = None
    """The paycheck, or the prior wages, it stands in; None for what follows from the law and is in no row."""

    payroll_id: UUID | None = None
    day: datetime.date | None = None
    """The pay date; of prior wages the day up to which they were told."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a box or line says, in cents: the sum of its parts, or worked out from other lines by a formula."""

    cents: int
    parts: tuple[Part, ...] = ()
    formula: str | None = None
    ledger_cents: int | None = None
    """What the ledger's lines come to where the form asks for a product: rounding each payment parts them by cents."""

    @property
    def dollars(self) -> Decimal:
        """The amount as it is written: dollars with two decimals."""
        return from_cents(self.cents)


def total(parts: Iterable[Part]) -> Figure:
    """Return the figure that is the sum of these parts; parts of nothing are left out."""
    kept = tuple(part for part in parts if part.cents)
    return Figure(sum(part.cents for part in kept), kept)


def total_or_blank(parts: Iterable[Part]) -> Figure | None:
    """Return the same, or None, a box left blank, where it comes to nothing."""
    figure = total(parts)
    return figure if figure.cents else None


def product(of: Figure, rate: int, name: str, ledger: Iterable[Part] | None = None) -> Figure:
    """Return a line times a rate of billionths, to the nearest cent, halves up; ``ledger`` is what was charged."""
    charged = None if ledger is None else sum(part.cents for part in ledger)
    return Figure(
        half_up(of.cents * rate, RATE_SCALE), formula=f"{name} × {rate_of(rate):f}", ledger_cents=charged
    )


def derived(cents: int, formula: str) -> Figure:
    """Return a line that follows from other lines."""
    return Figure(cents, formula=formula)


class Remark(NamedTuple):
    """Something a paper's reader has to know of its figures; cents where it is about an amount."""

    code: str
    text: str
    cents: int | None = None
