"""The table of test clocks."""

import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base

ClockStatus = Literal["ready", "advancing", "internal_failure"]


class HouseholdClockRecord(Base):
    """The time of a sandbox household that has its own clock; all that was due by `stands_at` has been done.

    `created_at`, `requested_at` and `finished_at` are real time, the rest is the household's.
    """

    __tablename__ = "household_clocks"

    employer_id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    sandbox: Mapped[bool]
    created_at: Mapped[datetime.datetime]
    stands_at: Mapped[datetime.datetime]
    status: Mapped[ClockStatus] = mapped_column(Text)
    advanced_from: Mapped[datetime.datetime]
    target: Mapped[datetime.datetime]
    requested_at: Mapped[datetime.datetime]
    finished_at: Mapped[datetime.datetime | None]
    failed_steps: Mapped[int]
