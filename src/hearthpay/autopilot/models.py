"""Tables of Autopilot: enrollments, their versions, the outcome of each period, the history."""

import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Numeric, SmallInteger
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import UUID as PG_UUID
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class Enrollment(Base):
    """An employee's recurring payroll; `next_*` describe the first undecided period."""

    __tablename__ = "autopilot_enrollments"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID]
    status: Mapped[str]
    first_start: Mapped[datetime.date]
    next_start: Mapped[datetime.date]
    next_end: Mapped[datetime.date]
    next_pay_date: Mapped[datetime.date]
    generate_at: Mapped[datetime.datetime | None]
    mend_by: Mapped[datetime.datetime | None]
    skip_through: Mapped[datetime.date | None]
    failure_count: Mapped[int] = mapped_column(SmallInteger)
    pause_reason: Mapped[str | None]
    enrolled_by_kind: Mapped[str]
    enrolled_by: Mapped[UUID | None]
    enrolled_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
    disabled_at: Mapped[datetime.datetime | None]


class EnrollmentVersion(Base):
    """What is enrolled from a period on; never changed. `expected_net` is cents."""

    __tablename__ = "autopilot_versions"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    enrollment_id: Mapped[UUID]
    number: Mapped[int] = mapped_column(SmallInteger)
    from_period: Mapped[datetime.date]
    frequency: Mapped[str]
    anchor: Mapped[datetime.date]
    pay_days_after: Mapped[int] = mapped_column(SmallInteger)
    standard_hours: Mapped[Decimal] = mapped_column(Numeric())
    expected_net: Mapped[int] = mapped_column(BigInteger)
    large_confirmed: Mapped[bool]
    made_by_kind: Mapped[str]
    made_by: Mapped[UUID | None]
    made_at: Mapped[datetime.datetime]


class DecidedPeriod(Base):
    """A pay period and its outcome; `net_pay` is the expected net pay, in cents."""

    __tablename__ = "autopilot_periods"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    enrollment_id: Mapped[UUID]
    employee_id: Mapped[UUID]
    version: Mapped[int] = mapped_column(SmallInteger)
    period_start: Mapped[datetime.date]
    period_end: Mapped[datetime.date]
    pay_date: Mapped[datetime.date]
    send_at: Mapped[datetime.datetime]
    outcome: Mapped[str]
    payroll_id: Mapped[UUID | None]
    by_hand: Mapped[list[UUID]] = mapped_column(ARRAY(PG_UUID(as_uuid=True)))
    reasons: Mapped[list[str]]
    held: Mapped[list[str]]
    confirmed_at: Mapped[datetime.datetime | None]
    net_pay: Mapped[int | None] = mapped_column(BigInteger)
    decided_at: Mapped[datetime.datetime]


class AutopilotEvent(Base):
    """One event in the history of an enrollment; never changed."""

    __tablename__ = "autopilot_events"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    enrollment_id: Mapped[UUID]
    employee_id: Mapped[UUID]
    event: Mapped[str]
    at: Mapped[datetime.datetime]
    actor_kind: Mapped[str]
    actor_id: Mapped[UUID | None]
    source: Mapped[str]
    request_id: Mapped[str | None]
    details: Mapped[dict[str, Any]]
