"""The calendar's tables: what a household entered about its duties, and the secret link of its feed."""

import datetime
from uuid import UUID

from sqlalchemy import CHAR, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class DutyMark(Base):
    """The household's mark that it did what an item of its calendar requires."""

    __tablename__ = "duty_marks"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    item_key: Mapped[str]
    done_on: Mapped[datetime.date | None]
    """None if the mark was removed."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]


class FilingChoice(Base):
    """How often a household files under an account, starting with a year."""

    __tablename__ = "filing_choices"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    jurisdiction: Mapped[str] = mapped_column(CHAR(2))
    account: Mapped[str]
    since_year: Mapped[int] = mapped_column(SmallInteger)
    frequency: Mapped[str | None]
    """None if the mark was removed."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]


class AccountClosing(Base):
    """An account that an agency closed for the household."""

    __tablename__ = "closed_accounts"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    jurisdiction: Mapped[str] = mapped_column(CHAR(2))
    account: Mapped[str]
    closed_on: Mapped[datetime.date | None]
    """The last day for which the agency wants reports; None if it is open again."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]


class CalendarLink(Base):
    """The secret link of a household's feed; the token itself is only in the link."""

    __tablename__ = "calendar_links"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    token_hash: Mapped[bytes] = mapped_column(deferred=True)
    """Written but never read: only the database compares it."""

    created_at: Mapped[datetime.datetime]
    revoked_at: Mapped[datetime.datetime | None]
