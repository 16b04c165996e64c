"""What the services of payrolls are asked to do, in plain values: whichever face was asked has parsed them."""

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

_NOTHING: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class SetAsideChoice:
    """What an employee asks to have set aside from one paycheck: nothing, or an amount in dollars."""

    skip: bool = False
    amount: Decimal | None = None

    def __post_init__(self) -> None:
        if self.amount is not None:
            _require_places(2, amount=self.amount)


@dataclass(frozen=True, slots=True)
class RoundedHours:
    """Hours that were rounded to thousandths, half to even: the field's name, what was asked for, what is paid."""

    field: str
    asked: Decimal
    paid: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class EmployeePay:
    """One employee's pay of a period; amounts in dollars. Without a method, it is the employee's own that counts.

    Raises ValueError for what no face may let pass: an amount that is not whole cents, a part of a thousandth of an
    hour, or less than nothing. A salaried employee gets the period's share, less ``unpaid_days``, unless ``pay_salary``
    is False.
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
    """Hours that were asked for with more decimals than are paid; the paycheck's warnings tell of them."""

    def __post_init__(self) -> None:
        _require_places(2, bonus=self.bonus, other_earnings=self.other_earnings, unpaid_days=self.unpaid_days)
        _require_places(3, regular_hours=self.regular_hours, overtime_hours=self.overtime_hours)


def _require_places(places: int, **values: Decimal) -> None:
    for name, value in values.items():
        if value < 0 or value != round(value, places):
            raise ValueError(f"{name} must be a number from 0 with at most {places} decimals, not {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A payroll to be previewed or run, before its dates and ways of payment are settled.

    Without ``employer_id`` it is for the household that the actor remembers, and without ``pay_date`` for the day that
    `pay_dates` finds. A refusal names its fields as they are called here.
    """

    pay_period_start: datetime.date
    pay_period_end: datetime.date
    pay_frequency: PayFrequency
    employees: tuple[EmployeePay, ...]
    employer_id: UUID | None = None
    pay_date: datetime.date | None = None
    notes: str | None = None
    default_payment_method: PaymentMethod | None = None
    """The method of entries that name none, in place of the employee's own setting."""

    kind: PayrollKind = field(init=False, default="regular")
    """What the payroll is for, as its notes ask."""

    def __post_init__(self) -> None:
        if not self.employees:
            raise ValueError("an order pays somebody")
        object.__setattr__(self, "kind", kind_from_notes(self.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmations:
    """What a person has said once more before money leaves the household's account."""

    confirm_large_payroll: bool = False
    confirm_ach_debit: bool = False

    @property
    def given(self) -> tuple[str, ...]:
        """The names of those that were said."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name))


NOTHING_CONFIRMED: Final = Confirmations()


@dataclass(frozen=True, slots=True)
class Corrections:
    """What of an order would have to be otherwise for it to be taken: the `example` of its refusal.

    By the names of the fields of `Order` and `Confirmations`; each face shows it in its own words.
    """

    changes: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PayrollQuery:
    """Which payrolls to list, and which page of them; pay dates from ``since`` up to ``until``, both included.

    By ``method``: those of which somebody's pay was asked for so.
    """

    employer_id: UUID | None = None
    employee_id: UUID | None = None
    status: PayrollStatus | None = None
    method: PaymentMethod | None = None
    since: datetime.date | None = None
    until: datetime.date | None = None
    cursor: UUID | None = None
    limit: int = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterPriorWages:
    """Count what another payroll paid in a year, up to a day; amounts in cents, what is left out is the lines' sum."""

    tax_year: int
    source: str
    as_of: datetime.date
    gross_pay: int
    lines: tuple[PriorLine, ...]
    net_pay: int | None = None
    employee_taxes: int | None = None
    employer_taxes: int | None = None
