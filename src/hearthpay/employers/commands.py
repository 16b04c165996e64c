"""Commands of the household services, in plain values that the interfaces have parsed."""

from dataclasses import dataclass

from hearthpay.employers.threshold_basis import ASSUME_CROSSED, ThresholdBasis
from hearthpay.unchanged import UNCHANGED, Unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class PostalAddress:
    """A postal address in the United States, with field names as in the database."""

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

    threshold_basis: ThresholdBasis | Unchanged = UNCHANGED
