"""A payroll as it is calculated and as the ledger stores it: plain rows, amounts in whole cents.

Between the tax engine and a response a paycheck has this one shape: it is written from it, and read back as it.
"""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from uuid import UUID

from hearthpay.payroll.kinds import PayrollKind
from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.lifecycle import Transition
from hearthpay.payroll.orders import SalaryShare
from hearthpay.payroll.orders.pay_dates import DepositTiming, PayDates
from hearthpay.taxes.finality import Finality
from hearthpay.taxes.messages import Message
from hearthpay.taxes.paycheck.result import LineExplanation
from hearthpay.wire.metadata import Metadata

if TYPE_CHECKING:
    from hearthpay.payroll.ledger.estimates import Estimate


class Owner(NamedTuple):
    """The owner of a row."""

    organization_id: UUID
    employer_id: UUID
    sandbox: bool


TENANT_TYPES: Final = {"organization_id": "uuid", "employer_id": "uuid", "sandbox": "boolean"}
"""The columns of an owner, with their types."""


class LineRow(NamedTuple):
    """One tax on one paycheck, and its sum over the year so far; in the order of its columns."""

    code: str
    name: str
    payer: str
    agency: str
    category: str
    subject_wages: int
    taxable_wages: int
    rate: Decimal | None
    amount: int
    ytd_amount: int


class Carried(NamedTuple):
    """A tax on earlier wages that a paycheck could not charge, carried forward to the next one."""

    code: str
    name: str
    amount: int


class YearToDate(NamedTuple):
    """The sums of the year for one employee."""

    gross_pay: int = 0
    net_pay: int = 0
    employee_taxes: int = 0
    employer_taxes: int = 0

    def plus(self, other: "YearToDate") -> "YearToDate":
        """Return both together."""
        return YearToDate(*(own + others for own, others in zip(self, other, strict=True)))


class SetAside(NamedTuple):
    """What is set aside from net pay at the employee's request, and the balance including it."""

    amount: int
    source: str
    balance: int


@dataclass(frozen=True, slots=True)
class PaycheckRow:
    """One employee's paycheck. ``ytd`` includes it."""

    employee_id: UUID
    employee_name: str
    payment_method: str
    earnings: Earnings
    gross_pay: int
    employee_taxes: int
    employer_taxes: int
    set_aside: SetAside
    lines: tuple[LineRow, ...]
    ytd: YearToDate
    warnings: tuple[Message, ...]
    residence_state: str
    reciprocity_certificate: str | None
    """The certificate that exempts another state's resident from the work state's income tax."""

    work_state: str
    carried: tuple[Carried, ...] = ()
    left_out: frozenset[str] = frozenset()
    """Names of earnings that the order omitted: shown as a bare 0 when calculated, and not stored."""

    provisional: tuple[str, ...] = ()
    """Codes of its lines with provisional figures, until the year's own are published."""

    salary: SalaryShare | None = None
    """The salary paid, which is all of its regular pay; for a reversing paycheck, what the reversed one paid."""

    explanations: tuple[LineExplanation, ...] = ()
    """How its lines were calculated; only for a preview, and if requested."""

    @property
    def is_refund(self) -> bool:
        """Whether it pays no wages but refunds what was withheld, or reverses such a refund."""
        return not self.gross_pay

    @property
    def net_pay(self) -> int:
        """The amount paid out: gross pay less the employee's taxes and what is set aside."""
        return self.gross_pay - self.employee_taxes - self.set_aside.amount

    @property
    def total_cost(self) -> int:
        """Gross pay and the household's taxes on it."""
        return self.gross_pay + self.employer_taxes


def provisional_lines(paychecks: Iterable[PaycheckRow]) -> tuple[str, ...]:
    """Return the codes of lines with provisional figures in all paychecks together, each once."""
    return tuple(dict.fromkeys(code for paycheck in paychecks for code in paycheck.provisional))


class PayrollTotals(NamedTuple):
    """The sums of a payroll."""

    gross_pay: int
    total_deductions: int
    net_pay: int
    employer_taxes: int
    total_cost: int


