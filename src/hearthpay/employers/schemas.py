"""What goes over the wire about households."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast
from uuid import UUID

from hearthpay.employers.models import Employer
from hearthpay.http.fields import Email, PersonName, RequestModel, StateCode

EinStatus = Literal["none", "pending", "approved"]


class NewEmployer(RequestModel):
    """A household to be created; sandbox or real is decided by the key."""

    first_name: PersonName
    last_name: PersonName
    email: Email
    state: StateCode


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


@dataclass(frozen=True, slots=True)
class CreatedEmployer(EmployerItem):
    """A household just created."""

    organization_id: UUID


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
        organization_id=employer.organization_id,
    )
