"""The record of how a line was calculated, kept only if an explanation is requested."""

from decimal import Decimal
from typing import NamedTuple

from hearthpay.taxes.money import from_cents, rate_of


class Source(NamedTuple):
    """Where a figure of law is published."""

    title: str
    url: str
    date: str


class Step(NamedTuple):
    """One step of a calculation: what it is, and the figure it uses or produces."""

    label: str
    value: Decimal | str


class Trace:
    """Collects the steps of one line in order."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def cents(self, label: str, cents: int) -> None:
        """Record an amount given in whole cents."""
        self.steps.append(Step(label, from_cents(cents)))

    def rate(self, label: str, rate: int) -> None:
        """Record a rate given in billionths."""
        self.steps.append(Step(label, rate_of(rate)))

    def text(self, label: str, value: object) -> None:
        """Record anything else: a count, a status, a rule."""
        self.steps.append(Step(label, str(value)))