@dataclass(frozen=True, slots=True)
class PayrollRecord:
    """A payroll: its dates, its paychecks and the rulebook they were calculated under."""

    employer_id: UUID
    dates: PayDates
    pay_frequency: str
    paychecks: tuple[PaycheckRow, ...]
    rulebook_version: str
    tax_year: int
    notes: str | None
    kind: PayrollKind = "regular"
    unknown: tuple[Finality, ...] = ()
    """What the year charges by figures that aren't known yet: such a payroll can't be paid."""

    @property
    def provisional(self) -> tuple[str, ...]:
        """Codes of lines with provisional figures, until the year's own are published."""
        return provisional_lines(self.paychecks)

    @property
    def totals(self) -> PayrollTotals:
        """All sums together."""
        return PayrollTotals(
            self.gross_pay, self.total_deductions, self.net_pay, self.employer_taxes, self.total_cost
        )

    @property
    def gross_pay(self) -> int:
        """Sum of gross pay."""
        return sum(paycheck.gross_pay for paycheck in self.paychecks)

    @property
    def net_pay(self) -> int:
        """Sum of net pay."""
        return sum(paycheck.net_pay for paycheck in self.paychecks)

    @property
    def total_deductions(self) -> int:
        """Everything between gross and net."""
        return self.gross_pay - self.net_pay

    @property
    def employer_taxes(self) -> int:
        """Sum of the household's taxes."""
        return sum(paycheck.employer_taxes for paycheck in self.paychecks)

    @property
    def total_cost(self) -> int:
        """The sum of the paychecks' total costs."""
        return self.gross_pay + self.employer_taxes

    @property
    def through_the_bank(self) -> tuple[PaycheckRow, ...]:
        """The paychecks whose money goes through the bank; none for a payroll that records past pay."""
        if self.kind == "catch_up":
            return ()
        return tuple(paycheck for paycheck in self.paychecks if paycheck.payment_method == "direct_deposit")


@dataclass(frozen=True, slots=True)
class Preview:
    """A payroll as a run would make it, and the flags that its approval needs."""

    record: PayrollRecord
    confirmations: tuple[str, ...]
    dated_ahead: bool = False
    """Neither a payment method nor a pay date was given: dated as for direct deposit."""

    by_deposit: DepositTiming | None = None
    """The pay date that direct deposit would have, if no method was given and nothing goes through the bank."""

    token: str | None = None
    """What a run sends so that it must match this preview."""

    metadata: Metadata = field(default_factory=dict)
    """What the run would keep."""

    @property
    def send_at(self) -> datetime.datetime | None:
        """When a run would be sent, of one that would be scheduled."""
        return self.record.dates.send_at if self.by_deposit is None else self.by_deposit.send_at


RemedyAction = Literal["pay_by_check", "wait_for_account", "refund"]
Action = Literal["void", "authorize_debit"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about a direct deposit that couldn't be sent, by whom and when."""

    action: RemedyAction
    until: datetime.date | None
    decided_by: str
    decided_at: datetime.datetime


@dataclass(frozen=True, slots=True)
class Deposit:
    """What can be done about an unsent direct deposit, and the latest decision."""

    remedies: tuple[RemedyAction, ...]
    decided: Decision | None


@dataclass(frozen=True, slots=True)
class AvailableActions:
    """What can be done about a payroll, and about its direct deposits by employee."""

    actions: tuple[Action, ...] = ()
    deposits: Mapping[UUID, Deposit] = field(default_factory=dict)


NO_WAYS_OUT: Final = AvailableActions()


@dataclass(frozen=True, slots=True)
class StoredPayroll:
    """A payroll in the database, as the API shows it; amounts of ``totals`` in cents."""

    id: UUID
    employer_id: UUID
    status: str
    dates: PayDates
    pay_frequency: str
    notes: str | None
    rulebook_version: str
    tax_year: int
    totals: PayrollTotals
    created_at: datetime.datetime
    kind: PayrollKind = "regular"
    paychecks: tuple[PaycheckRow, ...] = ()
    """The final calculation; empty while a payroll waits."""

    estimate: "Estimate | None" = None
    """What a scheduled payroll was expected to be when it was approved."""

    history: tuple[Transition, ...] = ()
    failure: Mapping[str, Any] | None = None
    direct_deposit: bool = False
    """Whether some of it is paid through the bank."""

    handed_over_at: datetime.datetime | None = None
    """When somebody marked its checks or cash as handed over."""

    metadata: Metadata = field(default_factory=dict)
    """What the client keeps with it."""

    available_actions: AvailableActions = NO_WAYS_OUT

    @property
    def expected(self) -> "Estimate | None":
        """The estimate, as long as nothing was calculated for good; its amounts are the payroll's then."""
        return None if self.paychecks else self.estimate
