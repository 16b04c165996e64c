"""One figure of a document: its cents, and the ledger rows that it sums up."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from hearthpay.taxes.money import RATE_SCALE, from_cents, rate_of
from hearthpay.taxes.rounding import half_up


class Part(NamedTuple):
    """An amount in cents contained in a figure, and its origin."""

    cents: int
    what: str
    """The column, with the code of the line it is in: `gross_pay`, `US-FIT amount`; or why no row has it."""

    row: UUID | None = None
    """The paycheck or prior wages that it comes from; None for what follows from the law."""

    payroll_id: UUID | None = None
    day: datetime.date | None = None
    """The pay date; for prior wages the day up to which they were reported."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a box or line, in cents: the sum of its parts, or calculated from other lines by a formula."""

    cents: int
    parts: tuple[Part, ...] = ()
    formula: str | None = None
    ledger_cents: int | None = None
    """The sum of the ledger's lines if the form asks for a product: they may differ by cents, because each payment
    was rounded.
    """

    @property
    def dollars(self) -> Decimal:
        """The amount as it is written: dollars with two decimals."""
        return from_cents(self.cents)


def total(parts: Iterable[Part]) -> Figure:
    """Return the figure that is the sum of these parts; zero parts are left out."""
    kept = tuple(part for part in parts if part.cents)
    return Figure(sum(part.cents for part in kept), kept)


def total_or_blank(parts: Iterable[Part]) -> Figure | None:
    """Return the same sum, or None for a blank box if it is zero."""
    figure = total(parts)
    return figure if figure.cents else None


def product(of: Figure, rate: int, name: str, ledger: Iterable[Part] | None = None) -> Figure:
    """Return a line times a rate in billionths, to the nearest cent, halves up; ``ledger`` is what was charged."""
    charged = None if ledger is None else sum(part.cents for part in ledger)
    return Figure(
        half_up(of.cents * rate, RATE_SCALE), formula=f"{name} × {rate_of(rate):f}", ledger_cents=charged
    )


def derived(cents: int, formula: str) -> Figure:
    """Return a line that follows from other lines."""
    return Figure(cents, formula=formula)


class Remark(NamedTuple):
    """A remark for a document's reader about its figures; with cents if it concerns an amount."""

    code: str
    text: str
    cents: int | None = None
