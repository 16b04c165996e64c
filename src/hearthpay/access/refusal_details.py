"""What `details` of a refusal hold, by code: one row for each code that carries any.

`Refusal` checks its details here, and the OpenAPI document is made from the same rows, so that a client reads
`next_valid_pay_date` of a `pay_date_past_deadline` as a date. Amounts are dollars.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NotRequired
from uuid import UUID

from pydantic import Field, TypeAdapter, WithJsonSchema
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from hearthpay.access.refusal import RefusalCode

_Dollars = Annotated[Decimal, WithJsonSchema({"type": "number"})]
_EmployeeId = Annotated[UUID, Field(description="Identifies the employee that the error is about.")]
_EmployerId = Annotated[UUID, Field(description="Identifies the household that the error is about.")]
_PayrollId = Annotated[UUID, Field(description="Identifies the payroll that the error is about.")]
_Status = Annotated[str, Field(description="The status that it has now.")]
_Plan = Annotated[str, Field(description="The organization's plan.")]


class PayPeriodDays(TypedDict):
    """The first and the last day of a period."""

    start: Annotated[datetime.date, Field(description="The first day.")]
    end: Annotated[datetime.date, Field(description="The last day.")]


class FieldDetails(TypedDict):
    """The field that names what this version has no rules for."""

    field: Annotated[str, Field(description="The field, as the client wrote it.")]


class TaxYearNotFinalDetails(TypedDict):
    """The figures that aren't published yet."""

    tax_year: Annotated[int, Field(description="The year of the pay date.")]
    lines: Annotated[list[str], Field(description="Codes of the tax lines without figures.")]
    agencies: Annotated[list[str], Field(description="The agencies that publish them.")]


class PayDatePastDeadlineDetails(TypedDict):
    """The pay date that was asked for, and the first one that direct deposit can still reach."""

    pay_date: Annotated[
        datetime.date,
        Field(description="The day that was asked for, which direct deposit can't reach any more."),
    ]
    next_valid_pay_date: Annotated[
        datetime.date, Field(description="The earliest pay date by direct deposit. Send it as `pay_date`.")
    ]


class EmployeeNetPay(TypedDict):
    """The net pay of one employee."""

    employee_id: _EmployeeId
    net_pay: Annotated[_Dollars, Field(description="Dollars by direct deposit.")]


class ConfirmationRequiredDetails(TypedDict):
    """What to confirm, and the amounts to look at first."""

    required: Annotated[list[str], Field(description="The flags to send as `true`.")]
    total_net_pay: Annotated[_Dollars, Field(description="Dollars of all direct deposits.")]
    debit_amount: Annotated[_Dollars, Field(description="Dollars that the household is debited.")]
    largest_net_pay: Annotated[_Dollars, Field(description="Dollars of the largest direct deposit.")]
    large_payroll_total: Annotated[
        _Dollars, Field(description="Dollars above which the direct deposits together are confirmed.")
    ]
    large_payroll_net_pay: Annotated[
        _Dollars, Field(description="Dollars above which one direct deposit is confirmed.")
    ]
    employees: Annotated[list[EmployeeNetPay], Field(description="Who is paid by direct deposit.")]


class EmployeeDetails(TypedDict):
    """The employee that it is about."""

    employee_id: _EmployeeId


class EmployerDetails(TypedDict):
    """The household that it is about."""

    employer_id: _EmployerId


class TooManyEmployeesDetails(TypedDict):
    """The plan's limit for one payroll."""

    plan: _Plan
    limit: Annotated[int, Field(description="How many employees one payroll may have.")]
    current: Annotated[int, Field(description="How many the request has.")]


class EmployeeNotStartedDetails(TypedDict):
    """The first day of work."""

    employee_id: _EmployeeId
    start_date: Annotated[datetime.date, Field(description="The first day of work.")]


class EmployeeIncompleteDetails(TypedDict):
    """What the employee's record lacks."""

    employee_id: _EmployeeId
    missing: Annotated[list[str], Field(description="The fields to set.")]


class MissingDetail(TypedDict):
    """One thing that a document lacks."""

    field: Annotated[str, Field(description="Name of what must be entered first.")]
    how: Annotated[str, Field(description="Page, call or command that enters it.")]
    employee_id: NotRequired[_EmployeeId]


