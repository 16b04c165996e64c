"""Commands of the payroll services, in plain values that the interfaces have parsed."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Final
from uuid import UUID

from hearthpay.employees.commands import PayFrequency, PaymentMethod
from hearthpay.payroll.kinds import PayrollKind, kind_from_notes
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.taxes.prior_wages import PriorLine
from hearthpay.wire.metadata import Metadata

_NOTHING: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class SetAsideChoice:
    """What an employee chooses to set aside from one paycheck: nothing, or an amount in dollars."""

    skip: bool = False
    amount: Decimal | None = None

    def __post_init__(self) -> None:
        if self.amount is not None:
            _require_places(2, amount=self.amount)


@dataclass(frozen=True, slots=True)
class RoundedHours:
    """Hours that were rounded to thousandths, half to even: the field's name, the requested hours, the paid hours."""

    field: str
    asked: Decimal
    paid: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class EmployeePay:
    """One employee's pay for a period; amounts in dollars. Without a method, the employee's own applies.

    Raises ValueError for what no interface may accept: an amount that isn't whole cents, a part of a thousandth of an
    hour, or a negative value. A salaried employee gets the period's share, less ``unpaid_days``, unless
    ``pay_salary`` is False.
    """

    employee_id: UUID
    regular_hours: Decimal = _NOTHING
    overtime_hours: Decimal = _NOTHING
    bonus: Decimal = _NOTHING
    other_earnings: Decimal = _NOTHING
    unpaid_days: Decimal = _NOTHING
    pay_salary: bool = True
    payment_method: PaymentMethod | None = None
    voluntary_set_aside: SetAsideChoice | None = None
    rounded: tuple["RoundedHours", ...] = ()
    """Hours requested with more decimals than are paid; the paycheck's warnings report them."""

    def __post_init__(self) -> None:
        _require_places(2, bonus=self.bonus, other_earnings=self.other_earnings, unpaid_days=self.unpaid_days)
        _require_places(3, regular_hours=self.regular_hours, overtime_hours=self.overtime_hours)


def _require_places(places: int, **values: Decimal) -> None:
    for name, value in values.items():
        if value < 0 or value != round(value, places):
            raise ValueError(f"{name} must be a number from 0 with at most {places} decimals, not {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A payroll to be previewed or run, before its dates and payment methods are settled.

    Without ``employer_id`` it is for the household that the actor remembers, and without ``pay_date`` for the day
    that `pay_dates` finds. A refusal uses the field names given here.
    """

    pay_period_start: datetime.date
    pay_period_end: datetime.date
    pay_frequency: PayFrequency
    employees: tuple[EmployeePay, ...]
    employer_id: UUID | None = None
    pay_date: datetime.date | None = None
    notes: str | None = None
    default_payment_method: PaymentMethod | None = None
    """The method of entries without one, in place of the employee's own setting."""

    metadata: Metadata = field(default_factory=dict)
    kind: PayrollKind = field(init=False, default="regular")
    """The kind of payroll that its notes request."""

    def __post_init__(self) -> None:
        if not self.employees:
            raise ValueError("an order pays somebody")
        object.__setattr__(self, "kind", kind_from_notes(self.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmations:
    """What a person has confirmed before the household's account is debited."""

    confirm_large_payroll: bool = False
    confirm_ach_debit: bool = False

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the confirmations given."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name))


NOTHING_CONFIRMED: Final = Confirmations()


@dataclass(frozen=True, slots=True)
class Corrections:
    """What would have to change in an order for it to be accepted: the `example` of its refusal.

    By the field names of `Order` and `Confirmations`; each interface shows it in its own words.
    """

    changes: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PayrollQuery:
    """Which payrolls to list, and which page of them; pay dates from ``since`` up to ``until``, both included.

    By ``method``: those in which some pay was requested by it.
    """

    employer_id: UUID | None = None
    employee_id: UUID | None = None
    status: PayrollStatus | None = None
    method: PaymentMethod | None = None
    since: datetime.date | None = None
    until: datetime.date | None = None
    metadata: Metadata = field(default_factory=dict)
    cursor: UUID | None = None
    limit: int = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterPriorWages:
    """Count what another payroll paid in a year, up to a day; amounts in cents, omitted ones are the sum of the
    lines.
    """

    tax_year: int
    source: str
    as_of: datetime.date
    gross_pay: int
    lines: tuple[PriorLine, ...]
    net_pay: int | None = None
    employee_taxes: int | None = None
    employer_taxes: int | None = None
