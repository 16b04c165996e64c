"""The ledgers of tax payments and filings. Rows are only added: what is reversed is a row that names the other."""

import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CHAR, BigInteger
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class TaxPayment(Base):
    """What was paid to an agency for a period of an account, or the reversal of such a payment."""

    __tablename__ = "tax_payments"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    agency: Mapped[str]
    """Its id in `rules/agencies.toml`."""

    jurisdiction: Mapped[str] = mapped_column(CHAR(2))
    account: Mapped[str]
    period: Mapped[str]
    period_start: Mapped[datetime.date]
    period_end: Mapped[datetime.date]
    item_key: Mapped[str | None]
    """The item of the calendar that it was for when it was recorded, if there was one."""

    amount: Mapped[int] = mapped_column(BigInteger)
    """In cents; below zero for a reversal."""

    paid_on: Mapped[datetime.date]
    method: Mapped[str]
    confirmation: Mapped[str | None]
    actor_kind: Mapped[str]
    actor_id: Mapped[UUID | None]
    reverses: Mapped[UUID | None]
    created_at: Mapped[datetime.datetime]


class FilingRecord(Base):
    """What was filed for an item of the calendar, with its figures then; or that this was reversed."""

    __tablename__ = "filings"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    item_key: Mapped[str]
    filed_on: Mapped[datetime.date]
    confirmation: Mapped[str | None]
    figures: Mapped[dict[str, Any]] = mapped_column(JSONB)
    """As `figures.AsFiled` writes them."""

    actor_kind: Mapped[str]
    actor_id: Mapped[UUID | None]
    reverses: Mapped[UUID | None]
    created_at: Mapped[datetime.datetime]
