"""Record RE: the household as employer of the year's wages."""

from typing import Final

from hearthpay.documents.efw2.lettering import line_letters
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.documents.efw2.records.address import address_fields
from hearthpay.documents.efw2.submission import Submission, digits_of

HOUSEHOLD: Final = "H"
"""Employment code of household employees."""

_NONE_APPLY: Final = "N"


def employer_record(submission: Submission) -> dict[str, Efw2Value]:
    """Return the fields of record RE; the contact is always the employer's own, also if someone else sends it."""
    household = submission.household
    email = household.email or ""
    return {
        "tax_year": str(submission.tax_year),
        "agent_indicator_code": " ",
        "ein": household.ein or "",
        "terminating_business_indicator": "1" if submission.terminating else "0",
        "employer_name": line_letters(household.name),
        **address_fields(household.address),
        "kind_of_employer": _NONE_APPLY,
        "employment_code": HOUSEHOLD,
        "tax_jurisdiction_code": " ",
        "third_party_sick_pay_indicator": "0",
        "contact_name": line_letters(household.contact_name or household.name),
        "contact_phone_number": digits_of(household.phone or ""),
        "contact_email": email if email.isascii() and email.isprintable() else "",
    }
