"""Record RA: who sends the file, and the contact for the SSA."""

from typing import Final

from hearthpay.documents.efw2.lettering import line_letters
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.documents.efw2.records.address import address_fields
from hearthpay.documents.efw2.submission import Submission, digits_of

_OFF_THE_SHELF: Final = "99"
"""The software code of a program that its user hasn't written."""


def submitter_record(submission: Submission) -> dict[str, Efw2Value]:
    """Return the fields of record RA."""
    household, submitter = submission.household, submission.submitter
    contact, phone, email = submission.contact
    name = line_letters(submitter.name or household.name)
    return {
        "ein": submitter.ein or household.ein or "",
        "user_id": (submitter.user_id or "").upper(),
        "resub_indicator": "0",
        "software_code": _OFF_THE_SHELF,
        "company_name": name,
        **address_fields(submission.sender_address),
        "submitter_name": name,
        **address_fields(submission.sender_address, "submitter_"),
        "contact_name": line_letters(contact),
        "contact_phone_number": digits_of(phone),
        "contact_email": email,
        "preparer_code": submitter.preparer_code,
    }
