"""API schemas for state registrations."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Final, Literal, get_args

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from hearthpay.insurance.requirements import PolicyKind
from hearthpay.insurance.service import HouseholdPolicy
from hearthpay.registrations.accounts import RegistrationType
from hearthpay.registrations.derivation import (
    AccountAssessment,
    AccountNeed,
    Registration,
    RegistrationStatus,
)
from hearthpay.security.vault_numbers import shown_ending
from hearthpay.taxes.messages import message
from hearthpay.taxes.money import from_cents
from hearthpay.wire.answer_fields import HouseholdIdentifier
from hearthpay.wire.fields import Identifier, RequestModel
from hearthpay.wire.messages import MessageItem, items_of
from hearthpay.wire.money import Dollars

ListedBesides = Literal["voluntary", "local", "insurance"]

RowType = RegistrationType | PolicyKind
"""An account with an agency, or a kind of insurance policy."""


_POLICY_LABELS: Final[Mapping[PolicyKind, str]] = {
    "workers_compensation": "Workers' compensation policy",
    "disability": "Disability and paid family leave policy",
}


def _read_inclusions(value: object) -> frozenset[str] | None:
    if value is None:
        return None
    names = frozenset(value.split(",")) if isinstance(value, str) else frozenset({""})
    if not names <= set(get_args(ListedBesides)):
        raise PydanticCustomError("inclusion", f"must be of: {', '.join(get_args(ListedBesides))}")
    return names


class RegistrationsQuery(RequestModel):
    """Of which household, and whether its numbers are wanted in full."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )
    reveal: bool = Field(
        default=False, strict=False, description="Give the numbers in full; each one read is on record."
    )
    include: Annotated[frozenset[ListedBesides] | None, BeforeValidator(_read_inclusions)] = Field(
        default=None,
        description="What is listed besides, separated by commas: `voluntary` adds the account for income tax of a "
        "state that leaves it to an agreement with the employee, while it is withheld; `local` those of cities, "
        "counties and school districts whose tax is withheld; `insurance` the policies that a state asks for.",
        json_schema_extra={
            "type": "string",
            "pattern": "^(voluntary|local|insurance)(,(voluntary|local|insurance))*$",
        },
    )


@dataclass(frozen=True, slots=True)
class WagesRequired:
    """Cash wages of a calendar quarter from which a state asks for an account, and what this quarter has paid."""

    quarterly_wages: Dollars
    """Cash wages of a calendar quarter from which the account is required."""

    paid: Dollars
    """Cash wages of the current quarter so far."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something that is filed or paid under an account, again and again."""

    key: str
    """Names it for good, such as `CA/wages-quarterly`: the start of `key` of its items in `GET /tax-calendar`."""

    what: str
    """What is to be done, in English."""

    frequency: str
    """How often: `annual`, `semiannual`, `quarterly` or `monthly`; `payday` or an agency's own frequency, such as
    `semiweekly`, for what follows paydays."""

    next_due_on: datetime.date | None
    """The next day by which it is due, today or later; null where all of the year ahead is done."""


Obligations = Mapping[tuple[str, str], list[Obligation]]
"""The obligations of accounts, by state and account id."""


@dataclass(frozen=True, slots=True)
class RegistrationAssessment:
    """Whether the household needs the account, apart from whether it has one."""

    status: AccountNeed
    """`not_yet`: once the wages of a quarter reach the state's threshold, which `required_from` has too."""

    why: str
    """The reason, in English."""

    why_codes: list[MessageItem]
    """The reason again, by code: for programs."""


@dataclass(frozen=True, slots=True)
class StateRegistrationItem:
    """One account or policy of a state, and where the household stands with it."""

    state_code: str
    """The state: two letters."""

    account_type: RowType
    """What the account is for, such as `withholding` or `sui`, or which policy it is."""

    label: str
    """The same in English, for people."""

    agency: str
    """The agency that keeps the account; of a policy, the carrier, or empty if none was entered."""

    registration_url: str | None
    """Where to register; null where nothing asks for it."""

    account_number_last_four: str | None
    """Null where no number is on file. Four characters of a number with six or more, two of one with four or five."""

    status: RegistrationStatus
    """`registered`: a number is on file. `pending`: the household has applied. `required`: nothing was done yet.
    `not_required`: it isn't needed now."""

    required: bool
    """Whether it is still to be done: `required` or `pending`."""

    required_from: WagesRequired | None
    """From which wages of a quarter on it is owed, while none has reached them; null elsewhere."""

    obligations: list[Obligation]
    """What is filed or paid under this account in the year ahead, the next due first. Empty of an insurance policy."""

    assessment: RegistrationAssessment
    """Whether the household needs the account now, and why."""


