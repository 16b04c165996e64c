"""The localities of a state whose payroll taxes are known, for people to look up."""

import datetime
from typing import NamedTuple

from hearthpay.taxes.rulebook import rulebook_for
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence, LocalHouseholdRule, Payer


class Locality(NamedTuple):
    """One local tax that the code ``locality`` or an alias chooses, as of a date."""

    state: str
    locality: str
    aliases: tuple[str, ...]
    code: str
    name: str
    payer: Payer
    rate: str
    """The rate or amount in words, such as ``1 % of wages``."""

    applies_to: str
    """``residents``, ``nonresidents``, ``workers`` (wherever they live), or empty if the name says it."""

    household: LocalHouseholdRule
    note: str
    confidence: Confidence
    effective_from: datetime.date
    effective_to: datetime.date | None
    sources: tuple[Source, ...]


def list_localities(state: str, on: datetime.date) -> tuple[Locality, ...]:
    """Return the local taxes of ``state`` in force on a pay date, in the order of its rule file.

    A place whose tax is part of the state's own line, such as a county of Maryland, has that line's code. Raises
    `TaxInputError` for an unknown state, or a year without rules.
    """
    rules = rulebook_for(on, "on").state(state, "state")
    listed = [
        Locality(
            state=rules.state,
            locality=tax.locality,
            aliases=tax.aliases,
            code=tax.code,
            name=tax.name,
            payer=tax.payer,
            rate=tax.method.describe(),
            applies_to=tax.applies_to,
            household=tax.household,
            note=tax.note,
            confidence=tax.confidence,
            effective_from=tax.effective_from,
            effective_to=tax.effective_to,
            sources=tax.sources,
        )
        for tax in rules.local_taxes
        if tax.in_force(on)
    ]
    if rules.income_tax is not None:
        version = rules.income_tax.version(on, None, None)
        listed += [
            Locality(
                state=rules.state,
                locality=place.locality,
                aliases=place.aliases,
                code=rules.income_tax.code,
                name=rules.income_tax.name,
                payer="employee",
                rate="within the state's method",
                applies_to="residents",
                household="follows_state",
                note=version.note,
                confidence=version.confidence,
                effective_from=version.effective_from,
                effective_to=None,
                sources=version.sources,
            )
            for place in rules.local_taxes.places
        ]
    return tuple(listed)
