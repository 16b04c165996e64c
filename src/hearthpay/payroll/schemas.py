"""API schemas for previews and payrolls."""

import datetime
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import Field, WithJsonSchema

from hearthpay.calculator.schemas import Reciprocity, RulebookName
from hearthpay.database.audit import ActorKind
from hearthpay.employees.commands import PayFrequency, PaymentMethod
from hearthpay.employees.salaries import SalaryPer
from hearthpay.payroll.commands import (
    Confirmations,
    EmployeePay,
    Order,
    PayrollQuery,
    RoundedHours,
    SetAsideChoice,
)
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.payroll.issues.payment_status import PaymentStatus, RefundStatus
from hearthpay.payroll.ledger.preview_tokens import LONGEST, SHAPE
from hearthpay.payroll.ledger.rows import Action, RemedyAction
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.wire.fields import Day, Identifier, RequestModel, Text
from hearthpay.wire.messages import MessageItem
from hearthpay.wire.money import Amount, Dollars, Money, Rate
from hearthpay.wire.paging import Page

Confirmation = Literal["confirm_large_payroll", "confirm_ach_debit"]
Hours = Annotated[Decimal, Amount(maximum=Decimal(744), places=3, finer=True)]
UnpaidDays = Annotated[Decimal, Amount(maximum=Decimal(62))]
HoursPaid = Annotated[
    Decimal, WithJsonSchema({"type": "number", "description": "Hours, at most three decimals."})
]

_THOUSANDTH: Final = Decimal("0.001")

Days = Annotated[Decimal, WithJsonSchema({"type": "number", "description": "Days, at most two decimals."})]


class SetAsideRequest(RequestModel):
    """What the employee asks to have set aside from this paycheck."""

    skip: bool = False
    amount: Annotated[Decimal, Amount(maximum=Decimal(9_999))] | None = None

    def to_command(self) -> SetAsideChoice:
        """Return the invitation in plain values."""
        return SetAsideChoice(self.skip, self.amount)


class PayrollEmployee(RequestModel):
    """One employee's pay of the period. Hours, and a salary, are paid once; without, it may be added to another."""

    employee_id: Identifier
    regular_hours: Hours = Field(
        default=Decimal(0),
        description="Of a salaried employee they are not paid, but compared with the minimum wage and overtime, and "
        "shown on the pay stub.",
    )
    overtime_hours: Hours = Field(
        default=Decimal(0),
        description="Paid at `overtime_rate`, to a salaried employee on top of the salary, which covers no overtime.",
    )
    bonus: Money = Decimal(0)
    other_earnings: Money = Decimal(0)
    unpaid_days: UnpaidDays = Field(
        default=Decimal(0),
        description="Working days of the period for which a salary is not paid, such as 2 or 0.5. The days before the "
        "employment and after it are left out by themselves.",
    )
    pay_salary: bool = Field(
        default=True,
        description="Whether a salaried employee gets the period's share of the salary. `false` pays only what is "
        "given besides, such as a bonus beside the payroll that paid the salary.",
    )
    payment_method: PaymentMethod | None = Field(
        default=None,
        description="Default: the employee's own setting, which is `check` unless it was changed. A preview in which "
        "no entry names one, and without `pay_date`, is dated as direct deposit would be.",
    )
    voluntary_set_aside: SetAsideRequest | None = None

    def to_command(self) -> EmployeePay:
        """Return the invitation in plain values."""
        wish = self.voluntary_set_aside
        regular_hours, overtime_hours = (
            _thousandths(hours) for hours in (self.regular_hours, self.overtime_hours)
        )
        rounded = (
            RoundedHours("regular_hours", self.regular_hours, regular_hours),
            RoundedHours("overtime_hours", self.overtime_hours, overtime_hours),
        )
        return EmployeePay(
            employee_id=self.employee_id,
            regular_hours=regular_hours,
            overtime_hours=overtime_hours,
            bonus=self.bonus,
            other_earnings=self.other_earnings,
            unpaid_days=self.unpaid_days,
            pay_salary=self.pay_salary,
            payment_method=self.payment_method,
            voluntary_set_aside=None if wish is None else wish.to_command(),
            rounded=tuple(each for each in rounded if each.asked != each.paid),
        )


def _thousandths(hours: Decimal) -> Decimal:
    return hours.quantize(_THOUSANDTH, ROUND_HALF_EVEN)


