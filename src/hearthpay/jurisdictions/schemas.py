"""The API's requests and responses about a state's law."""

import datetime
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hearthpay.taxes.vocabulary import Confidence, FinalityStatus, LocalHouseholdRule
from hearthpay.wire.fields import RequestModel
from hearthpay.wire.messages import MessageItem
from hearthpay.wire.money import Dollars, Rate

EntryKind = Literal["choice", "count", "money", "flag", "text"]


@dataclass(frozen=True, slots=True)
class TaxItem:
    """One tax of the state; income tax has no single rate."""

    code: str
    name: str
    payer: Literal["employee", "employer"]
    agency: str
    rate: Rate | None
    wage_base: Dollars | None
    effective_from: datetime.date
    effective_to: datetime.date | None
    confidence: Confidence
    finality: FinalityStatus = "final"
    """Whether the year's figures are published (`final`), carried on by the law, `provisional` or `unknown`."""

    basis: str = ""
    """The statute that carries the figures on, or why others are used; empty if they are published."""

    awaited: str | None = None
    """The month in which a figure that isn't published came in other years, such as `2026-12`."""


@dataclass(frozen=True, slots=True)
class ChoiceItem:
    """One value of a choice, and the other names by which it is taken, in any case."""

    value: str
    also_known_as: list[str]


@dataclass(frozen=True, slots=True)
class CertificateEntryItem:
    """One entry of `state_withholding`.

    `type` says what it takes: `choice` one of `values`, `count` a whole number, `money` dollars, `flag` true or false,
    `text` any text.
    """

    name: str
    type: EntryKind
    meaning: str
    values: list[ChoiceItem]
    default: str | bool | float | None


@dataclass(frozen=True, slots=True)
class CertificateItem:
    """The state's withholding certificate; entries that nothing here can honour are left out."""

    form: str
    household: Literal["voluntary", "follows_federal", "required", "prohibited"]
    household_note: str
    entries: list[CertificateEntryItem]


@dataclass(frozen=True, slots=True)
class ReciprocalState:
    """A state whose residents are free of this state's income tax once they have filed the certificate."""

    residence_state: str
    certificate: str


@dataclass(frozen=True, slots=True)
class LocalityItem:
    """One local tax; `code`, `name` and each of `also_known_as` is what `locality` of an employee takes.

    `certificate_entry` and `certificate_value` are the entry of the certificate that chooses it as well, if one does.
    Where the place's tax is part of the state's own line it has no code and no name.
    """

    code: str
    name: str
    also_known_as: list[str]
    tax_code: str | None
    tax_name: str | None
    payer: Literal["employee", "employer"]
    rate: str
    """In words, such as `1 % of wages`."""

    applies_to: str
    household: LocalHouseholdRule
    note: str
    certificate_entry: str | None
    certificate_value: str | None


@dataclass(frozen=True, slots=True)
class Jurisdiction:
    """What a state's law asks of a household on a day."""

    state: str
    name: str
    on: datetime.date
    taxes: list[TaxItem]
    certificate: CertificateItem | None
    reciprocity: list[ReciprocalState]
    localities: list[LocalityItem]
    limitations: list[str]
    limitation_codes: list[MessageItem]
    """The limitations again, in the same order, by code: for programs."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """Where a figure of law is published."""

    title: str
    url: str
    date: str


@dataclass(frozen=True, slots=True)
class RuleItem:
    """How final the figures of one line are for a year."""

    jurisdiction: str
    code: str
    name: str
    finality: FinalityStatus
    basis: str
    figures: list[str]
    """Which figures are provisional: `rate`, `wage_base`, `tables`, `weekly_maximum`."""

    awaited: str | None
    confidence: Confidence
    sources: list[SourceItem]


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """How many lines of a jurisdiction are known how far."""

    jurisdiction: str
    final: int
    carried: int
    provisional: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Rules:
    """What is known of a year's law: of one jurisdiction line by line, or of all in sums with what is awaited."""

    tax_year: int
    version: str
    jurisdictions: list[RuleCounts]
    lines: list[RuleItem]


class RulesQuery(RequestModel):
    """Whose rules of which year."""

    state: str | None = Field(
        None, max_length=2, description="A state by its two letters, or US. Default: all."
    )
    year: int | None = Field(
        None, strict=False, ge=1900, le=2200, description="The tax year. Default: this year."
    )
