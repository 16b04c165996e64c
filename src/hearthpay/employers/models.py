"""The tables of households."""

import datetime
from collections.abc import Mapping
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import CHAR
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from hearthpay.database.base import Base
from hearthpay.time_zones import time_zone_of


class Employer(Base):
    """A household that employs people; real, or a sandbox one for trying things out."""

    __tablename__ = "employers"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    sandbox: Mapped[bool]
    first_name: Mapped[str]
    last_name: Mapped[str]
    email: Mapped[str | None]
    """A sandbox household may have none."""

    state: Mapped[str] = mapped_column(CHAR(2))
    address: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """`line1`, `line2`, `city`, `state`, `zip`; None until entered."""

    phone: Mapped[str | None]
    """Ten digits, as shown on pay stubs and notices; None until entered."""

    time_zone: Mapped[str | None]
    """IANA name of the zone that the household chose; None: the usual one of its state."""

    is_primary: Mapped[bool]
    ein_status: Mapped[str]
    threshold_bases: Mapped[Mapping[str, str]] = mapped_column(JSONB)
    """The bases by the first tax year to which each applies; empty if the household never chose."""

    created_at: Mapped[datetime.datetime]
    metadata_: Mapped[dict[str, str]] = mapped_column("metadata", JSONB)
    """What clients keep with it; see `hearthpay.wire.metadata`."""

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which its people read times."""
        return time_zone_of(self.state, self.time_zone)


class MetadataEntry(Base):
    """One key of the metadata of a household, an employee or a payroll; the database writes it with the metadata."""

    __tablename__ = "metadata_entries"

    organization_id: Mapped[UUID]
    employer_id: Mapped[UUID] = mapped_column(primary_key=True)
    sandbox: Mapped[bool]
    object_type: Mapped[str]
    object_id: Mapped[UUID] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
