"""The table of papers that were issued: each version with its hash; the bytes are sealed."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import SmallInteger
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
    created_at: Mapped[datetime]
    superseded_by: Mapped[UUID | None]
    """The version that took its place; None: the one in force."""