@dataclass(frozen=True, slots=True)
class RevealedRegistrationItem(StateRegistrationItem):
    """The same with the number in full, which no log of the item shows."""

    account_number: str | None = field(repr=False)
    """The number in full; null if none is on file."""


@dataclass(frozen=True, slots=True)
class StateRegistrations:
    """A household's registrations."""

    employer_id: HouseholdIdentifier
    items: list[StateRegistrationItem]
    """The accounts, state by state."""


@dataclass(frozen=True, slots=True)
class RevealedRegistrations:
    """A household's registrations with the numbers in full."""

    employer_id: HouseholdIdentifier
    items: list[RevealedRegistrationItem]
    """The accounts, state by state."""


def item_of(row: Registration, obligations: Obligations) -> StateRegistrationItem:
    """Return a row as the API tells it, without its number; ``obligations`` are those of all rows."""
    return StateRegistrationItem(
        state_code=row.state,
        account_type=row.account_type,
        label=row.label,
        agency=row.agency,
        registration_url=row.url,
        account_number_last_four=row.last_four,
        status=row.status,
        required=row.required,
        required_from=None
        if row.required_from is None
        else WagesRequired(from_cents(row.required_from.quarterly_wages), from_cents(row.required_from.paid)),
        obligations=obligations.get((row.state, row.account_id), []),
        assessment=_assessment(row.assessment),
    )


def _assessment(assessment: AccountAssessment) -> RegistrationAssessment:
    return RegistrationAssessment(assessment.need, assessment.reason.text, items_of([assessment.reason]))


def policy_item_of(policy: HouseholdPolicy) -> StateRegistrationItem:
    """Return an insurance policy as the API tells it: who sells it is for the household to choose."""
    required = policy.missing
    details = policy.entered
    number = None if details is None else details.policy_number
    return StateRegistrationItem(
        state_code=policy.state,
        account_type=policy.kind,
        label=_POLICY_LABELS[policy.kind],
        agency="" if details is None else details.carrier or "",
        registration_url=_rules_url(policy) if required else None,
        account_number_last_four=shown_ending(number) if number else None,
        status="registered" if details is not None else "required" if required else "not_required",
        required=required,
        required_from=None,
        obligations=[],
        assessment=_assessment(
            AccountAssessment("needed", message("policy_needed"))
            if policy.needed is not None and policy.needed.need == "required"
            else AccountAssessment("not_needed", message("policy_not_needed"))
        ),
    )


def revealed_policy_item_of(policy: HouseholdPolicy) -> RevealedRegistrationItem:
    """Return the same with the policy's number, which the household entered itself and is no secret."""
    item = policy_item_of(policy)
    fields_shown = {each.name: getattr(item, each.name) for each in fields(item)}
    return RevealedRegistrationItem(
        **fields_shown, account_number=None if policy.entered is None else policy.entered.policy_number
    )


def _rules_url(policy: HouseholdPolicy) -> str | None:
    """Return where the state says what it asks for; None where its source has no address."""
    if policy.needed is None or not policy.needed.rule.sources:
        return None
    return policy.needed.rule.sources[0].url or None


def revealed_item_of(
    row: Registration, obligations: Obligations, numbers: Mapping[tuple[str, str], str]
) -> RevealedRegistrationItem:
    """Return a row with its number in full; ``numbers`` holds those on file, by state and number id."""
    item = item_of(row, obligations)
    fields_shown = {each.name: getattr(item, each.name) for each in fields(item)}
    return RevealedRegistrationItem(**fields_shown, account_number=numbers.get((row.state, row.number_id)))
