"""What the API never takes: Social Security, taxpayer and bank account numbers.

Such numbers are entered in the portal, which keeps them encrypted. A request that carries one by mistake is
refused before anything is stored, and no answer or log line repeats it.
"""

import re
from typing import Final

PORTAL_ONLY: Final = (
    "looks like a Social Security or bank account number, which the API never takes; "
    "let the employee enter it in the portal"
)

_SECRET_NAME: Final = re.compile(
    r"ssn|social_?security|(^|_)(itin|tin|ein)(_|$)|tax_?(payer_?)?id|(account|routing|iban|aba|card)_?(number|no|num)?$|bank",
    re.IGNORECASE,
)
_SECRET_VALUE: Final = re.compile(
    r"(?<![0-9A-Za-z])(\d{3}[- ]\d{2}[- ]\d{4}|\d{2}-\d{7}|\d{9})(?![0-9A-Za-z])"
)


def names_a_secret(field: str) -> bool:
    """Whether a field of this name would carry a number that the API never takes."""
    return _SECRET_NAME.search(field) is not None


def holds_a_secret(text: str) -> bool:
    """Whether `text` contains nine digits written like a Social Security, taxpayer or routing number."""
    return _SECRET_VALUE.search(text) is not None
