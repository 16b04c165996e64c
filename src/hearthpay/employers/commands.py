"""What the services of households are asked to do, in plain values: whichever face was asked has parsed them."""

from dataclasses import dataclass

from hearthpay.employers.threshold_basis import ASSUME_CROSSED, ThresholdBasis
from hearthpay.unchanged import UNCHANGED, Unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class PostalAddress:
    """A postal address in the United States, named as the database keeps it."""

    line1: str
    city: str
    state: str
    zip: str
    line2: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateEmployer:
    """Create a household, real or sandbox as the actor is; a real one needs an email address."""

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
