"""The tables of papers: each version that was issued, with its hash, the bytes sealed; and packages to be made."""

import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import SmallInteger
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, deferred, mapped_column

from hearthpay.database.base import Base


class IssuedDocument(Base):
    """One version of a paper. Nothing of it changes, but that another version takes its place."""

    __tablename__ = "documents"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    kind: Mapped[str]
    subject_id: Mapped[UUID]
    """What it is about: a paycheck, a person's first record, a household."""

    employee_id: Mapped[UUID | None]
    payroll_id: Mapped[UUID | None]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    variant: Mapped[str]
    """Which copy, in which language."""

    version: Mapped[int] = mapped_column(SmallInteger)
    file_name: Mapped[str]
    content_hash: Mapped[bytes]
    """SHA-256 of what is sealed: a salt, the figures and the bytes."""

    sealed_content: Mapped[bytes] = deferred(mapped_column())
    nonce: Mapped[bytes]
    key_id: Mapped[str]
    created_at: Mapped[datetime.datetime]
    superseded_by: Mapped[UUID | None]
    """The version that took its place; None: the one in force."""


class DocumentPackage(Base):
    """A package of a year's papers that the worker makes; of a household and year one at a time. All times are real."""

    __tablename__ = "document_packages"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    tax_year: Mapped[int] = mapped_column(SmallInteger)
    submitter: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """Who uploads the wage file; None: it is not in the package."""

    status: Mapped[str]
    papers: Mapped[int]
    """How many it is to hold, as far as is known."""

    drawn: Mapped[int]
    attempts: Mapped[int] = mapped_column(SmallInteger)
    """How often making it has failed in a row."""

    failure: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    document_id: Mapped[UUID | None]
    requested_at: Mapped[datetime.datetime]
    turn: Mapped[int]
    held_until: Mapped[datetime.datetime | None]
    finished_at: Mapped[datetime.datetime | None]


class PaperSignature(Base):
    """A party's signature under one version of a paper of a hire: the name as typed. It is never changed."""

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
    """Who was signed in; None where the account is gone."""
