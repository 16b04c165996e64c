"""What a payroll pays, with its dates and payment methods settled; the same for new and for scheduled payrolls.

The request, before anything is settled, is `commands.Order`.
"""

import datetime
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.models import Employee
from hearthpay.employees.same_person import WITH_FIRST_RECORDS, lock_people
from hearthpay.employers.models import Employer
from hearthpay.payroll.commands import Order
from hearthpay.payroll.kinds import PayrollKind
from hearthpay.payroll.orders.pay_dates import PayDates, Way
from hearthpay.payroll.orders.salary_shares import SalaryShare
from hearthpay.taxes.money import from_cents
from hearthpay.wire.metadata import NO_METADATA, Metadata


class _EntriesRow(NamedTuple):
    payroll_id: UUID
    employee_id: UUID
    payment_method: str
    regular_hours: Decimal
    overtime_hours: Decimal
    bonus: int
    other_earnings: int
    set_aside_skip: bool
    set_aside_amount: int | None
    regular_pay: int
    overtime_pay: int
    salary: dict[str, Any] | None


_ENTRIES: Final = query(
    _EntriesRow,
    "SELECT payroll_id, employee_id, payment_method, regular_hours, overtime_hours, bonus, other_earnings, "
    "set_aside_skip, set_aside_amount, regular_pay, overtime_pay, salary "
    "FROM payroll_entries WHERE payroll_id = ANY(:ids) ORDER BY payroll_id, position",
)


class PayrollEntry(NamedTuple):
    """One employee's requested pay for the period; amounts in dollars, the set-aside request in cents.

    The pay for hours is None until it is approved; after that it stays the same, even if the hourly rate changes.
    """

    employee_id: UUID
    payment_method: str
    regular_hours: Decimal
    overtime_hours: Decimal
    bonus: Decimal
    other_earnings: Decimal
    set_aside_skip: bool = False
    set_aside_wish: int | None = None
    regular_pay: Decimal | None = None
    overtime_pay: Decimal | None = None
    unpaid_days: Decimal = Decimal(0)
    """Working days for which no salary is paid."""

    pay_salary: bool = True
    """Whether a salaried employee is paid the period's share of the salary."""

    salary: SalaryShare | None = None
    """The salary paid for the period; None if none is paid, and until it is settled."""

    @property
    def hours(self) -> Decimal:
        """All hours."""
        return self.regular_hours + self.overtime_hours

    @property
    def pays_the_period(self) -> bool:
        """Whether the entry pays for the time of the period, by hours or by a salary; a period is paid only once."""
        return bool(self.hours) or self.salary is not None


class SettledOrder(NamedTuple):
    """A payroll as requested and settled; ``entries`` in the order of the request."""

    employer_id: UUID
    dates: PayDates
    pay_frequency: str
    notes: str | None
    entries: tuple[PayrollEntry, ...]
    kind: PayrollKind = "regular"
    metadata: Metadata = NO_METADATA

    @property
    def direct_deposit(self) -> bool:
        """Whether any of it goes through the bank."""
        return not self.catch_up and any(entry.payment_method == "direct_deposit" for entry in self.entries)

    @property
    def catch_up(self) -> bool:
        """Whether the payroll only records past pay."""
        return self.kind == "catch_up"

    @property
    def fica_refund(self) -> bool:
        """Whether the payroll pays no wages but refunds Social Security and Medicare."""
        return self.kind == "fica_refund"

    @property
    def tax_year(self) -> int:
        """The tax year of the payroll: that of the pay date, or for a refund that of the refunded wages."""
        return self.dates.period_end.year if self.fica_refund else self.dates.pay_date.year


