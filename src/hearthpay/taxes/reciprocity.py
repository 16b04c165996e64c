"""Reciprocity between the work state and the state of residence: the certificate that the employee files."""

from hearthpay.taxes.rulebook import rulebook_of


def reciprocity_certificate(work_state: str, residence_state: str, tax_year: int) -> str | None:
    """Return the name of the certificate that exempts a resident from the work state's income tax.

    None if the two states have no agreement, or are the same. Raises `TaxInputError` for a state or year without
    rules.
    """
    if work_state == residence_state:
        return None
    agreement = rulebook_of(tax_year).state(work_state).reciprocity.get(residence_state)
    return None if agreement is None else agreement.certificate
