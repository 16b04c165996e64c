"""Tables of organizations and API keys."""

import datetime
from uuid import UUID

from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class Organization(Base):
    """An account: a family, an agency or a company, with one household or many.

    `lifted_limits` are the plan's limits that the operator replaced: by name, a whole number or None for no limit.
    """

    __tablename__ = "organizations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str]
    created_at: Mapped[datetime.datetime]
    plan: Mapped[str]
    lifted_limits: Mapped[dict[str, int | None]] = mapped_column(JSONB)
    frozen_until: Mapped[datetime.datetime | None] = mapped_column(default=None)
    unfrozen_at: Mapped[datetime.datetime | None] = mapped_column(default=None)


class ApiKeyRecord(Base):
    """An API key as stored: its hash, what it may do and the household it remembers.

    It is refused from `expires_at` on. `confined`: it can access only its own household. `last_used_at` is exact to
    a few minutes. `made_by` is the member who created it; None: the operator, or before creators were recorded.
    """

    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID | None]
    mode: Mapped[str]
    scopes: Mapped[list[str]]
    key_hash: Mapped[bytes]
    last_four: Mapped[str]
    created_at: Mapped[datetime.datetime]
    revoked_at: Mapped[datetime.datetime | None]
    expires_at: Mapped[datetime.datetime | None]
    confined: Mapped[bool]
    last_used_at: Mapped[datetime.datetime | None]
    made_by: Mapped[UUID | None] = mapped_column(default=None)
