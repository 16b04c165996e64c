"""The tables of payrolls and paychecks, as they are read back."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import Numeric, SmallInteger
from sqlalchemy.dialects.postgresql import DATERANGE, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class Payroll(Base):
    """A payroll of one household."""

    __tablename__ = "payrolls"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    status: Mapped[str]
    period_start: Mapped[date]
    period_end: Mapped[date]
    pay_date: Mapped[date]
    pay_date_asked: Mapped[date | None]
    pay_date_defaulted: Mapped[bool]
    pay_frequency: Mapped[str]
    notes: Mapped[str | None]
    rulebook_version: Mapped[str]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    gross_pay: Mapped[Decimal]
    total_deductions: Mapped[Decimal]
    net_pay: Mapped[Decimal]
    employer_taxes: Mapped[Decimal]
    total_cost: Mapped[Decimal]
    scheduled_send_at: Mapped[datetime | None]
    direct_deposit: Mapped[bool]
    failure: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    attempts: Mapped[int] = mapped_column(SmallInteger)
    next_attempt_at: Mapped[datetime | None]
    created_by_kind: Mapped[str]
    created_by: Mapped[UUID | None]
    created_at: Mapped[datetime]


class PaycheckRow(Base):
    """One employee's paycheck of a payroll."""

    __tablename__ = "paychecks"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    sandbox: Mapped[bool]
    payroll_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    employee_id: Mapped[UUID]
    position: Mapped[int] = mapped_column(SmallInteger)
    reverses: Mapped[UUID | None]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    period: Mapped[Any] = mapped_column(DATERANGE)
    payment_method: Mapped[str]
    regular_hours: Mapped[Decimal] = mapped_column(Numeric())
    regular_pay: Mapped[Decimal]
    overtime_hours: Mapped[Decimal] = mapped_column(Numeric())
    overtime_pay: Mapped[Decimal]
    bonus: Mapped[Decimal]
    other_earnings: Mapped[Decimal]
    gross_pay: Mapped[Decimal]
    employee_taxes: Mapped[Decimal]
    employer_taxes: Mapped[Decimal]
    set_aside: Mapped[Decimal]
    set_aside_source: Mapped[str]
    set_aside_balance: Mapped[Decimal]
    net_pay: Mapped[Decimal]
    total_cost: Mapped[Decimal]
    ytd_gross_pay: Mapped[Decimal]
    ytd_net_pay: Mapped[Decimal]
    ytd_employee_taxes: Mapped[Decimal]
    ytd_employer_taxes: Mapped[Decimal]
    employee_name: Mapped[str]
    work_state: Mapped[str]
    residence_state: Mapped[str]
    reciprocity_certificate: Mapped[str | None]
    warnings: Mapped[list[str]] = mapped_column(JSONB)
    carried: Mapped[list[Any]] = mapped_column(JSONB)


class EntryRow(Base):
    """What was asked for of one employee's pay in a payroll."""

    __tablename__ = "payroll_entries"

    payroll_id: Mapped[UUID] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    employer_id: Mapped[UUID]
    employee_id: Mapped[UUID]
    live: Mapped[bool]
    payment_method: Mapped[str]
    regular_hours: Mapped[Decimal] = mapped_column(Numeric())
    regular_pay: Mapped[Decimal]
    overtime_hours: Mapped[Decimal] = mapped_column(Numeric())
    overtime_pay: Mapped[Decimal]
    bonus: Mapped[Decimal]
    other_earnings: Mapped[Decimal]
    set_aside_skip: Mapped[bool]
    set_aside_amount: Mapped[Decimal | None]


class EstimateRow(Base):
    """What a scheduled payroll was expected to be when it was approved."""

    __tablename__ = "payroll_estimates"

    payroll_id: Mapped[UUID] = mapped_column(primary_key=True)
    estimate: Mapped[dict[str, Any]] = mapped_column(JSONB)


class LineRow(Base):
    """One tax on one paycheck; never changed."""

    __tablename__ = "paycheck_lines"

    paycheck_id: Mapped[UUID] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    employee_id: Mapped[UUID]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    code: Mapped[str]
    name: Mapped[str]
    payer: Mapped[str]
    agency: Mapped[str]
    category: Mapped[str]
    subject_wages: Mapped[Decimal]
    taxable_wages: Mapped[Decimal]
    rate: Mapped[Decimal | None] = mapped_column(Numeric())
    amount: Mapped[Decimal]
    ytd_amount: Mapped[Decimal]