class PayrollRequest(RequestModel):
    """A payroll to preview or to run."""

    employer_id: Identifier | None = Field(
        default=None, description="Default: the household the key remembers."
    )
    pay_period_start: Day
    pay_period_end: Day
    pay_date: Day | None = Field(
        default=None,
        description="Default: by direct deposit, and in a preview that names no `payment_method`, the earliest day "
        "the money can arrive (where the preview's period begins after it, the day that a run would take); of a "
        "catch-up the period end; else today in Eastern time, or the period end if that is later. A direct deposit's "
        "day on which banks are closed becomes the business day before it: the wages belong to the year in which they "
        "arrive.",
    )
    pay_frequency: PayFrequency
    employees: list[PayrollEmployee] = Field(
        min_length=1, max_length=100, description="Who is paid, each once."
    )
    default_payment_method: PaymentMethod | None = Field(
        default=None,
        description="The method of entries that name none, in place of the employee's own setting. It does not count "
        "as naming one.",
    )
    notes: Annotated[str, Text(longest=500, lines=True)] | None = Field(
        default=None,
        description="`catch-up` records past pay: completed at once, no money moves. "
        "`fica-refund` repays Social Security and Medicare of the pay period's year, by check or cash, to employees "
        "whose wages of the year stay below the threshold; hours and earnings must be 0.",
    )
    confirm_large_payroll: bool = Field(
        default=False,
        description="Needed when direct deposits total more than 5,000, or one to more than 3,000.",
    )
    confirm_ach_debit: bool = Field(
        default=False,
        description="Authorizes the bank debit; needed the first time and when the last was over 30 days ago.",
    )
    preview_token: str | None = Field(
        default=None,
        pattern=SHAPE,
        max_length=LONGEST,
        description="That of a preview: the run is refused with `amounts_changed` where any amount would be another "
        "than was shown. A preview ignores it.",
    )
    off_cycle: bool | None = Field(
        default=None, deprecated=True, description="Retired; accepted and ignored."
    )

    def to_order(self) -> Order:
        """Return what is asked for, in plain values."""
        return Order(
            employer_id=self.employer_id,
            pay_period_start=self.pay_period_start,
            pay_period_end=self.pay_period_end,
            pay_date=self.pay_date,
            pay_frequency=self.pay_frequency,
            employees=tuple(each.to_command() for each in self.employees),
            notes=self.notes,
            default_payment_method=self.default_payment_method,
        )

    def to_confirmations(self) -> Confirmations:
        """Return what is confirmed, in plain values."""
        return Confirmations(
            confirm_large_payroll=self.confirm_large_payroll, confirm_ach_debit=self.confirm_ach_debit
        )


class VoidRequest(RequestModel):
    """Why a payroll is voided."""

    reason: Annotated[str, Text(longest=200)] | None = Field(
        default=None, description="Saved in the payroll's history."
    )


class HandOverRequest(RequestModel):
    """That checks or cash were handed over."""

    note: Annotated[str, Text(longest=200)] | None = Field(
        default=None, description="Saved in the household's history with the first mark."
    )


@dataclass(frozen=True, slots=True)
class HandedOver:
    """That the checks or the cash of a payroll were handed over; `status` and the pay date stay as they are."""

    payroll_id: UUID
    employer_id: UUID
    status: PayrollStatus
    pay_date: datetime.date
    handed_over_at: datetime.datetime
    """When it was first marked."""


class RemedyRequest(RequestModel):
    """What to do about a direct deposit that is on hold."""

    action: RemedyAction = Field(
        description="`pay_by_check`: you pay the net pay yourself and get it back; `wait_for_account`: it is kept for "
        "the employee's next account until a day, and is refunded then; `refund`: the paycheck is undone, and what was "
        "collected for it goes back to you."
    )
    until: Day | None = Field(
        default=None,
        description="With `wait_for_account`: the last day to wait, at most 30 days from today and within the year.",
    )


class PayrollsQuery(Page):
    """Which payrolls to list."""

    employer_id: Identifier | None = None
    employee_id: Identifier | None = None
    status: PayrollStatus | None = None
    from_: Day | None = Field(default=None, alias="from", description="Pay dates from this day on.")
    to: Day | None = Field(default=None, description="Pay dates up to this day.")

    def to_command(self) -> PayrollQuery:
        """Return the invitation in plain values."""
        return PayrollQuery(
            employer_id=self.employer_id,
            employee_id=self.employee_id,
            status=self.status,
            since=self.from_,
            until=self.to,
            cursor=self.cursor,
            limit=self.limit,
        )