class DocumentNotAvailableDetails(TypedDict):
    """Why the document can't be made, and what it is about."""

    reason: Annotated[str, Field(description="Why, by code.")]
    missing: NotRequired[
        Annotated[list[MissingDetail], Field(description="What to supply, for `details_missing`.")]
    ]
    tax_year: NotRequired[Annotated[int, Field(description="Calendar year that the document is of.")]]
    employer_id: NotRequired[_EmployerId]
    employee_id: NotRequired[_EmployeeId]
    payroll_id: NotRequired[_PayrollId]
    status: NotRequired[_Status]
    pay_date: NotRequired[Annotated[datetime.date, Field(description="The payroll's pay date.")]]
    state: NotRequired[
        Annotated[str | None, Field(description="The state that was asked for; null if none was named.")]
    ]
    states: NotRequired[Annotated[list[str], Field(description="The states that the form has.")]]


class PlanLimitReachedDetails(TypedDict):
    """The limit that the plan sets."""

    plan: _Plan
    limit: Annotated[int, Field(description="How many the plan allows.")]
    current: Annotated[int, Field(description="How many there are.")]
    limit_name: Annotated[str, Field(description="What the plan counts, such as households or keys.")]


class SubscriptionRequiredDetails(TypedDict):
    """The feature that the plan lacks, and the plan that has it."""

    plan: _Plan
    required_plan: Annotated[str, Field(description="The smallest plan with the feature.")]
    feature: Annotated[str, Field(description="What the plan lacks, by name.")]


class ScopeRequiredDetails(TypedDict):
    """What the key, token or role lacks."""

    required_scope: NotRequired[Annotated[str, Field(description="The scope to add to the key.")]]
    scopes: NotRequired[Annotated[list[str], Field(description="The scopes that the key or token has.")]]
    required_role: NotRequired[Annotated[str, Field(description="The least role that is needed.")]]
    role: NotRequired[Annotated[str, Field(description="The role that the person has.")]]
    permission: NotRequired[Annotated[str, Field(description="What this kind of access may not do.")]]
    actor: NotRequired[Annotated[str, Field(description="The kind of access.")]]


class KeyModeMismatchDetails(TypedDict):
    """The household, and the mode that would work."""

    employer_id: NotRequired[_EmployerId]
    required_mode: NotRequired[
        Annotated[str, Field(description="`live` or `test`; absent if no key may do it.")]
    ]


class AutopilotEnrollInAppDetails(TypedDict):
    """Where a person enrolls."""

    url: Annotated[str, Field(description="The page on which a person enrolls the employee.")]


class ClockAdvancingDetails(TypedDict):
    """The test household whose clock is moving."""

    employer_id: NotRequired[_EmployerId]


class AutopilotRunScheduledDetails(TypedDict):
    """The payroll that Autopilot has scheduled."""

    employee_id: _EmployeeId
    payroll_id: _PayrollId
    pay_period: Annotated[PayPeriodDays, Field(description="The days that it pays.")]
    pay_date: Annotated[datetime.date, Field(description="Day on which that payroll pays.")]
    scheduled_send_at: Annotated[
        datetime.datetime | None, Field(description="When it is sent; null if that isn't known.")
    ]


class NextRun(TypedDict):
    """The next payroll that Autopilot makes."""

    start: Annotated[datetime.date, Field(description="The first day that it pays.")]
    end: Annotated[datetime.date, Field(description="The last day that it pays.")]
    pay_date: Annotated[datetime.date, Field(description="Day on which that payroll pays.")]


class PeriodAheadOfAnchorDetails(TypedDict):
    """The period that Autopilot pays first."""

    employee_id: _EmployeeId
    next_run: Annotated[NextRun, Field(description="Pay period and pay date that Autopilot pays next.")]


class PayrollOverlapDetails(TypedDict):
    """The payroll that pays some of these days already."""

    employee_id: _EmployeeId
    payroll_id: _PayrollId
    pay_period: Annotated[PayPeriodDays, Field(description="The days that it pays.")]


class IdempotencyConflictDetails(TypedDict):
    """The header to change."""

    header: Annotated[str, Field(description="`Idempotency-Key`.")]


class PaycheckAmountsOf(TypedDict):
    """The amounts of one paycheck."""

    employee_id: _EmployeeId
    gross_pay: Annotated[_Dollars, Field(description="Dollars before taxes.")]
    net_pay: Annotated[_Dollars, Field(description="Dollars that the employee gets.")]
    total_cost: Annotated[_Dollars, Field(description="Dollars that it costs the household.")]


