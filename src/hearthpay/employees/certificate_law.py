"""What a record's certificate and places mean under the law of a day, however they are spelled."""

import datetime
from collections.abc import Collection, Mapping

from hearthpay.employees.certificates import CertificateEntry
from hearthpay.taxes import TaxInputError, rulebook_for


def choices_meant(
    state: str, entries: Mapping[str, CertificateEntry], on: datetime.date
) -> dict[str, CertificateEntry]:
    """Return the entries of a state's certificate, each choice under the one name that the state's form has for it.

    What the form doesn't know stays as it is. Raises `TaxInputError` for a state or a year without rules.
    """
    tax = rulebook_for(on).state(state).income_tax
    meant = dict(entries)
    for name, value in entries.items():
        known = None if tax is None else tax.form.fields.get(name)
        if tax is None or known is None or known.kind != "choice":
            continue
        try:
            chosen = tax.form.read({name: value})[name]
        except TaxInputError:
            continue
        if chosen is not None:
            meant[name] = chosen
    return meant


def choosing_entries(state: str, on: datetime.date) -> frozenset[str]:
    """Return the entries of a state's certificate that choose places with their own tax.

    Raises `TaxInputError` for a state or a year without rules.
    """
    return rulebook_for(on).state(state).local_taxes.certificate_fields


def places_in_force(
    state: str, localities: Collection[str], entries: Mapping[str, CertificateEntry], on: datetime.date
) -> tuple[str, ...] | None:
    """Return the codes of the places whose tax is withheld, however they are chosen; None if the engine refuses the
    record.

    Raises `TaxInputError` for a state or a year without rules.
    """
    rules = rulebook_for(on).state(state)
    try:
        certificate = {} if rules.income_tax is None else rules.income_tax.form.read(entries)
        certificate, taxes = rules.local_taxes.choose(tuple(localities), certificate, on)
    except TaxInputError:
        return None
    within = [each.locality for each in rules.local_taxes.places if certificate.get(each.field) == each.value]
    return tuple(dict.fromkeys([*(tax.locality for tax in taxes), *within]))
