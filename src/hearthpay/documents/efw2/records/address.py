"""A postal address in the fields that several records share."""

from hearthpay.documents.efw2.lettering import line_letters
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.employers.commands import PostalAddress

_ZIP = 5


def address_fields(address: PostalAddress | None, prefix: str = "") -> dict[str, Efw2Value]:
    """Return the fields of an address: the street is the delivery address, what is inside it the location."""
    if address is None:
        return {}
    digits = "".join(letter for letter in address.zip if letter.isascii() and letter.isdigit())
    fields = {
        "location_address": line_letters(address.line2 or ""),
        "delivery_address": line_letters(address.line1),
        "city": line_letters(address.city),
        "state_abbreviation": address.state.upper(),
        "zip_code": digits[:_ZIP],
        "zip_code_extension": digits[_ZIP:] if len(digits) == 9 else "",
    }
    return {f"{prefix}{key}": value for key, value in fields.items()}