class AmountsChangedDetails(TypedDict):
    """The paychecks as they were previewed, and as they would be now."""

    request_changed: Annotated[
        bool, Field(description="Whether the request is another one; if not, its amounts have changed.")
    ]
    previewed: Annotated[list[PaycheckAmountsOf], Field(description="The paychecks of the preview.")]
    now: Annotated[
        list[PaycheckAmountsOf],
        Field(description="The same paychecks now; with `payroll_id`, as that payroll has them."),
    ]
    payroll_id: NotRequired[
        Annotated[
            UUID, Field(description="The payroll that was run with this token already; absent if none was.")
        ]
    ]


class GoneDetails(TypedDict):
    """What to use in place of it."""

    use: Annotated[str, Field(description="Method and path to call in its place.")]


class InvitationTooSoonDetails(TypedDict):
    """When the employee may be invited again."""

    retry_at: Annotated[datetime.datetime, Field(description="From when on it works.")]


class DepositBlocker(TypedDict):
    """One thing that must change before direct deposit is possible."""

    code: Annotated[str, Field(description="What is in the way, for programs.")]
    message: Annotated[str, Field(description="What is in the way, in English.")]


class BlockedEmployee(TypedDict):
    """What is in the way of one employee's direct deposit."""

    employee_id: _EmployeeId
    blockers: Annotated[list[DepositBlocker], Field(description="What must change.")]


class DirectDepositUnavailableDetails(TypedDict):
    """Whose account is missing: the household's, or those of employees."""

    employer_id: NotRequired[_EmployerId]
    employee_id: NotRequired[_EmployeeId]
    blockers: NotRequired[
        Annotated[list[DepositBlocker], Field(description="What is in the way for the household.")]
    ]
    employees: NotRequired[
        Annotated[
            list[BlockedEmployee],
            Field(description="What keeps each employee from being paid by direct deposit."),
        ]
    ]


class RateLimitedDetails(TypedDict):
    """How long to wait."""

    retry_after: Annotated[int, Field(description="Seconds to wait, as in the header `Retry-After`.")]
    plan: NotRequired[_Plan]
    limit: NotRequired[Annotated[int, Field(description="How many requests a day allows.")]]


class InvalidStateDetails(TypedDict):
    """The state that is in the way; which fields there are depends on the call."""

    status: NotRequired[_Status]
    payroll_id: NotRequired[_PayrollId]
    employee_id: NotRequired[_EmployeeId]
    direct_deposit: NotRequired[
        Annotated[bool, Field(description="Whether somebody is paid by direct deposit.")]
    ]
    possible: NotRequired[Annotated[list[str], Field(description="The actions that are possible now.")]]
    start_date: NotRequired[Annotated[datetime.date, Field(description="The first day of work.")]]
    end_date: NotRequired[Annotated[datetime.date | None, Field(description="The last day of work.")]]
    tax_year: NotRequired[Annotated[int, Field(description="Calendar year that the error is about.")]]
    wages: NotRequired[Annotated[_Dollars, Field(description="Dollars of wages in the year.")]]
    threshold: NotRequired[Annotated[_Dollars, Field(description="Dollars from which wages are taxed.")]]
    available: NotRequired[Annotated[_Dollars, Field(description="Dollars that can be paid out this way.")]]
    balance: NotRequired[Annotated[_Dollars, Field(description="Dollars that are set aside in all.")]]
    held: NotRequired[Annotated[_Dollars, Field(description="Dollars that were collected by bank.")]]
    frozen_until: NotRequired[Annotated[datetime.datetime, Field(description="When it is possible again.")]]
    possible_from: NotRequired[
        Annotated[datetime.datetime, Field(description="First day on which the request is possible.")]
    ]
    eligible: NotRequired[Annotated[bool, Field(description="Whether Autopilot can pay the employee.")]]
    reasons: NotRequired[Annotated[list[str], Field(description="Why it can't, by code.")]]
    from_period: NotRequired[
        Annotated[datetime.date, Field(description="The first day from which a later change holds.")]
    ]
    period_start: NotRequired[
        Annotated[datetime.date, Field(description="The first day of the period that was named.")]
    ]
    next: NotRequired[
        Annotated[datetime.date | None, Field(description="The first day of Autopilot's next period.")]
    ]
    ein_status: NotRequired[Annotated[str, Field(description="The household's EIN status.")]]
    allowed: NotRequired[Annotated[list[str], Field(description="What the EIN status may become.")]]
    package_id: NotRequired[Annotated[UUID, Field(description="The package that is being made.")]]
    filing_id: NotRequired[Annotated[UUID, Field(description="Identifies the recorded filing.")]]
    filed_on: NotRequired[Annotated[datetime.date, Field(description="Day on which the return was filed.")]]
    payment_id: NotRequired[Annotated[UUID, Field(description="Identifies the recorded tax payment.")]]
    reversed_at: NotRequired[
        Annotated[datetime.datetime | None, Field(description="Instant of the reversal, in UTC.")]
    ]


