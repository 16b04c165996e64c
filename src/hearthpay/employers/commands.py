"""Commands of the household services, in plain values that the interfaces have parsed."""

import datetime
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from hearthpay.employers.threshold_basis import ASSUME_CROSSED, ThresholdBasis
from hearthpay.time_zones import TimeZone
from hearthpay.unchanged import UNCHANGED, Unchanged
from hearthpay.wire.metadata import Metadata, MetadataChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class PostalAddress:
    """A mailing address in the United States, with field names as in the database."""

    line1: str
    city: str
    state: str
    zip: str
    line2: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateEmployer:
    """Create a household, real or sandbox like the actor; a real one needs an email address."""

    first_name: str
    last_name: str
    state: str
    email: str | None = None
    address: PostalAddress | None = None
    threshold_basis: ThresholdBasis = ASSUME_CROSSED
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEmployer:
    """Change a household's settings; what is UNCHANGED stays as it is, and an address changes as a whole."""

    first_name: str | Unchanged = UNCHANGED
    last_name: str | Unchanged = UNCHANGED
    email: str | Unchanged | None = UNCHANGED
    state: str | Unchanged = UNCHANGED
    address: PostalAddress | Unchanged | None = UNCHANGED
    phone: str | Unchanged | None = UNCHANGED
    """Ten digits."""

    time_zone: TimeZone | Unchanged | None = UNCHANGED
    """None: the usual one of its state."""

    threshold_basis: ThresholdBasis | Unchanged = UNCHANGED
    metadata: MetadataChanges | Unchanged | None = UNCHANGED
    """None: none any more."""


Sort = Literal["payday", "name"]
"""The orders of a list of households besides the newest first."""


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Where a list of households continues.

    `part` is the list that it belongs to: newest first, by name, by payday (of households with one, then of those
    without), or what a search found by payday. `after` is the last household shown, or for `paid` the payroll or
    enrollment of its payday. `day` is that payday.
    """

    part: Literal["newest", "name", "paid", "unpaid", "found"]
    after: UUID
    day: datetime.date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHouseholds:
    """List households: at most `limit` after a place, newest first or sorted, all or those that the words find and
    that have the metadata.
    """

    place: ListPlace | None = None
    limit: int = 25
    sort: Sort | None = None
    words: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
