"""The tables of employees and of invitations to enter their numbers in the portal."""

import datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import CHAR, Numeric, SmallInteger, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class Employee(Base):
    """Someone a household employs: what the tax engine needs to know about them, and nothing secret."""

    __tablename__ = "employees"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    first_name: Mapped[str]
    last_name: Mapped[str]
    email: Mapped[str | None]
    status: Mapped[str]
    work_state: Mapped[str] = mapped_column(CHAR(2))
    residence_state: Mapped[str] = mapped_column(CHAR(2))
    localities: Mapped[list[str]]
    city: Mapped[str | None]
    """Where the employee lives, as entered."""

    address: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """Mailing address: `line1`, `line2`, `city`, `state`, `zip`; None until it is entered."""

    language: Mapped[str] = mapped_column(default="en", server_default="en")
    """The language that the employee reads: ``en`` or ``es``."""

    pay_type: Mapped[str] = mapped_column(default="hourly", server_default="hourly")
    """``hourly`` or ``salary``."""

    pay_rate: Mapped[Decimal | None] = mapped_column("pay_rate_cents")
    """Dollars per hour; None until it is entered, and hours can't be paid before. Always None for a salary."""

    salary: Mapped[Decimal | None] = mapped_column("salary_cents")
    """Dollars per year or pay period; None for hourly employees, and until it is set."""

    salary_per: Mapped[str | None]
    """``year`` or ``period``, if a salary is set."""

    usual_weekly_hours: Mapped[Decimal | None] = mapped_column(Numeric())
    working_days: Mapped[list[str] | None] = mapped_column(ARRAY(Text()))
    """Names of the days of a usual week; None for Monday to Friday."""

    overtime_rate: Mapped[Decimal | None] = mapped_column("overtime_rate_cents")
    pay_frequency: Mapped[str]
    start_date: Mapped[datetime.date]
    end_date: Mapped[datetime.date | None]
    payment_method: Mapped[str]
    relationship: Mapped[str]
    birth_year: Mapped[int | None] = mapped_column(SmallInteger)
    lives_in: Mapped[bool]
    setup_question: Mapped[int | None] = mapped_column(SmallInteger)
    """The next question of setup (`setup_questions`); None once all are answered, or if added without setup."""

    federal_withholding: Mapped[dict[str, Any]]
    state_withholding: Mapped[dict[str, Any]]
    person_id: Mapped[UUID | None]
    """The first record of this person, if the household has several."""

    earlier_employments: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    """First and last day (`start_date`, `end_date`) of each employment before a reinstatement."""

    left_states: Mapped[dict[str, Any]]
    """`localities` and `state_withholding` of each former work state, by state."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
    metadata_: Mapped[dict[str, str]] = mapped_column("metadata", JSONB)
    """What clients keep with the record; see `hearthpay.wire.metadata`."""

    def worked_earlier(self, start: datetime.date, end: datetime.date) -> bool:
        """Return whether an earlier employment had a day between these two."""
        return any(
            datetime.date.fromisoformat(spell["start_date"]) <= end
            and start <= datetime.date.fromisoformat(spell["end_date"])
            for spell in self.earlier_employments
        )

    @property
    def name(self) -> str:
        """First and last name, as printed on a pay stub."""
        return f"{self.first_name} {self.last_name}"

    @property
    def incomplete(self) -> tuple[Literal["pay_rate", "salary"], ...]:
        """What must be entered before hours, or a salary, can be paid."""
        if self.pay_type == "salary":
            return ("salary",) if self.salary is None else ()
        return ("pay_rate",) if self.pay_rate is None else ()


class PayChange(Base):
    """A change of somebody's hourly rate or salary; the database writes it with the change."""

    __tablename__ = "pay_changes"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID]
    changed_at: Mapped[datetime.datetime]
    former_pay_type: Mapped[str]
    former_pay_rate: Mapped[Decimal | None] = mapped_column("former_pay_rate_cents")
    former_salary: Mapped[Decimal | None] = mapped_column("former_salary_cents")
    former_salary_per: Mapped[str | None]
    pay_type: Mapped[str]
    pay_rate: Mapped[Decimal | None] = mapped_column("pay_rate_cents")
    salary: Mapped[Decimal | None] = mapped_column("salary_cents")
    salary_per: Mapped[str | None]


class Invitation(Base):
    """A link through which an employee enters one kind of number; the token itself is only in the link."""

    __tablename__ = "invitations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID]
    type: Mapped[str]
    status: Mapped[str]
    token_hash: Mapped[bytes]
    email_sent: Mapped[bool]
    mail_id: Mapped[UUID | None]
    created_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]
    completed_at: Mapped[datetime.datetime | None]
    tax_number_at: Mapped[datetime.datetime | None]
    """When the number was entered by this link."""

    tax_number_kind: Mapped[str | None]
    """``ssn`` or ``itin``, if the number was entered by this link."""

    address_at: Mapped[datetime.datetime | None]
    """When the address was entered by this link."""

    new_link_requested_at: Mapped[datetime.datetime | None]
    """When its holder asked for a new link, after this one had ended."""


class EmployeeLink(Base):
    """Which person an employee is, until `ended_at`; made through the link of an invitation."""

    __tablename__ = "employee_links"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID]
    person_id: Mapped[UUID]
    invitation_id: Mapped[UUID]
    linked_at: Mapped[datetime.datetime]
    ended_at: Mapped[datetime.datetime | None]
    awaits_household: Mapped[bool] = mapped_column(default=False, server_default="false")
    """Whether the household has yet to confirm the account; until then it shows no record."""


class SignedCertificate(Base):
    """A withholding certificate as it was issued; the record has its `entries` until `ended_at`."""

    __tablename__ = "signed_certificates"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID]
    jurisdiction: Mapped[str] = mapped_column(CHAR(2))
    """`US` for Form W-4, else the state."""

    form: Mapped[str]
    law_year: Mapped[int] = mapped_column(SmallInteger)
    rulebook_version: Mapped[str]
    wording: Mapped[str]
    """The version of the wording in which it was asked."""

    language: Mapped[str]
    asked: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    answered: Mapped[dict[str, str]] = mapped_column(JSONB)
    entries: Mapped[dict[str, Any]] = mapped_column(JSONB)
    signed_name: Mapped[str]
    signed_on: Mapped[datetime.date]
    signed_at: Mapped[datetime.datetime]
    person_id: Mapped[UUID | None]
    invitation_id: Mapped[UUID | None]
    address: Mapped[str | None]
    request_id: Mapped[str | None]
    ended_at: Mapped[datetime.datetime | None]
