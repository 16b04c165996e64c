"""The table of insurance policies: what a household entered about the policy that a state requires."""

import datetime
from uuid import UUID

from sqlalchemy import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class InsurancePolicy(Base):
    """A household's policy of one kind in one state: the latest, or none if it was removed."""

    __tablename__ = "insurance_policies"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    state: Mapped[str] = mapped_column(CHAR(2))
    kind: Mapped[str]
    carrier: Mapped[str | None]
    """The insurer; None if the entry was removed."""

    policy_number: Mapped[str | None]
    starts_on: Mapped[datetime.date | None]
    ends_on: Mapped[datetime.date | None]
    """The last day of the policy, by which it must be renewed; None if it has no end."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
