"""The API's requests and responses about households."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, cast
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from hearthpay.employers.commands import ChangeEmployer, CreateEmployer, PostalAddress
from hearthpay.employers.models import Employer
from hearthpay.employers.threshold_basis import ASSUME_CROSSED, ThresholdBasis, current_basis
from hearthpay.time_zones import TimeZone
from hearthpay.wire.answer_fields import CreatedAt
from hearthpay.wire.fields import Email, PersonName, RequestModel, StateCode, Text
from hearthpay.wire.metadata import (
    ON_CHANGE,
    ON_CREATION,
    MetadataChangesField,
    MetadataItem,
    NewMetadataField,
    merged,
)
from hearthpay.wire.metadata import item_of as metadata_item

EinStatus = Literal["none", "pending", "approved"]

_PHONE: Final = re.compile(r"\(?(\d{3})\)?[ .-]?(\d{3})[ .-]?(\d{4})", re.ASCII)
_POSTAL_CODE: Final = re.compile(r"\d{5}(-\d{4})?", re.ASCII)


def _read_zip(value: object) -> str:
    if not isinstance(value, str) or _POSTAL_CODE.fullmatch(value.strip()) is None:
        raise PydanticCustomError("zip_form", "Enter a ZIP code, like 94110.")
    return value.strip()


ZipCode = Annotated[
    str,
    BeforeValidator(_read_zip),
    WithJsonSchema({"type": "string", "pattern": r"^\d{5}(-\d{4})?$", "examples": ["94110"]}),
]
"""A ZIP code, with or without its four-digit extension."""


def _read_phone(value: object) -> str:
    found = _PHONE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("phone_form", "Enter a phone number with ten digits, like 415-555-0134.")
    return "".join(found.groups())


PhoneNumber = Annotated[
    str, BeforeValidator(_read_phone), WithJsonSchema({"type": "string", "examples": ["415-555-0134"]})
]
"""A US phone number."""


class Address(RequestModel):
    """A mailing address in the United States."""

    line1: Annotated[str, Text(longest=100)]
    """Street and number."""

    line2: Annotated[str, Text(longest=100)] | None = None
    """Apartment, suite or floor."""

    city: Annotated[str, Text(longest=100)]
    """City or town, without the state."""

    state: StateCode
    """The address's state: two letters."""

    zip: ZipCode
    """The ZIP code, with or without its four-digit extension."""

    def to_command(self) -> PostalAddress:
        """Return the invitation in plain values."""
        return PostalAddress(**dict(self))


class NewEmployer(RequestModel):
    """A household to be created; sandbox or real is decided by the key."""

    first_name: PersonName
    """The employer's legal first name."""

    last_name: PersonName
    """The employer's legal last name."""

    email: Email | None = Field(
        default=None, description="Required of a real household; a sandbox one may have none."
    )
    state: StateCode
    """Where the household is: two letters. Employees work there unless their `work_state` says otherwise."""

    address: Address | None = None
    """The mailing address, as it stands on pay stubs and tax forms; left out, forms can't be issued yet."""

    threshold_basis: ThresholdBasis = Field(
        default=ASSUME_CROSSED,
        description="`assume_crossed` charges the taxes that depend on a wage threshold (Social Security and Medicare, "
        "FUTA, unemployment, California's SDI) from the first dollar. `as_paid` charges them once the wages paid have "
        "reached the threshold, back to the first dollar, as the law has it.",
    )
    metadata: NewMetadataField = Field(default_factory=dict, description=ON_CREATION)

    def to_command(self) -> CreateEmployer:
        """Return the invitation in plain values."""
        address = None if self.address is None else self.address.to_command()
        return CreateEmployer(**dict(self) | {"address": address, "metadata": merged({}, self.metadata)})


def _kept(description: str | None = None) -> Any:
    """Return a field that may be left out but is never null; what is left out is never read (`model_fields_set`)."""
    return Field(default_factory=lambda: None, description=description)


