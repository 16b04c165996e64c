"""What goes over the wire about state registrations."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from uuid import UUID

from pydantic import Field

from hearthpay.registrations.accounts import RegistrationType
from hearthpay.registrations.derivation import Registration, RegistrationStatus
from hearthpay.wire.fields import Identifier, RequestModel


class RegistrationsQuery(RequestModel):
    """Of which household, and whether its numbers are wanted in full."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )
    reveal: bool = Field(
        default=False, strict=False, description="Give the numbers in full; each one read is on record."
    )


@dataclass(frozen=True, slots=True)
class StateRegistrationItem:
    """One account or policy of a state, and where the household stands with it."""

    state_code: str
    account_type: RegistrationType
    label: str
    agency: str
    registration_url: str | None
    """Where to register; null where nothing asks for it."""

    account_number_last_four: str | None
    """Null where no number is on file; fewer than four characters of a short number."""

    status: RegistrationStatus
    required: bool


@dataclass(frozen=True, slots=True)
class RevealedRegistrationItem(StateRegistrationItem):
    """The same with the number in full, which no log of the item shows."""

    account_number: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class StateRegistrations:
    """A household's registrations."""

    employer_id: UUID
    items: list[StateRegistrationItem]


@dataclass(frozen=True, slots=True)
class RevealedRegistrations:
    """A household's registrations with the numbers in full."""

    employer_id: UUID
    items: list[RevealedRegistrationItem]


def item_of(row: Registration) -> StateRegistrationItem:
    """Return a row as the API tells it, without its number."""
    return StateRegistrationItem(
        state_code=row.state,
        account_type=row.account_type,
        label=row.label,
        agency=row.agency,
        registration_url=row.url,
        account_number_last_four=row.last_four,
        status=row.status,
        required=row.required,
    )


def revealed_item_of(row: Registration, numbers: Mapping[tuple[str, str], str]) -> RevealedRegistrationItem:
    """Return a row with its number in full; ``numbers`` holds those on file, by state and number id."""
    told = asdict(item_of(row))
    return RevealedRegistrationItem(**told, account_number=numbers.get((row.state, row.number_id)))
