"""The document tables: each issued version with its hash, its bytes encrypted, and packages to be made."""

import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import SmallInteger
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, deferred, mapped_column

from hearthpay.database.base import Base


class IssuedDocument(Base):
    """One version of a document. It never changes, except that another version replaces it."""

    __tablename__ = "documents"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    kind: Mapped[str]
    subject_id: Mapped[UUID]
    """The subject: a paycheck, a person's first record, or a household."""

    employee_id: Mapped[UUID | None]
    payroll_id: Mapped[UUID | None]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    variant: Mapped[str]
    """Which copy, and in which language."""

    version: Mapped[int] = mapped_column(SmallInteger)
    file_name: Mapped[str]
    content_hash: Mapped[bytes]
    """SHA-256 of what is encrypted: a salt, the figures and the bytes."""

    sealed_content: Mapped[bytes] = deferred(mapped_column())
    nonce: Mapped[bytes]
    key_id: Mapped[str]
    created_at: Mapped[datetime.datetime]
    superseded_by: Mapped[UUID | None]
    """The version that replaced it; None for the one in force."""


class DocumentPackage(Base):
    """A package of a year's documents, made by the worker; one at a time per household and year. All times are real."""

    __tablename__ = "document_packages"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    submitter: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """Who uploads the wage file; None if it isn't in the package."""

    status: Mapped[str]
    papers: Mapped[int]
    """How many documents it will hold, as far as is known."""

    drawn: Mapped[int]
    attempts: Mapped[int] = mapped_column(SmallInteger)
    """How many attempts in a row have failed."""

    failure: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    document_id: Mapped[UUID | None]
    requested_at: Mapped[datetime.datetime]
    turn: Mapped[int]
    held_until: Mapped[datetime.datetime | None]
    finished_at: Mapped[datetime.datetime | None]


class PaperSignature(Base):
    """A party's signature on one version of a hiring document: the name as typed. It never changes."""

    __tablename__ = "paper_signatures"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    employee_id: Mapped[UUID]
    document_id: Mapped[UUID]
    party: Mapped[str]
    """``household`` or ``employee``."""

    signed_name: Mapped[str]
    signed_at: Mapped[datetime.datetime]
    person_id: Mapped[UUID | None]
    """Who was signed in; None if the account has been deleted."""