@dataclass(frozen=True, slots=True)
class PayPeriod:
    """The pay period and its pay date."""

    start: datetime.date
    end: datetime.date
    pay_date: datetime.date
    frequency: PayFrequency


@dataclass(frozen=True, slots=True)
class SalaryShareItem:
    """How a period's share of a salary was found."""

    amount: Dollars
    per: SalaryPer
    full_period_pay: Dollars
    """What a full period pays: weekly 1/52, biweekly 1/26, semimonthly 1/24, monthly 1/12 of a year's salary."""

    pay: Dollars
    """What this period pays: `full_period_pay` by `paid_days` of `working_days`."""

    prorated: bool
    working_days: int
    """The working days of a full period."""

    paid_days: Days
    unpaid_days: Days
    regular_rate: Dollars
    """Dollars an hour, of which overtime is at least one and a half times."""


@dataclass(frozen=True, slots=True)
class EarningsItem:
    """The parts of gross pay. Of a salaried employee `regular_pay` is the salary."""

    regular_hours: HoursPaid
    regular_pay: Dollars
    overtime_hours: HoursPaid
    overtime_pay: Dollars
    bonus: Dollars
    other_earnings: Dollars
    salary: SalaryShareItem | None = None
    """Absent where no salary is paid."""


@dataclass(frozen=True, slots=True)
class EmployeeTaxes:
    """What is withheld from this paycheck."""

    federal_income_tax: Dollars
    social_security: Dollars
    medicare: Dollars
    state_income_tax: Dollars
    other: Dollars
    total: Dollars


@dataclass(frozen=True, slots=True)
class EmployerTaxes:
    """What the household owes on this paycheck."""

    social_security: Dollars
    medicare: Dollars
    futa: Dollars
    state_unemployment: Dollars
    other: Dollars
    total: Dollars


@dataclass(frozen=True, slots=True)
class LineItem:
    """One tax on one paycheck."""

    code: str
    name: str
    payer: Literal["employee", "employer"]
    taxable_wages: Dollars
    rate: Rate | None
    amount: Dollars
    ytd_amount: Dollars


@dataclass(frozen=True, slots=True)
class CarriedItem:
    """A tax of earlier wages that net pay did not reach for; the next paycheck charges it."""

    code: str
    name: str
    amount: Dollars


@dataclass(frozen=True, slots=True)
class SetAsideItem:
    """What is set aside from this paycheck, and the balance after it."""

    amount: Dollars
    source: Literal["rule", "override", "skipped", "none"]
    balance: Dollars


@dataclass(frozen=True, slots=True)
class YearToDateItem:
    """Sums of the person's year, this paycheck included; of several records of one person, all of them."""

    gross_pay: Dollars
    net_pay: Dollars
    employee_taxes: Dollars
    employer_taxes: Dollars


@dataclass(frozen=True, slots=True)
class RemedyItem:
    """What was decided about a direct deposit that could not leave."""

    action: RemedyAction
    until: datetime.date | None
    """The last day to connect another account; then the deposit goes back to the household."""

    decided_by: ActorKind
    decided_at: datetime.datetime


@dataclass(frozen=True, slots=True)
class PaycheckItem:
    """One employee's paycheck."""

    employee_id: UUID
    name: str
    payment_method: PaymentMethod
    earnings: EarningsItem
    gross_pay: Dollars
    employee_taxes: EmployeeTaxes
    employer_taxes: EmployerTaxes
    lines: list[LineItem]
    voluntary_set_aside: SetAsideItem
    net_pay: Dollars
    total_cost: Dollars
    ytd: YearToDateItem
    warnings: list[str]
    warning_codes: list[MessageItem]
    """The warnings again, in the same order, by code: for programs."""

    carried: list[CarriedItem] = field(default_factory=list)
    """What is still owed for earlier wages of the year; absent where nothing is."""

    reciprocity: Reciprocity | None = None
    remedies: list[RemedyAction] = field(default_factory=list)
    """What can be done about the direct deposit while it has not left; absent where nothing can, or need be."""

    remedy: RemedyItem | None = None
    """What was decided about it last; absent where nothing was."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the paychecks."""

    gross_pay: Dollars
    total_deductions: Dollars
    total_net_pay: Dollars
    total_employer_taxes: Dollars
    total_cost: Dollars


