"""A mailing address in the fields that several records share."""

import re
from typing import Final

from hearthpay.documents.efw2.lettering import line_letters
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.employers.commands import PostalAddress

_ZIP: Final = 5
_LONGEST: Final = 22
"""Letters of the delivery address and of the location address."""

_INSIDE: Final = re.compile(
    r"[\s,]+((?:apt|apartment|unit|suite|ste|fl|floor|room|rm|bldg)\b\.?.*|#.*)$", re.IGNORECASE
)
"""What follows the street on one line: the part of a building, which belongs in the location address."""


def address_fields(address: PostalAddress | None, prefix: str = "") -> dict[str, Efw2Value]:
    """Return the fields of an address: the street is the delivery address, the unit in the building the location."""
    if address is None:
        return {}
    digits = "".join(letter for letter in address.zip if letter.isascii() and letter.isdigit())
    street, inside = _street_and_inside(address)
    fields = {
        "location_address": line_letters(inside),
        "delivery_address": line_letters(street),
        "city": line_letters(address.city),
        "state_abbreviation": address.state.upper(),
        "zip_code": digits[:_ZIP],
        "zip_code_extension": digits[_ZIP:] if len(digits) == 9 else "",
    }
    return {f"{prefix}{key}": value for key, value in fields.items()}


def _street_and_inside(address: PostalAddress) -> tuple[str, str]:
    """Return the street and the unit; a street too long for its field loses the unit."""
    if address.line2 or len(line_letters(address.line1)) <= _LONGEST:
        return address.line1, address.line2 or ""
    found = _INSIDE.search(address.line1)
    if found is None or found.start() == 0:
        return address.line1, ""
    return address.line1[: found.start()], found.group(1)
