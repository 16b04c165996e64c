"""The headings of a year's lines by code: name, payer, agency and category, as the year's law has them."""

import functools
from collections.abc import Collection, Mapping
from typing import Final

from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.heading import Heading
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of

_NO_HEADINGS: Final[Mapping[str, Heading]] = {}


def headings_of(year: int, codes: Collection[str]) -> dict[str, Heading]:
    """Return the headings of these codes; codes that the law of the year doesn't have are left out.

    A federal line that a state's law adds, such as a credit reduction, is found only among codes of that state.
    """
    known = dict(_federal(year))
    for state in sorted({code[:2] for code in codes} & STATES.keys()):
        known.update(_of_state(year, state))
    return {code: known[code] for code in codes if code in known}


@functools.cache
def _federal(year: int) -> Mapping[str, Heading]:
    try:
        rulebook = rulebook_of(year)
    except TaxInputError:
        return _NO_HEADINGS
    tax = rulebook.income_tax
    headings = (tax.heading, tax.supplemental_heading, *(line.heading for line in rulebook.contributions))
    return {heading.code: heading for heading in headings}


@functools.cache
def _of_state(year: int, state: str) -> Mapping[str, Heading]:
    try:
        rules = rulebook_of(year).state(state)
    except TaxInputError:
        return _NO_HEADINGS
    headings = {line.code: line.heading for line in rules.contributions}
    headings |= {tax.code: tax.heading for tax in rules.local_taxes.taxes}
    if rules.income_tax is not None:
        headings[rules.income_tax.code] = rules.income_tax.heading
    return headings