@dataclass(frozen=True, slots=True)
class PayrollPreview:
    """What a run would do."""

    preview: bool
    employer_id: UUID
    next_step: str
    pay_date_defaulted: bool
    pay_period: PayPeriod
    employees: list[PaycheckItem]
    totals: Totals
    rulebook: RulebookName
    confirmations_required: list[Confirmation] = field(default_factory=list)
    """The flags that a run of this payroll must carry; absent where it needs none."""

    preview_token: str | None = None
    """Send it with the run, within half an hour: it is refused with `amounts_changed` where any amount would be
    another."""

    scheduled_send_at: datetime.datetime | None = None
    """When the money would be sent; only where the payroll would be scheduled by direct deposit."""

    next_valid_pay_date: datetime.date | None = None
    """The earliest day on which direct deposit could pay it; only where no `payment_method` is named and `pay_date` is
    earlier. A run by check or cash takes that day; `warnings` say so."""

    is_estimated: bool = False
    provisional: list[str] = field(default_factory=list)
    """Codes of lines whose figures of the year aren't published yet: the figures in force are used until they are."""


@dataclass(frozen=True, slots=True)
class PayrollResult:
    """A payroll that was run."""

    payroll_id: UUID
    id: UUID
    """The same as `payroll_id`."""

    employer_id: UUID
    status: PayrollStatus
    pay_date_defaulted: bool
    pay_period: PayPeriod
    employees: list[PaycheckItem]
    totals: Totals
    rulebook: RulebookName
    provisional: list[str] = field(default_factory=list)
    """Codes of lines by figures that were in force before the year's own were published."""

    scheduled_send_at: datetime.datetime | None = None
    """When the money will be sent and the amounts calculated again; only while the payroll is scheduled."""

    is_estimated: bool = False


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A status, since when, and who or what caused it."""

    status: PayrollStatus
    at: datetime.datetime
    actor: ActorKind
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RefundItem:
    """What was collected for a paycheck and goes back to the household; `code` is the bank's, where it came back."""

    amount: Dollars
    status: RefundStatus
    code: str | None


@dataclass(frozen=True, slots=True)
class OutcomeItem:
    """Why a paycheck's money did not simply arrive."""

    code: str | None
    reason: str
    refund: RefundItem | None


@dataclass(frozen=True, slots=True)
class PaidPaycheckItem(PaycheckItem):
    """A paycheck, and what has become of its money."""

    status: PaymentStatus = "paid"
    outcome: OutcomeItem | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """What is in the payroll's way or has ended it, and what the household can do now.

    `code` is the bank's (R01) or one of ours; `reason` says it in a few words, `message` in a sentence.
    """

    kind: FailureKind
    code: str
    reason: str
    message: str
    what_to_do: str
    next_try: datetime.datetime | None
    """When it is tried again; null where it is not."""

    until: datetime.datetime | None
    """When it is tried for the last time, as far as that is known."""

    employees: list[UUID] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PaystubWanted:
    """The body to send for a pay stub."""

    payroll_id: UUID
    employee_id: UUID


@dataclass(frozen=True, slots=True)
class PayrollDocument:
    """A paper of a payroll, and the request that answers it."""

    kind: Literal["paystub"]
    employee_id: UUID
    method: Literal["POST"]
    path: Literal["/api/v1/documents/paystub"]
    body: PaystubWanted


@dataclass(frozen=True, slots=True)
class PayrollDetail:
    """A payroll as it was run, its history and its documents."""

    payroll_id: UUID
    id: UUID
    """The same as `payroll_id`."""

    employer_id: UUID
    status: PayrollStatus
    pay_date_defaulted: bool
    pay_period: PayPeriod
    employees: list[PaidPaycheckItem]
    totals: Totals
    rulebook: RulebookName
    notes: str | None
    status_history: list[StatusChange]
    documents: list[PayrollDocument]
    """How its pay stubs are asked for; none while it is under way."""

    actions: list[Action]
    """What can be done about the payroll now: `void` it, or `authorize_debit` if it needs that."""

    created_at: datetime.datetime
    scheduled_send_at: datetime.datetime | None = None
    is_estimated: bool = False
    estimated_totals: Totals | None = None
    """The totals that were expected when the payroll was scheduled; the amounts above are final."""

    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class PayrollSummary:
    """A payroll as a list shows one."""

    payroll_id: UUID
    id: UUID
    """The same as `payroll_id`."""

    employer_id: UUID
    status: PayrollStatus
    pay_period: PayPeriod
    totals: Totals
    employee_count: int
    created_at: datetime.datetime