class Payee(NamedTuple):
    """What a paycheck needs to know about an employee."""

    id: UUID
    first_name: str
    last_name: str
    work_state: str
    residence_state: str
    localities: Sequence[str]
    pay_rate: Decimal | None
    overtime_rate: Decimal | None
    payment_method: str
    relationship: str
    federal_withholding: dict[str, Any]
    state_withholding: dict[str, Any]
    end_date: datetime.date | None = None
    person_id: UUID | None = None
    """The person's first employee record, if there are several."""

    lives_in: bool = False
    pay_type: str = "hourly"
    salary: Decimal | None = None
    salary_per: str | None = None
    pay_frequency: str = "biweekly"
    usual_weekly_hours: Decimal | None = None
    working_days: Sequence[str] | None = None
    start_date: datetime.date = datetime.date.min
    earlier_employments: Sequence[Mapping[str, str]] = ()
    city: str | None = None
    address: Mapping[str, str] | None = None
    household_address: Mapping[str, str] | None = None
    """The address of the household, where the work is done."""

    @property
    def name(self) -> str:
        """First and last name, as printed on a pay stub."""
        return f"{self.first_name} {self.last_name}"


def way_of(order: Order, methods: Collection[str]) -> Way:
    """Return how a payroll pays, given each entry's payment method: by direct deposit if any of them does."""
    if order.kind == "catch_up":
        return "catch_up"
    return "direct_deposit" if "direct_deposit" in methods else "on_paper"


def settle_order(order: Order, methods: Sequence[str], employer_id: UUID, dates: PayDates) -> SettledOrder:
    """Return the order with its dates and, in the order of its entries, their payment methods."""
    entries = []
    for entry, method in zip(order.employees, methods, strict=True):
        wish = entry.voluntary_set_aside
        entries.append(
            PayrollEntry(
                employee_id=entry.employee_id,
                payment_method=method,
                regular_hours=entry.regular_hours,
                overtime_hours=entry.overtime_hours,
                bonus=entry.bonus,
                other_earnings=entry.other_earnings,
                unpaid_days=entry.unpaid_days,
                pay_salary=entry.pay_salary,
                set_aside_skip=wish is not None and wish.skip,
                set_aside_wish=int(wish.amount.scaleb(2)) if wish and wish.amount is not None else None,
            )
        )
    return SettledOrder(
        employer_id, dates, order.pay_frequency, order.notes, tuple(entries), order.kind, order.metadata
    )


_OF_EMPLOYEE: Final = Payee._fields[:-1]
_PAYEE: Final = tuple(getattr(Employee, name) for name in _OF_EMPLOYEE)
_HOME: Final = select(Employer.address).where(Employer.id == Employee.employer_id).scalar_subquery()
_LOCK: Final = (
    select(*_PAYEE, _HOME).where(WITH_FIRST_RECORDS).order_by(Employee.id).with_for_update(key_share=True)
)


def payee_of(employee: Employee, household_address: Mapping[str, str] | None = None) -> Payee:
    """Return what a paycheck needs to know about the employee; warnings of labor law need the household's address."""
    return Payee._make([*(getattr(employee, name) for name in _OF_EMPLOYEE), household_address])


async def read_payees(session: AsyncSession, employees: Sequence[UUID]) -> dict[UUID, Payee]:
    """Return the employees by id, locked in the order of their ids until the transaction ends.

    The first record of each person is locked too, so that no other transaction changes the person's year.
    """

    async def lock(requested: Sequence[UUID]) -> list[Payee]:
        return [Payee._make(row) for row in await session.execute(_LOCK, {"records": list(requested)})]

    return await lock_people(lock, list(employees))


async def read_entries(session: AsyncSession, payrolls: Sequence[UUID]) -> dict[UUID, list[PayrollEntry]]:
    """Return the requested entries of each payroll, in the order of the request, at the rates of its approval."""
    entries: dict[UUID, list[PayrollEntry]] = {payroll_id: [] for payroll_id in payrolls}
    for row in await fetch_all(session, _ENTRIES, {"ids": list(payrolls)}):
        entries[row.payroll_id].append(
            PayrollEntry(
                row.employee_id,
                row.payment_method,
                row.regular_hours,
                row.overtime_hours,
                from_cents(row.bonus),
                from_cents(row.other_earnings),
                row.set_aside_skip,
                row.set_aside_amount,
                from_cents(row.regular_pay),
                from_cents(row.overtime_pay),
                salary=SalaryShare.of_json(row.salary),
            )
        )
    return entries
