"""A calculated paycheck: its lines, their totals, and their explanations."""

from decimal import Decimal
from typing import NamedTuple

from hearthpay.taxes.finality import Finality
from hearthpay.taxes.messages import Message, texts
from hearthpay.taxes.money import from_cents, rate_of
from hearthpay.taxes.rulebook import Rulebook
from hearthpay.taxes.state import ReciprocityRule
from hearthpay.taxes.trace import Source, Step
from hearthpay.taxes.vocabulary import Payer


class PaycheckLine(NamedTuple):
    """One tax on one paycheck. Amounts are whole cents; the properties give them in dollars."""

    code: str
    name: str
    payer: Payer
    agency: str
    category: str
    subject_wages_cents: int
    taxable_wages_cents: int
    rate_scaled: int | None
    """The rate in billionths, if the tax has one rate."""

    amount_cents: int

    @property
    def subject_wages(self) -> Decimal:
        """Wages of this paycheck to which the tax applies."""
        return from_cents(self.subject_wages_cents)

    @property
    def taxable_wages(self) -> Decimal:
        """Wages of this paycheck that are taxed after caps and thresholds of the year."""
        return from_cents(self.taxable_wages_cents)

    @property
    def rate(self) -> Decimal | None:
        """The rate, such as ``Decimal('0.062')``; None for income tax by table."""
        return None if self.rate_scaled is None else rate_of(self.rate_scaled)

    @property
    def amount(self) -> Decimal:
        """The tax."""
        return from_cents(self.amount_cents)


class Correction(NamedTuple):
    """What a paycheck charges, or refunds, for earlier wages of the year; it is part of its line. Cents."""

    code: str
    name: str
    payer: Payer
    taxable_wages_cents: int
    amount_cents: int
    carried_cents: int
    """What exceeds the net pay and is carried to the next paycheck."""

    @property
    def amount(self) -> Decimal:
        """The tax; negative if it is refunded."""
        return from_cents(self.amount_cents)

    @property
    def carried(self) -> Decimal:
        """The tax that is carried to the next paycheck."""
        return from_cents(self.carried_cents)


class LineExplanation(NamedTuple):
    """How a line was calculated, and the law behind it."""

    code: str
    steps: tuple[Step, ...]
    sources: tuple[Source, ...]
    confidence: str
    note: str


class Paycheck(NamedTuple):
    """A calculated paycheck: its lines, and totals that are sums of them (cents)."""

    gross_pay_cents: int
    lines: tuple[PaycheckLine, ...]
    employee_taxes_cents: int
    employer_taxes_cents: int
    rulebook: Rulebook
    messages: tuple[Message, ...]
    """Messages about the paycheck, by code."""

    explanations: tuple[LineExplanation, ...]
    reciprocity: ReciprocityRule | None
    provisional: tuple[str, ...] = ()
    """Codes of lines calculated with substitute figures until the year's own are published."""

    unknown: tuple[Finality, ...] = ()
    """Taxes of the pay date's year whose figures aren't known yet: the paycheck must not be paid."""

    corrections: tuple[Correction, ...] = ()
    """The parts of the lines that are for earlier wages of the year, or couldn't be charged yet."""

    @property
    def limitations(self) -> tuple[str, ...]:
        """Messages about the paycheck, in English."""
        return texts(self.messages)

    @property
    def net_pay_cents(self) -> int:
        """Gross pay less the employee's lines."""
        return self.gross_pay_cents - self.employee_taxes_cents

    @property
    def total_cost_cents(self) -> int:
        """Gross pay plus the employer's lines."""
        return self.gross_pay_cents + self.employer_taxes_cents

    @property
    def gross_pay(self) -> Decimal:
        """Regular and supplemental wages."""
        return from_cents(self.gross_pay_cents)

    @property
    def employee_taxes(self) -> Decimal:
        """What is withheld from the employee."""
        return from_cents(self.employee_taxes_cents)

    @property
    def employer_taxes(self) -> Decimal:
        """What the household owes in addition to gross pay."""
        return from_cents(self.employer_taxes_cents)

    @property
    def net_pay(self) -> Decimal:
        """What the employee receives."""
        return from_cents(self.net_pay_cents)

    @property
    def total_cost(self) -> Decimal:
        """What the paycheck costs the household."""
        return from_cents(self.total_cost_cents)
