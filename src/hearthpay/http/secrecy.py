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

_NAME: Final = re.compile(r"[^\W\d][\w -]*")
_DIGITS: Final = re.compile(r"\d{5}|\d[- ]\d")
_KEY: Final = re.compile(r"hp_(live|test)_", re.IGNORECASE)
_LONGEST_NAME: Final = 80


def names_a_secret(field: str) -> bool:
    """Whether a field of this name would carry a number that the API never takes."""
    return _SECRET_NAME.search(field) is not None


def holds_a_secret(text: str) -> bool:
    """Whether `text` contains nine digits written like a Social Security, taxpayer or routing number."""
    return _SECRET_VALUE.search(text) is not None


def shown_name(field: str) -> str:
    """The name of a field as a refusal may repeat it; what reads like a value in a name's place becomes `…`."""
    if _NAME.fullmatch(field) is None or _DIGITS.search(field) is not None or _KEY.match(field) is not None:
        return "…"
    return field[:_LONGEST_NAME]
