"""Tables of bank accounts, debit authorizations, and payments in progress."""

import datetime
from uuid import UUID

from sqlalchemy import CHAR, BigInteger, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class BankAccount(Base):
    """What is known of an account besides its numbers, which are in the vault."""

    __tablename__ = "bank_accounts"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID | None]
    account_type: Mapped[str]
    bank_name: Mapped[str | None]
    last_four: Mapped[str]
    status: Mapped[str]
    verification: Mapped[str]
    reason: Mapped[str | None]
    simulated_answer: Mapped[str | None]
    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]


class AccountChange(Base):
    """An account that an employee asked to be paid to; its numbers are encrypted, and erased once it is connected."""

    __tablename__ = "account_changes"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID]
    status: Mapped[str]
    account_type: Mapped[str]
    last_four: Mapped[str]
    replaces: Mapped[UUID | None]
    bank_account_id: Mapped[UUID | None]
    numbers: Mapped[bytes | None]
    nonce: Mapped[bytes | None]
    key_id: Mapped[str | None]
    asked_at: Mapped[datetime.datetime]
    effective_at: Mapped[datetime.datetime]
    needs_word: Mapped[bool] = mapped_column(default=False)
    word_given_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    word_given_by: Mapped[UUID | None] = mapped_column(default=None)
    stopped_at: Mapped[datetime.datetime | None] = mapped_column(default=None)
    ended_at: Mapped[datetime.datetime | None]


class Authorization(Base):
    """A household's authorization to debit its account, with the version of the text it agreed to."""

    __tablename__ = "ach_authorizations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    bank_account_id: Mapped[UUID]
    authorized_by_kind: Mapped[str]
    authorized_by: Mapped[UUID | None]
    request_id: Mapped[str | None]
    text_version: Mapped[str]
    authorized_at: Mapped[datetime.datetime]
    expires_at: Mapped[datetime.datetime]
    revoked_at: Mapped[datetime.datetime | None]


class StandingAuthorization(Base):
    """The authorization of an enrollment's debits, with who gave it, when and from where; kept forever."""

    __tablename__ = "autopilot_authorizations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    enrollment_id: Mapped[UUID]
    bank_account_id: Mapped[UUID]
    text_version: Mapped[str]
    agreed_text: Mapped[str]
    authorized_by_kind: Mapped[str]
    authorized_by: Mapped[UUID | None]
    address: Mapped[str | None]
    request_id: Mapped[str | None]
    authorized_at: Mapped[datetime.datetime]
    ended_at: Mapped[datetime.datetime | None]
    revoked_at: Mapped[datetime.datetime | None]


class BankEntry(Base):
    """One payment, or a prenote; `amount` is cents."""

    __tablename__ = "bank_entries"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    kind: Mapped[str]
    bank_account_id: Mapped[UUID]
    employee_id: Mapped[UUID | None]
    payroll_id: Mapped[UUID | None]
    paycheck_id: Mapped[UUID | None]
    escrow_movement_id: Mapped[UUID | None]
    amount: Mapped[int] = mapped_column(BigInteger)
    attempt: Mapped[int] = mapped_column(SmallInteger)
    status: Mapped[str]
    send_on: Mapped[datetime.date]
    settle_on: Mapped[datetime.date]
    effective_date: Mapped[datetime.date | None]
    file_id: Mapped[UUID | None]
    trace_number: Mapped[str | None] = mapped_column(CHAR(15))
    return_code: Mapped[str | None]
    reverses: Mapped[UUID | None]
    reversal_reason: Mapped[str | None]
    held_reason: Mapped[str | None]
    held_since: Mapped[datetime.datetime | None]
    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
