"""Commands of the employee services, in plain values that the interfaces have parsed."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from hearthpay.employees.salaries import PayType, Salary, Weekday
from hearthpay.employers.commands import PostalAddress
from hearthpay.unchanged import UNCHANGED, Unchanged
from hearthpay.wire.metadata import Metadata, MetadataChanges

PayFrequency = Literal["weekly", "biweekly", "semimonthly", "monthly"]
PaymentMethod = Literal["direct_deposit", "check", "cash"]
PaperLanguage = Literal["en", "es"]
InvitationType = Literal["bank_account", "tax_info"]

CertificateEntries = Mapping[str, Any]
"""Entries of a withholding certificate by their names: booleans, whole numbers, texts, amounts as Decimals; those of
an older form are in a separate mapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddEmployee:
    """Add an employee to a household; amounts in dollars per hour.

    Defaults: the household is the one that the actor remembers, the first day is today, the work state is the
    household's, the state of residence is the work state.
    """

    first_name: str
    last_name: str
    employer_id: UUID | None = None
    email: str | None = None
    pay_type: PayType = "hourly"
    pay_rate: Decimal | None = None
    salary: Salary | None = None
    usual_weekly_hours: Decimal | None = None
    working_days: tuple[Weekday, ...] | None = None
    overtime_rate: Decimal | None = None
    pay_frequency: PayFrequency = "biweekly"
    start_date: datetime.date | None = None
    work_state: str | None = None
    residence_state: str | None = None
    city: str | None = None
    locality: str | None = None
    address: PostalAddress | None = None
    language: PaperLanguage = "en"
    payment_method: PaymentMethod = "check"
    relationship: str = "none"
    birth_year: int | None = None
    lives_in: bool = False
    federal_withholding: CertificateEntries | None = None
    """The whole Form W-4; None if none was given."""

    state_withholding: CertificateEntries | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEmployee:
    """Change an employee's settings; amounts in dollars per hour. What is UNCHANGED stays as it is.

    Only the given entries of the certificates change; None removes an entry, or all of them. An address changes as a
    whole.
    """

    first_name: str | Unchanged = UNCHANGED
    last_name: str | Unchanged = UNCHANGED
    email: str | Unchanged | None = UNCHANGED
    pay_type: PayType | Unchanged = UNCHANGED
    pay_rate: Decimal | Unchanged = UNCHANGED
    salary: Salary | Unchanged = UNCHANGED
    usual_weekly_hours: Decimal | Unchanged | None = UNCHANGED
    working_days: tuple[Weekday, ...] | Unchanged | None = UNCHANGED
    overtime_rate: Decimal | Unchanged | None = UNCHANGED
    pay_frequency: PayFrequency | Unchanged = UNCHANGED
    start_date: datetime.date | Unchanged = UNCHANGED
    work_state: str | Unchanged = UNCHANGED
    residence_state: str | Unchanged = UNCHANGED
    city: str | Unchanged | None = UNCHANGED
    locality: str | Unchanged | None = UNCHANGED
    address: PostalAddress | Unchanged | None = UNCHANGED
    language: PaperLanguage | Unchanged = UNCHANGED
    payment_method: PaymentMethod | Unchanged = UNCHANGED
    relationship: str | Unchanged = UNCHANGED
    birth_year: int | Unchanged | None = UNCHANGED
    lives_in: bool | Unchanged = UNCHANGED
    federal_withholding: CertificateEntries | Unchanged | None = UNCHANGED
    state_withholding: CertificateEntries | Unchanged | None = UNCHANGED
    metadata: MetadataChanges | Unchanged | None = UNCHANGED
    """None: none any more."""


@dataclass(frozen=True, slots=True)
class Invite:
    """Open a link through which an employee enters a number; with ``send_email`` it is sent to the employee."""

    type: InvitationType
    send_email: bool = True