@dataclass(frozen=True, slots=True)
class DetailsRow:
    """What the details of a code hold, and whether every refusal with the code has them."""

    kind: Any
    always: bool = True


DETAILS: Final["Mapping[RefusalCode, DetailsRow]"] = {
    "invalid_state": DetailsRow(InvalidStateDetails, always=False),
    "unsupported_tax_year": DetailsRow(FieldDetails),
    "unsupported_jurisdiction": DetailsRow(FieldDetails),
    "tax_year_not_final": DetailsRow(TaxYearNotFinalDetails),
    "pay_date_past_deadline": DetailsRow(PayDatePastDeadlineDetails),
    "confirmation_required": DetailsRow(ConfirmationRequiredDetails),
    "duplicate_employee": DetailsRow(EmployeeDetails),
    "too_many_employees": DetailsRow(TooManyEmployeesDetails),
    "employee_not_in_household": DetailsRow(EmployeeDetails, always=False),
    "employee_not_started": DetailsRow(EmployeeNotStartedDetails),
    "employee_incomplete": DetailsRow(EmployeeIncompleteDetails),
    "document_not_available": DetailsRow(DocumentNotAvailableDetails),
    "plan_limit_reached": DetailsRow(PlanLimitReachedDetails),
    "subscription_required": DetailsRow(SubscriptionRequiredDetails, always=False),
    "scope_required": DetailsRow(ScopeRequiredDetails),
    "household_forbidden": DetailsRow(EmployerDetails, always=False),
    "key_mode_mismatch": DetailsRow(KeyModeMismatchDetails),
    "autopilot_enroll_in_app": DetailsRow(AutopilotEnrollInAppDetails),
    "not_found": DetailsRow(EmployeeDetails, always=False),
    "clock_advancing": DetailsRow(ClockAdvancingDetails, always=False),
    "autopilot_run_scheduled": DetailsRow(AutopilotRunScheduledDetails),
    "period_ahead_of_anchor": DetailsRow(PeriodAheadOfAnchorDetails),
    "payroll_overlap": DetailsRow(PayrollOverlapDetails),
    "idempotency_conflict": DetailsRow(IdempotencyConflictDetails),
    "amounts_changed": DetailsRow(AmountsChangedDetails),
    "gone": DetailsRow(GoneDetails, always=False),
    "invitation_too_soon": DetailsRow(InvitationTooSoonDetails),
    "direct_deposit_unavailable": DetailsRow(DirectDepositUnavailableDetails),
    "rate_limited": DetailsRow(RateLimitedDetails),
}
"""The rows. `validation_error` has none: its details are a list of fields (`Problem`)."""


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class DetailsCheck:
    """Whether a refusal with other details than its row's is an error where it is made.

    Tests say so. In a service it is the refusal that matters: it is given with the details it has.
    """

    enabled: ClassVar[bool] = False


def check_details(code: "RefusalCode", details: Mapping[str, object]) -> None:
    """Raise TypeError if the details of a refusal aren't those of its code's row."""
    row = DETAILS.get(code)
    if row is None:
        raise TypeError(f"{code} carries no details: give it a row in DETAILS")
    unknown = details.keys() - row.kind.__annotations__.keys()
    if unknown:
        raise TypeError(f"details of {code} have no {', '.join(sorted(unknown))}: add them to the row")
    try:
        _adapter(row.kind).validate_python(details)
    except ValueError as error:
        raise TypeError(f"details of {code} differ from its row: {error}") from None
