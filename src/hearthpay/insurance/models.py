"""The table of insurance policies: what a household said of the policy that a state asks it to have."""

import datetime
from uuid import UUID

from sqlalchemy import CHAR
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base


class InsurancePolicy(Base):
    """A household's policy of one kind in one state: the latest, or none where it was taken out."""

    __tablename__ = "insurance_policies"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID]
    sandbox: Mapped[bool]
    state: Mapped[str] = mapped_column(CHAR(2))
    kind: Mapped[str]
    carrier: Mapped[str | None]
    """Who insures; None: what was entered is taken back."""

    policy_number: Mapped[str | None]
    starts_on: Mapped[datetime.date | None]
    ends_on: Mapped[datetime.date | None]
    """The last day of the policy, by which it is renewed; None: it goes on."""

    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
