"""Reads what a state's law requires from its rule files."""

import datetime
from collections.abc import Iterator
from typing import Final, cast, get_args

from hearthpay.jurisdictions.schemas import (
    CertificateEntryItem,
    CertificateItem,
    ChoiceItem,
    EntryKind,
    Jurisdiction,
    LocalityItem,
    ReciprocalState,
    RuleCounts,
    RuleItem,
    Rules,
    SourceItem,
    TaxItem,
)
from hearthpay.taxes import rulebook_for
from hearthpay.taxes.certificates import CertificateField
from hearthpay.taxes.known_law import counts_by_jurisdiction, known_lines
from hearthpay.taxes.local import CertificatePlace, LocalTax
from hearthpay.taxes.messages import parameters, texts
from hearthpay.taxes.money import from_cents, rate_of
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.state import StateIncomeTax, StateRules
from hearthpay.taxes.vocabulary import FinalityStatus
from hearthpay.wire.messages import MessageItem

_ABBREVIATION: Final = 3
"""A code up to this length is an abbreviation, and its first alias the name."""


def jurisdiction_on(state: str, day: datetime.date) -> Jurisdiction:
    """Return what the law of `state`, two capital letters, requires of a household that pays wages on `day`.

    Raises `TaxInputError` for a state or a year without rules.
    """
    rules = rulebook_for(day, "state").state(state, "state")
    return Jurisdiction(
        state=rules.state,
        name=rules.name,
        on=day,
        taxes=list(_taxes(rules, day)),
        certificate=None if rules.income_tax is None else _certificate(rules.income_tax),
        reciprocity=[
            ReciprocalState(residence, agreement.certificate)
            for residence, agreement in rules.reciprocity.items()
        ],
        localities=[
            *(_locality(tax) for tax in rules.local_taxes if tax.in_force(day)),
            *(_place(place) for place in rules.local_taxes.places),
        ],
        limitations=list(texts(rules.limitations)),
        limitation_codes=[MessageItem(each.code, parameters(each)) for each in rules.limitations],
    )


def _taxes(rules: StateRules, day: datetime.date) -> Iterator[TaxItem]:
    tax = rules.income_tax
    if tax is not None:
        version = tax.version(day, None, None)
        yield TaxItem(
            tax.code,
            tax.name,
            "employee",
            tax.agency,
            None,
            None,
            version.effective_from,
            None,
            version.confidence,
            *_finality(rules, tax.code),
        )
    for line in rules.contributions:
        if line.effective_from <= day and (line.effective_to is None or day <= line.effective_to):
            yield TaxItem(
                line.code,
                line.name,
                line.payer,
                line.agency,
                rate_of(line.rate),
                None if line.wage_base is None else from_cents(line.wage_base),
                line.effective_from,
                line.effective_to,
                line.confidence,
                *_finality(rules, line.code),
            )


def _finality(rules: StateRules, code: str) -> tuple[FinalityStatus, str, str | None]:
    known = rules.finality.get(code)
    return ("final", "", None) if known is None else (known.status, known.basis, known.awaited)


def rules_of(year: int, jurisdiction: str | None) -> Rules:
    """Return what is known about a year's law: all of one jurisdiction, or what is awaited in all of them.

    Raises `TaxInputError` for a state or a year without rules.
    """
    rulebook = rulebook_of(year)
    lines = known_lines(rulebook, jurisdiction)
    listed = lines if jurisdiction is not None else tuple(line for line in lines if line.awaited is not None)
    return Rules(
        rulebook.tax_year,
        rulebook.version,
        [
            RuleCounts(each, *(counts[status] for status in get_args(FinalityStatus)))
            for each, counts in counts_by_jurisdiction(lines).items()
        ],
        [
            RuleItem(
                line.jurisdiction,
                line.code,
                line.name,
                line.finality,
                line.basis,
                list(line.figures),
                line.awaited,
                line.confidence,
                [SourceItem(*source) for source in line.sources],
            )
            for line in listed
        ],
    )


def _certificate(tax: StateIncomeTax) -> CertificateItem:
    return CertificateItem(
        tax.form.form,
        tax.household,
        tax.household_note,
        [_entry(entry) for entry in tax.form.fields.values() if entry.kind != "refused"],
    )


def _entry(entry: CertificateField) -> CertificateEntryItem:
    names: dict[str, list[str]] = {value: [] for value in dict.fromkeys(entry.choices.values())}
    for name, value in {**entry.choices, **entry.names}.items():
        if name.casefold() not in {value.casefold(), *(known.casefold() for known in names[value])}:
            names[value].append(name)
    default = entry.default
    if entry.kind == "money" and isinstance(default, int):
        shown: str | bool | float | None = float(from_cents(default))
    else:
        shown = default
    return CertificateEntryItem(
        entry.name,
        cast(EntryKind, entry.kind),
        entry.note or entry.name.replace("_", " "),
        [ChoiceItem(value, others) for value, others in names.items()],
        shown,
    )


def _locality(tax: LocalTax) -> LocalityItem:
    value = tax.certificate_value
    return LocalityItem(
        code=tax.locality,
        name=_name(tax.locality, tax.aliases),
        also_known_as=list(tax.aliases),
        tax_code=tax.code,
        tax_name=tax.name,
        payer=tax.payer,
        rate=tax.method.describe(),
        applies_to=tax.applies_to,
        household=tax.household,
        note=tax.note,
        certificate_entry=tax.certificate_fields[0] if tax.certificate_fields else None,
        certificate_value=None if value is None else str(value),
    )


def _place(place: CertificatePlace) -> LocalityItem:
    return LocalityItem(
        code=place.locality,
        name=_name(place.locality, place.aliases),
        also_known_as=list(place.aliases),
        tax_code=None,
        tax_name=None,
        payer="employee",
        rate="within the state's income tax",
        applies_to="residents",
        household="follows_state",
        note="",
        certificate_entry=place.field,
        certificate_value=place.value,
    )


def _name(code: str, aliases: tuple[str, ...]) -> str:
    spelled = aliases[0] if aliases and len(code) <= _ABBREVIATION else code
    return spelled.replace("-", " ").title()
