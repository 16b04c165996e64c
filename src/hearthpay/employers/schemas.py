"""What goes over the wire about households."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast
from uuid import UUID

from pydantic import Field

from hearthpay.employers.models import Employer
from hearthpay.employers.threshold_basis import ASSUME_CROSSED, ThresholdBasis, current_basis
from hearthpay.http.fields import Email, PersonName, RequestModel, StateCode

EinStatus = Literal["none", "pending", "approved"]


class NewEmployer(RequestModel):
    """A household to be created; sandbox or real is decided by the key."""

    first_name: PersonName
    last_name: PersonName
    email: Email
    state: StateCode
    threshold_basis: ThresholdBasis = Field(
        default=ASSUME_CROSSED,
        description="`assume_crossed` charges what waits for a threshold of wages (Social Security and Medicare, FUTA, "
        "unemployment, California's SDI) from the first dollar. `as_paid` charges it once the wages paid have reached "
        "the threshold, back to the first dollar, as the law has it.",
    )


class DeletionQuery(RequestModel):
    """How much of a sandbox household goes."""

    reset: bool = Field(
        default=False,
        strict=False,
        description="Remove the employees and payrolls only; the household itself and its keys stay.",
    )


@dataclass(frozen=True, slots=True)
class EmployerItem:
    """A household as a list shows it."""

    id: UUID
    first_name: str
    last_name: str
    email: str
    state: str
    is_primary: bool
    ein_status: EinStatus
    sandbox: bool
    created_at: datetime
    threshold_basis: ThresholdBasis


@dataclass(frozen=True, slots=True)
class CreatedEmployer(EmployerItem):
    """A household just created."""

    organization_id: UUID


@dataclass(frozen=True, slots=True)
class DeletedEmployer:
    """A sandbox household that is gone, with everything in it."""

    id: UUID
    deleted: Literal[True] = True


@dataclass(frozen=True, slots=True)
class ResetEmployer:
    """A sandbox household that is empty again."""

    id: UUID
    employees_removed: int
    payrolls_removed: int
    reset: Literal[True] = True


def item_of(employer: Employer) -> EmployerItem:
    """The household as a list shows it."""
    return EmployerItem(
        id=employer.id,
        first_name=employer.first_name,
        last_name=employer.last_name,
        email=employer.email,
        state=employer.state,
        is_primary=employer.is_primary,
        ein_status=cast(EinStatus, employer.ein_status),
        sandbox=employer.sandbox,
        created_at=employer.created_at,
        threshold_basis=current_basis(employer.threshold_bases),
    )


def created(employer: Employer) -> CreatedEmployer:
    """The household as the answer to its creation shows it."""
    return CreatedEmployer(
        id=employer.id,
        first_name=employer.first_name,
        last_name=employer.last_name,
        email=employer.email,
        state=employer.state,
        is_primary=employer.is_primary,
        ein_status=cast(EinStatus, employer.ein_status),
        sandbox=employer.sandbox,
        created_at=employer.created_at,
        threshold_basis=current_basis(employer.threshold_bases),
        organization_id=employer.organization_id,
    )
