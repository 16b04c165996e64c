"""The API's requests and responses about a state's law."""

import datetime
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hearthpay.taxes.vocabulary import FinalityStatus, LocalHouseholdRule
from hearthpay.wire.answer_fields import (
    AgencyName,
    FigureConfidence,
    Limitations,
    LineCode,
    LineName,
    LinePayer,
    SourceDate,
    SourceTitle,
    SourceUrl,
    YearOfTaxes,
)
from hearthpay.wire.fields import RequestModel
from hearthpay.wire.messages import MessageItem
from hearthpay.wire.money import Dollars, Rate

EntryKind = Literal["choice", "count", "money", "flag", "text"]


@dataclass(frozen=True, slots=True)
class TaxItem:
    """One tax of the state; income tax has no single rate."""

    code: LineCode
    name: LineName
    payer: LinePayer
    agency: AgencyName
    rate: Rate | None
    """Null for taxes by a table, such as income tax."""

    wage_base: Dollars | None
    """Wages of the year up to which the tax is charged; null if there is no limit."""

    effective_from: datetime.date
    """First pay date to which these figures apply."""

    effective_to: datetime.date | None
    """Last pay date to which they apply; null if no end is known."""

    confidence: FigureConfidence
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
    """What `state_withholding` stores and answers."""

    also_known_as: list[str]
    """Other spellings that are accepted, in any case."""


@dataclass(frozen=True, slots=True)
class CertificateEntryItem:
    """One entry of `state_withholding`.

    `type` says what it takes: `choice` one of `values`, `count` a whole number, `money` dollars, `flag` true or false,
    `text` any text.
    """

    name: str
    """The key in `state_withholding`."""

    type: EntryKind
    """What it takes: one of `values` (`choice`), a whole number (`count`), dollars (`money`), true or false (`flag`),
    or any `text`."""

    meaning: str
    """What the entry is on the form, in English."""

    values: list[ChoiceItem]
    """What a `choice` may be; empty for other types."""

    default: str | bool | float | None
    """What is used if the entry is left out; null if there is no default."""


@dataclass(frozen=True, slots=True)
class CertificateItem:
    """The state's withholding certificate; entries that nothing here can honour are left out."""

    form: str
    """The form's name, such as `DE 4`."""

    household: Literal["voluntary", "follows_federal", "required", "prohibited"]
    """Whether a household withholds the state's income tax: it must (`required`), only by agreement (`voluntary`), if
    federal tax is withheld (`follows_federal`), or never (`prohibited`)."""

    household_note: str
    """What the state says of household employers, in English; may be empty."""

    entries: list[CertificateEntryItem]
    """The entries that `state_withholding` takes."""


@dataclass(frozen=True, slots=True)
class ReciprocalState:
    """A state whose residents are free of this state's income tax once they have filed the certificate."""

    residence_state: str
    """Where the employee lives: two letters."""

    certificate: str
    """The form that frees the employee from this state's income tax."""


@dataclass(frozen=True, slots=True)
class LocalityItem:
    """One local tax; `code`, `name` and each of `also_known_as` is what `locality` of an employee takes.

    `certificate_entry` and `certificate_value` are the entry of the certificate that chooses it as well, if one does.
    Where the place's tax is part of the state's own line it has no code and no name.
    """

    code: str
    """What `locality` of an employee takes, and `localities` shows."""

    name: str
    """The place's name; `locality` takes it too."""

    also_known_as: list[str]
    """Other names that `locality` takes, in any case."""

    tax_code: str | None
    """Code of the tax's line on paychecks; null if the tax is part of the state's own line."""

    tax_name: str | None
    """Name of the tax; null if it is part of the state's own line."""

    payer: LinePayer
    rate: str
    """In words, such as `1 % of wages`."""

    applies_to: str
    """Whom it applies to: who lives there, who works there, or both."""

    household: LocalHouseholdRule
    """Whether a household must withhold or pay it: it must (`required`), only because the place was chosen
    (`voluntary`), or if the state's tax is withheld (`follows_state`)."""

    note: str
    """What to know about it, in English; may be empty."""

    certificate_entry: str | None
    """The entry of the state's certificate that also chooses the place; null if none does."""

    certificate_value: str | None
    """The value of that entry; null if there is none."""


@dataclass(frozen=True, slots=True)
class Jurisdiction:
    """What a state's law asks of a household on a day."""

    state: str
    """The state: two letters, in upper case."""

    name: str
    """The state's name in English."""

    on: datetime.date
    """The pay date to which the law applies."""

    taxes: list[TaxItem]
    """The state's taxes on household wages."""

    certificate: CertificateItem | None
    """The state's withholding certificate; null in states without income tax."""

    reciprocity: list[ReciprocalState]
    """States with which the state has a reciprocal agreement; empty if there are none."""

    localities: list[LocalityItem]
    """Places with a tax of their own; empty if there are none."""

    limitations: Limitations
    limitation_codes: list[MessageItem]
    """The limitations again, in the same order, by code: for programs."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """Where a figure of law is published."""

    title: SourceTitle
    url: SourceUrl
    date: SourceDate


@dataclass(frozen=True, slots=True)
class RuleItem:
    """How final the figures of one line are for a year."""

    jurisdiction: str
    """`US`, or a state's two letters."""

    code: LineCode
    name: LineName
    finality: FinalityStatus
    """`final`: the year's figures are published. `carried`: the law carries them on. `provisional`: figures in force
    are used until the year's own are published. `unknown`: the line can't be calculated yet."""

    basis: str
    """The statute that carries the figures on, or why others are used; empty if they are published."""

    figures: list[str]
    """Which figures are provisional: `rate`, `wage_base`, `tables`, `weekly_maximum`."""

    awaited: str | None
    """The month in which the figures came in other years, such as `2026-12`; null if nothing is awaited."""

    confidence: FigureConfidence
    sources: list[SourceItem]
    """Where the figures are published."""


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """How many lines of a jurisdiction are known how far."""

    jurisdiction: str
    """`US`, or a state's two letters."""

    final: int
    """How many lines have the year's published figures."""

    carried: int
    """How many lines have figures that the law carries on."""

    provisional: int
    """How many lines use figures in force until the year's own are published."""

    unknown: int
    """How many lines can't be calculated yet."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What is known of a year's law: of one jurisdiction line by line, or of all in sums with what is awaited."""

    tax_year: YearOfTaxes
    version: str
    """Fingerprint of the rules; the same version always calculates the same amounts."""

    jurisdictions: list[RuleCounts]
    """How many lines are known how far, by jurisdiction."""

    lines: list[RuleItem]
    """The lines of the requested jurisdiction; without one, those that await a figure."""


class RulesQuery(RequestModel):
    """Whose rules of which year."""

    state: str | None = Field(
        None, max_length=2, description="A state by its two letters, or US. Default: all."
    )
    year: int | None = Field(
        None, strict=False, ge=1900, le=2200, description="The tax year. Default: this year."
    )