class EmployerChanges(RequestModel):
    """New settings of a household; what is left out stays as it is."""

    first_name: PersonName = _kept()
    """The employer's legal first name."""

    last_name: PersonName = _kept()
    """The employer's legal last name."""

    email: Email | None = Field(default=None, description="Null takes it out, of a sandbox household only.")
    state: StateCode = _kept(
        "Where employees work who are added from now on without a `work_state`; those there are stay where they are."
    )
    phone: PhoneNumber | None = Field(
        default=None, description="Ten digits, for pay stubs and notices; null takes it out."
    )
    time_zone: TimeZone | None = Field(
        default=None,
        description="Where times on pages and in emails are shown; null takes the usual time zone of its state. "
        "Deadlines stay in US Eastern time.",
    )
    address: Address | None = Field(default=None, description="As a whole; null takes it out.")
    threshold_basis: ThresholdBasis = _kept(
        "Holds for this tax year and those to come; earlier years that were paid stay as they are."
    )
    metadata: MetadataChangesField | None = Field(default=None, description=ON_CHANGE)

    def to_command(self) -> ChangeEmployer:
        """Return the same in plain values: what was left out stays unchanged."""
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        if self.address is not None:
            sent["address"] = self.address.to_command()
        return ChangeEmployer(**sent)


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
    """The household's id, which other requests name `employer_id`."""

    employer_id: UUID
    """Identifies the household, with the same value as `id`."""

    first_name: str
    """The employer's first name."""

    last_name: str
    """The employer's last name."""

    email: str | None
    """None of a sandbox household that was created without one."""

    state: str
    """The household's state: two letters."""

    is_primary: bool
    """Whether it is the first household of the organization in its mode."""

    ein_status: EinStatus
    """`none`: the household has no employer identification number on file. `pending`: it has applied for one.
    `approved`: the number is on file."""

    sandbox: bool
    """Whether it is a test household."""

    created_at: CreatedAt
    threshold_basis: ThresholdBasis
    """When taxes that depend on a wage threshold are charged: from the first dollar (`assume_crossed`), or once the
    wages paid have reached it (`as_paid`)."""
    metadata: MetadataItem


@dataclass(frozen=True, slots=True)
class AddressItem:
    """A mailing address in the United States."""

    line1: str
    """Street and number."""

    line2: str | None
    """Apartment, suite or floor; null if there is none."""

    city: str
    """City or town, without the state."""

    state: str
    """The address's state: two letters."""

    zip: str
    """The ZIP code, with or without its four-digit extension."""


@dataclass(frozen=True, slots=True)
class EmployerDetail(EmployerItem):
    """A household with its mailing address, phone number and time zone."""

    address: AddressItem | None
    """The mailing address; null if none is on file."""

    phone: str | None
    """The ten digits of a US phone number; null if none is on file."""

    time_zone: TimeZone
    """Its time zone: the one that was set, or the usual one of its state."""


@dataclass(frozen=True, slots=True)
class CreatedEmployer(EmployerDetail):
    """A household just created."""

    organization_id: UUID
    """The organization that the household belongs to."""


@dataclass(frozen=True, slots=True)
class DeletedEmployer:
    """A sandbox household that is gone, with everything in it."""

    id: UUID
    """The household that was deleted."""

    deleted: Literal[True] = True
    """Always `true`."""


@dataclass(frozen=True, slots=True)
class ResetEmployer:
    """A sandbox household that is empty again."""

    id: UUID
    """The household that was emptied."""

    employees_removed: int
    """How many employees were removed."""

    payrolls_removed: int
    """How many payrolls were removed."""

    reset: Literal[True] = True
    """Always `true`."""


def item_of(employer: Employer) -> EmployerItem:
    """Return the household as a list shows it."""
    return EmployerItem(**employer_json(employer))


def detail_of(employer: Employer) -> EmployerDetail:
    """Return the household with all its details."""
    return EmployerDetail(
        **employer_json(employer),
        address=address_of(employer),
        phone=employer.phone,
        time_zone=zone_name_of(employer),
    )


def created(employer: Employer) -> CreatedEmployer:
    """Return the household as the answer to its creation shows it."""
    return CreatedEmployer(
        **employer_json(employer),
        address=address_of(employer),
        phone=employer.phone,
        time_zone=zone_name_of(employer),
        organization_id=employer.organization_id,
    )


def employer_json(employer: Employer) -> dict[str, Any]:
    """Return the fields of `EmployerItem`."""
    return {
        "id": employer.id,
        "employer_id": employer.id,
        "first_name": employer.first_name,
        "last_name": employer.last_name,
        "email": employer.email,
        "state": employer.state,
        "is_primary": employer.is_primary,
        "ein_status": cast(EinStatus, employer.ein_status),
        "sandbox": employer.sandbox,
        "created_at": employer.created_at,
        "threshold_basis": current_basis(employer.threshold_bases),
        "metadata": metadata_item(employer.metadata_),
    }


def zone_name_of(employer: Employer) -> TimeZone:
    """Return the IANA name of the household's time zone."""
    return cast(TimeZone, employer.zone.key)


def address_of(employer: Employer) -> AddressItem | None:
    """Return the household's mailing address, or None if none is on record."""
    return None if employer.address is None else AddressItem(**employer.address)
