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
from hearthpay.wire.answer_fields import (
    CreatedAt,
    EmployeeIdentifier,
    HouseholdIdentifier,
    LineCode,
    LineName,
    LinePayer,
    PayrollIdentifier,
    Warnings,
)
from hearthpay.wire.fields import Day, Identifier, RequestModel, Text
from hearthpay.wire.messages import MessageItem
from hearthpay.wire.metadata import (
    ON_CREATION,
    ON_LISTS,
    MetadataFilterField,
    MetadataItem,
    NewMetadataField,
    merged,
)
from hearthpay.wire.money import Amount, Dollars, Money, Rate
from hearthpay.wire.paging import Page

Confirmation = Literal["confirm_large_payroll", "confirm_ach_debit"]
Hours = Annotated[Decimal, Amount(maximum=Decimal(744), places=3, finer=True)]
UnpaidDays = Annotated[Decimal, Amount(maximum=Decimal(62))]
HoursPaid = Annotated[
    Decimal, WithJsonSchema({"type": "number", "description": "Hours, at most three decimals."})
]

_THOUSANDTH: Final = Decimal("0.001")

StatusOfPayroll = Annotated[
    PayrollStatus,
    Field(
        description="`scheduled`: sent later. `firing`: being sent. `pending_funding`: the household's account is "
        "debited, and the debit isn't settled. `processing`: the money is held, and deposits are on their way. "
        "`completed`: paid. `voided`: undone by the household. `failed`: ended by the bank or given up. `draft`: not "
        "approved, in the app only."
    ),
]
PayDateDefaulted = Annotated[
    bool, Field(description="Whether the request left `pay_date` out, and the one shown was chosen.")
]

Days = Annotated[Decimal, WithJsonSchema({"type": "number", "description": "Days, at most two decimals."})]


class SetAsideRequest(RequestModel):
    """What the employee asks to have set aside from this paycheck."""

    skip: bool = False
    """`true`: nothing is set aside from this paycheck, whatever the employee's rule says."""

    amount: Annotated[Decimal, Amount(maximum=Decimal(9_999))] | None = None
    """Dollars to set aside from this paycheck in place of the employee's rule, 0 to 9,999; left out, the rule
    applies."""

    def to_command(self) -> SetAsideChoice:
        """Return the invitation in plain values."""
        return SetAsideChoice(self.skip, self.amount)


