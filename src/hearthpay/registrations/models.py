"""The table of state registrations: what a household entered about an agency's number; the vault keeps the number."""

import datetime
from uuid import UUID

from sqlalchemy import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class StateRegistration(Base):
    """A number of a state's agency that a household has or has applied for."""

    __tablename__ = "state_registrations"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    state: Mapped[str] = mapped_column(CHAR(2))
    number_id: Mapped[str]
    """The number's name in the file of its state (`hearthpay.registrations.accounts.NumberFormat`)."""

    applied_on: Mapped[datetime.date | None]
    """When the household said that it applied; None if it never did."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
