"""The tables of payrolls and paychecks, as far as SQLAlchemy looks them up; amounts in cents."""

import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, SmallInteger, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base
from hearthpay.payroll.kinds import PayrollKind


class Payroll(Base):
    """A payroll of one household."""

    __tablename__ = "payrolls"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    status: Mapped[str]
    period_start: Mapped[datetime.date]
    period_end: Mapped[datetime.date]
    pay_date: Mapped[datetime.date]
    pay_date_asked: Mapped[datetime.date | None]
    pay_date_defaulted: Mapped[bool]
    pay_frequency: Mapped[str]
    notes: Mapped[str | None]
    kind: Mapped[PayrollKind] = mapped_column(Text)
    rulebook_version: Mapped[str]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    gross_pay: Mapped[int] = mapped_column(BigInteger)
    total_deductions: Mapped[int] = mapped_column(BigInteger)
    net_pay: Mapped[int] = mapped_column(BigInteger)
    employer_taxes: Mapped[int] = mapped_column(BigInteger)
    total_cost: Mapped[int] = mapped_column(BigInteger)
    scheduled_send_at: Mapped[datetime.datetime | None]
    direct_deposit: Mapped[bool]
    handed_over_at: Mapped[datetime.datetime | None]
    """When somebody marked its checks or cash as handed over before the pay date; None: nobody did."""

    failure: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    attempts: Mapped[int] = mapped_column(SmallInteger)
    next_attempt_at: Mapped[datetime.datetime | None]
    created_by_kind: Mapped[str]
    created_by: Mapped[UUID | None]
    created_at: Mapped[datetime.datetime]
    metadata_: Mapped[dict[str, str]] = mapped_column("metadata", JSONB)
    """What the client keeps with it; see `hearthpay.wire.metadata`."""


class PayrollDraft(Base):
    """What somebody typed for a payroll that isn't run yet; it isn't a payroll, and nothing is calculated from it."""

    __tablename__ = "payroll_drafts"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    period_start: Mapped[datetime.date]
    period_end: Mapped[datetime.date]
    pay_date: Mapped[datetime.date | None]
    pay_frequency: Mapped[str]
    notes: Mapped[str | None]
    employees: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    """Each employee as typed: `employee_id`, hours and dollars as text, and how to pay."""

    metadata_: Mapped[dict[str, str]] = mapped_column("metadata", JSONB)
    """That of the payroll which the draft corrects."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
    payroll_id: Mapped[UUID | None]
    """The payroll that it was sent as; None until then."""

    dropped_at: Mapped[datetime.datetime | None]


class FoundPaycheck(Base):
    """One employee's paycheck of a payroll, for lookups; the ledger reads its contents."""

    __tablename__ = "paychecks"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    payroll_id: Mapped[UUID]
    employee_id: Mapped[UUID]
    reverses: Mapped[UUID | None]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    payment_method: Mapped[str]


class EntryRow(Base):
    """An employee whose pay was requested in a payroll; `orders` reads the request."""

    __tablename__ = "payroll_entries"

    payroll_id: Mapped[UUID] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    employee_id: Mapped[UUID]
    payment_method: Mapped[str]