class PayrollEmployee(RequestModel):
    """One employee's pay of the period. Hours, and a salary, are paid once; without, it may be added to another."""

    employee_id: Identifier
    """Whom to pay; each employee once."""

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
    """Gross dollars of a bonus: supplemental wages for income tax."""

    other_earnings: Money = Decimal(0)
    """Further gross dollars, taxed as regular wages."""

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
    """A change of the employee's savings on this paycheck; left out, the employee's rule applies."""

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
    """First day of the pay period."""

    pay_period_end: Day
    """Last day of the pay period, on or after the first."""

    pay_date: Day | None = Field(
        default=None,
        description="Default: by direct deposit, and in a preview that names no `payment_method`, the earliest day "
        "the money can arrive (where the preview's period begins after it, the day that a run would take); of a "
        "catch-up the period end; else today in Eastern time, or the period end if that is later. A direct deposit's "
        "day on which banks are closed becomes the business day before it: the wages belong to the year in which they "
        "arrive.",
    )
    pay_frequency: PayFrequency
    """How often these employees are paid; decides the tables for income tax."""

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
        "than was shown, or where another payroll was run with it. A preview ignores it.",
    )
    metadata: NewMetadataField = Field(
        default_factory=dict,
        description=f"{ON_CREATION} A payroll keeps it as it was run, and a preview's token doesn't bind it.",
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
            metadata=merged({}, self.metadata),
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

    payroll_id: PayrollIdentifier
    employer_id: HouseholdIdentifier
    status: StatusOfPayroll
    pay_date: datetime.date
    """The payroll's pay date."""

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

    employer_id: Identifier | None = Field(
        default=None,
        description="The household; left out, the one that the key remembers, or all if it remembers none.",
    )
    employee_id: Identifier | None = Field(default=None, description="Only payrolls that pay this employee.")
    status: PayrollStatus | None = Field(default=None, description="Only payrolls in this status.")
    from_: Day | None = Field(default=None, alias="from", description="Pay dates from this day on.")
    to: Day | None = Field(default=None, description="Pay dates up to this day.")
    metadata: MetadataFilterField = Field(default_factory=dict, description=ON_LISTS)

    def to_command(self) -> PayrollQuery:
        """Return the invitation in plain values."""
        return PayrollQuery(
            employer_id=self.employer_id,
            employee_id=self.employee_id,
            status=self.status,
            since=self.from_,
            until=self.to,
            metadata=self.metadata,
            cursor=self.cursor,
            limit=self.limit,
        )


@dataclass(frozen=True, slots=True)
class PayPeriod:
    """First and last day worked, and the day paid."""

    start: datetime.date
    """First day of the pay period."""

    end: datetime.date
    """Last day of the pay period."""

    pay_date: datetime.date
    """The day on which the wages are paid; it decides year, rules and deadlines."""

    frequency: PayFrequency
    """How often these employees are paid."""


@dataclass(frozen=True, slots=True)
class SalaryShareItem:
    """How a period's share of a salary was found."""

    amount: Dollars
    """The agreed salary for each `per`."""

    per: SalaryPer
    """`year` or `period`."""

    full_period_pay: Dollars
    """What a full period pays: weekly 1/52, biweekly 1/26, semimonthly 1/24, monthly 1/12 of a year's salary."""

    pay: Dollars
    """What this period pays: `full_period_pay` by `paid_days` of `working_days`."""

    prorated: bool
    """Whether less than the full period was paid."""

    working_days: int
    """The working days of a full period."""

    paid_days: Days
    """Working days of the period that were paid."""

    unpaid_days: Days
    """Working days left out by `unpaid_days` of the request."""

    regular_rate: Dollars
    """Dollars an hour, of which overtime is at least one and a half times."""


@dataclass(frozen=True, slots=True)
class EarningsItem:
    """The parts of gross pay. Of a salaried employee `regular_pay` is the salary."""

    regular_hours: HoursPaid
    """Hours of the request that are paid at the regular rate, rounded to a thousandth."""

    regular_pay: Dollars
    """Pay for them, or the period's share of the salary."""

    overtime_hours: HoursPaid
    """Hours of the request that are paid at the overtime rate, rounded to a thousandth."""

    overtime_pay: Dollars
    """`overtime_hours` at the employee's overtime rate."""

    bonus: Dollars
    """As in the request: supplemental wages for income tax."""

    other_earnings: Dollars
    """As in the request: taxed like regular pay."""

    salary: SalaryShareItem | None = None
    """Absent where no salary is paid."""


@dataclass(frozen=True, slots=True)
class EmployeeTaxes:
    """What is withheld from this paycheck."""

    federal_income_tax: Dollars
    """Withheld by Form W-4; 0 if household and employee agreed on none."""

    social_security: Dollars
    """The employee's share of Social Security."""

    medicare: Dollars
    """The employee's share of Medicare."""

    state_income_tax: Dollars
    """Withheld by the state's certificate; 0 in states without one."""

    other: Dollars
    """All further employee taxes, such as disability insurance or local tax; `lines` has each."""

    total: Dollars
    """All employee taxes of this paycheck."""


@dataclass(frozen=True, slots=True)
class EmployerTaxes:
    """What the household owes on this paycheck."""

    social_security: Dollars
    """The employer's share of Social Security."""

    medicare: Dollars
    """The employer's share of Medicare."""

    futa: Dollars
    """Federal unemployment tax (FUTA)."""

    state_unemployment: Dollars
    """Unemployment insurance of the work state, at the household's rate."""

    other: Dollars
    """All further employer taxes, such as training or paid leave; `lines` has each."""

    total: Dollars
    """All employer taxes of this paycheck."""


@dataclass(frozen=True, slots=True)
class LineItem:
    """One tax on one paycheck."""

    code: LineCode
    name: LineName
    payer: LinePayer
    taxable_wages: Dollars
    """The part of the paycheck's wages that the tax was charged on."""

    rate: Rate | None
    """Null for taxes by a table, such as income tax."""

    amount: Dollars
    """The tax on this paycheck; below zero if it refunds what earlier paychecks charged too much."""

    ytd_amount: Dollars
    """The tax of the year so far, this paycheck included."""


@dataclass(frozen=True, slots=True)
class CarriedItem:
    """A tax of earlier wages that net pay did not reach for; the next paycheck charges it."""

    code: LineCode
    name: LineName
    amount: Dollars
    """What is still owed."""


@dataclass(frozen=True, slots=True)
class SetAsideItem:
    """What is set aside from this paycheck, and the balance after it."""

    amount: Dollars
    """What is set aside from this paycheck."""

    source: Literal["rule", "override", "skipped", "none"]
    """Where the amount comes from: the employee's `rule`, the request (`override`, `skipped`), or `none` of them."""

    balance: Dollars
    """The employee's savings after this paycheck."""


@dataclass(frozen=True, slots=True)
class YearToDateItem:
    """Sums of the person's year, this paycheck included; of several records of one person, all of them."""

    gross_pay: Dollars
    """Gross pay of the year so far."""

    net_pay: Dollars
    """Net pay of the year so far."""

    employee_taxes: Dollars
    """Taxes withheld in the year so far."""

    employer_taxes: Dollars
    """The household's taxes of the year so far."""


@dataclass(frozen=True, slots=True)
class RemedyItem:
    """What was decided about a direct deposit that could not leave."""

    action: RemedyAction
    """What the household decided."""

    until: datetime.date | None
    """The last day to connect another account; then the deposit goes back to the household."""

    decided_by: ActorKind
    """What kind of actor decided, such as a `user` or a `key`."""

    decided_at: datetime.datetime
    """When it was decided, in UTC."""


@dataclass(frozen=True, slots=True)
class PaycheckItem:
    """One employee's paycheck."""

    employee_id: EmployeeIdentifier
    name: str
    """The employee's first and last name."""

    payment_method: PaymentMethod
    """How the employee is paid with this paycheck."""

    earnings: EarningsItem
    """The parts of gross pay."""

    gross_pay: Dollars
    """Wages before any tax."""

    employee_taxes: EmployeeTaxes
    """What is withheld from gross pay, by kind."""

    employer_taxes: EmployerTaxes
    """What the household owes in addition to gross pay, by kind."""

    lines: list[LineItem]
    """Each tax; the sums above are made of them."""

    voluntary_set_aside: SetAsideItem
    """The employee's savings with this paycheck."""

    net_pay: Dollars
    """What the employee gets: gross pay less taxes and what is set aside."""

    total_cost: Dollars
    """Gross pay plus employer taxes: what the paycheck costs the household."""

    ytd: YearToDateItem
    """Sums of the year so far."""

    warnings: Warnings
    warning_codes: list[MessageItem]
    """The warnings again, in the same order, by code: for programs."""

    carried: list[CarriedItem] = field(default_factory=list)
    """What is still owed for earlier wages of the year; absent where nothing is."""

    reciprocity: Reciprocity | None = None
    """The agreement between the state of work and the state of residence; absent if there is none."""

    remedies: list[RemedyAction] = field(default_factory=list)
    """What can be done about the direct deposit while it has not left; absent where nothing can, or need be."""

    remedy: RemedyItem | None = None
    """What was decided about it last; absent where nothing was."""


ListedPaychecks = Annotated[list[PaycheckItem], Field(description="One paycheck for each employee.")]


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the paychecks."""

    gross_pay: Dollars
    """Gross pay of all employees."""

    total_deductions: Dollars
    """Everything between gross and net pay: taxes withheld and what is set aside."""

    total_net_pay: Dollars
    """Net pay of all employees."""

    total_employer_taxes: Dollars
    """The household's taxes on all paychecks."""

    total_cost: Dollars
    """What the payroll costs the household: gross pay plus employer taxes."""


@dataclass(frozen=True, slots=True)
class PayrollPreview:
    """What a run would do."""

    preview: bool
    """Always `true`: nothing was created."""

    employer_id: HouseholdIdentifier
    next_step: str
    """How to run this payroll, in English."""

    pay_date_defaulted: PayDateDefaulted
    pay_period: PayPeriod
    """The pay period, and the pay date that a run would have."""

    employees: ListedPaychecks
    totals: Totals
    """Sums over the paychecks."""

    rulebook: RulebookName
    """The rules that were used."""

    metadata: MetadataItem
    confirmations_required: list[Confirmation] = field(default_factory=list)
    """The flags that a run of this payroll must carry; absent where it needs none."""

    preview_token: str | None = None
    """Send it with the run, within half an hour: it is refused with `amounts_changed` where any amount would be
    another. It is good for one payroll."""

    scheduled_send_at: datetime.datetime | None = None
    """When the money would be sent; only where the payroll would be scheduled by direct deposit."""

    next_valid_pay_date: datetime.date | None = None
    """The earliest day on which direct deposit could pay it; only where no `payment_method` is named and `pay_date` is
    earlier. A run by check or cash takes that day; `warnings` say so."""

    is_estimated: bool = False
    """Whether a run would be scheduled, and the amounts calculated again when it is sent."""

    provisional: list[str] = field(default_factory=list)
    """Codes of lines whose figures of the year aren't published yet: the figures in force are used until they are."""


@dataclass(frozen=True, slots=True)
class PayrollResult:
    """A payroll that was run."""

    payroll_id: PayrollIdentifier
    id: UUID
    """Identifies the payroll, with the same value as `payroll_id`."""

    employer_id: HouseholdIdentifier
    status: StatusOfPayroll
    pay_date_defaulted: PayDateDefaulted
    pay_period: PayPeriod
    """First and last day worked, and the day paid."""

    employees: ListedPaychecks
    totals: Totals
    """Sums over the paychecks."""

    rulebook: RulebookName
    """The rules that were used."""

    metadata: MetadataItem
    provisional: list[str] = field(default_factory=list)
    """Codes of lines by figures that were in force before the year's own were published."""

    scheduled_send_at: datetime.datetime | None = None
    """When the money will be sent and the amounts calculated again; only while the payroll is scheduled."""

    is_estimated: bool = False
    """Whether the payroll is scheduled, and the amounts are calculated again when it is sent."""


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A status, since when, and who or what caused it."""

    status: StatusOfPayroll
    at: datetime.datetime
    """Since when, in UTC."""

    actor: ActorKind
    """What kind of actor caused it: a person (`user`), an API `key`, an AI assistant (`mcp`), the `operator`, or
    Hearthpay itself (`system`)."""

    reason: str | None = None
    """The reason that was given; null or absent if none was."""


@dataclass(frozen=True, slots=True)
class RefundItem:
    """What was collected for a paycheck and goes back to the household; `code` is the bank's, where it came back."""

    amount: Dollars
    """What goes back to the household."""

    status: RefundStatus
    """`waiting` for its bank file, `held` if it can't be sent, `sent`, `paid` once it has arrived, `returned` if the
    bank sent it back."""

    code: str | None
    """The bank's reason for returning it, such as `R03`; null if it wasn't returned."""


@dataclass(frozen=True, slots=True)
class OutcomeItem:
    """Why a paycheck's money did not simply arrive."""

    code: str | None
    """The bank's code, such as `R03`, or one of ours; null if there is none."""

    reason: str
    """The same in a few words, in English."""

    refund: RefundItem | None
    """What goes back to the household; null if nothing does."""


@dataclass(frozen=True, slots=True)
class PaidPaycheckItem(PaycheckItem):
    """A paycheck, and what has become of its money."""

    status: PaymentStatus = "paid"
    """What has become of the money. `waiting`: collected, and not in a bank file yet. `held`: it can't be sent.
    `returned`: the bank sent it back. `reversed`: reversed as a mistake. `undone`: never sent. By check or cash
    `paid`, until it is `undone`."""

    outcome: OutcomeItem | None = None
    """Why the money didn't arrive as planned; null if it did, or is on its way."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What is in the payroll's way or has ended it, and what the household can do now.

    `code` is the bank's (R01) or one of ours; `reason` says it in a few words, `message` in a sentence.
    """

    kind: FailureKind
    """What kind of problem it is, for programs."""

    code: str
    """The bank's code, such as `R01`, or one of ours."""

    reason: str
    """The problem in a few words, in English."""

    message: str
    """The problem in a sentence, in English."""

    what_to_do: str
    """What the household can do now, in English."""

    next_try: datetime.datetime | None
    """When it is tried again; null where it is not."""

    until: datetime.datetime | None
    """When it is tried for the last time, as far as that is known."""

    employees: list[UUID] = field(default_factory=list)
    """The employees it is about; empty if it is about the household."""


@dataclass(frozen=True, slots=True)
class PaystubWanted:
    """The body to send for a pay stub."""

    payroll_id: PayrollIdentifier
    employee_id: EmployeeIdentifier


@dataclass(frozen=True, slots=True)
class PayrollDocument:
    """A paper of a payroll, and the request that answers it."""

    kind: Literal["paystub"]
    """What it is: always `paystub`."""

    employee_id: EmployeeIdentifier
    method: Literal["POST"]
    """The request's method: always `POST`."""

    path: Literal["/api/v1/documents/paystub"]
    """The request's path."""

    body: PaystubWanted
    """The request's body, to send as it is."""


@dataclass(frozen=True, slots=True)
class PayrollDetail:
    """A payroll as it was run, its history and its documents."""

    payroll_id: PayrollIdentifier
    id: UUID
    """Identifies the payroll, with the same value as `payroll_id`."""

    employer_id: HouseholdIdentifier
    status: StatusOfPayroll
    pay_date_defaulted: PayDateDefaulted
    pay_period: PayPeriod
    """First and last day worked, and the day paid."""

    employees: list[PaidPaycheckItem]
    """The paychecks, each with what has become of its money."""

    totals: Totals
    """Sums over the paychecks."""

    rulebook: RulebookName
    """The rules that were used."""

    metadata: MetadataItem
    notes: str | None
    """The notes of the request; null if there were none."""

    status_history: list[StatusChange]
    """Each status it has had, oldest first."""

    documents: list[PayrollDocument]
    """How its pay stubs are asked for; none while it is under way."""

    actions: list[Action]
    """What can be done about the payroll now: `void` it, or `authorize_debit` if it needs that."""

    created_at: CreatedAt
    scheduled_send_at: datetime.datetime | None = None
    """When the money will be sent, in UTC; only while the payroll is scheduled."""

    is_estimated: bool = False
    """Whether the payroll is scheduled, and the amounts are calculated again when it is sent."""

    estimated_totals: Totals | None = None
    """The totals that were expected when the payroll was scheduled; the amounts above are final."""

    failure: Failure | None = None
    """What is in its way or has ended it; absent if nothing has."""


@dataclass(frozen=True, slots=True)
class PayrollSummary:
    """A payroll as a list shows one."""

    payroll_id: PayrollIdentifier
    id: UUID
    """Identifies the payroll, with the same value as `payroll_id`."""

    employer_id: HouseholdIdentifier
    status: StatusOfPayroll
    pay_period: PayPeriod
    """First and last day worked, and the day paid."""

    totals: Totals
    """Sums over the paychecks; for a scheduled payroll, those expected when it was scheduled."""

    employee_count: int
    """How many employees it pays."""

    created_at: CreatedAt
    metadata: MetadataItem
