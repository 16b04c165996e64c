"""What the API never accepts: Social Security, taxpayer and bank account numbers.

Such numbers are entered in the portal, which stores them encrypted. A request that contains one by mistake is refused
before anything is stored, and no answer or log line repeats it. `holds_a_secret` guards every stored free text;
`key_holds_a_secret` guards keys that clients make up.
"""

import re
import unicodedata
from typing import Final

PORTAL_ONLY: Final = (
    "looks like a Social Security or bank account number, which the API never takes; "
    "let the employee enter it in the portal"
)

_SECRET_NAME: Final = re.compile(
    r"ssn|social_?security|(^|_)(itin|tin|ein)(_|$)|tax_?(payer_?)?id|(account|routing|iban|aba|card)_?(number|no|num)?$|bank",
    re.IGNORECASE,
)

_MANY_DIGITS: Final = re.compile(r"(?:\d\D*){9}")
# Three, two and four digits. Hyphens and spaces may be mixed; of dots and the like both must be the same:
# "150.00 2026" is an amount and a year. A group of zeros was never issued, nor was the area 666.
_TAXPAYER: Final = re.compile(
    r"(?<!\d)(?!000|666)\d{3}(?:[- ]{1,3}(?!00)\d{2}[- ]{1,3}|( ?[./_·:*] ?)(?!00)\d{2}\1)(?!0000)\d{4}(?!\d)"
)
_EMPLOYER: Final = re.compile(r"(?<!\d)(?<!\d-)\d{2} ?- ?\d{7}(?!\d)")
_LONG_RUN: Final = re.compile(r"(\+?)(?<!\d)(\d{9,})")
_FOURS: Final = re.compile(r"(?<!\d)(?<!\d[- .])\d{4}([- .])\d{4}\1\d{4}(?!\d)")
_ONE_BY_ONE: Final = re.compile(r"(?<!\d)(?:\d[-. ]){8,}\d(?!\d)")

_UUID: Final = re.compile(
    r"(?<![0-9a-z])[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-z])", re.IGNORECASE
)
_ULID: Final = re.compile(r"(?<![0-9a-z])[0-7][0-9a-hjkmnp-tv-z]{25}(?![0-9a-z])", re.IGNORECASE)
# North American numbers: neither area nor exchange begins with 0 or 1.
_PHONE: Final = re.compile(r"1?[2-9]\d{2}[2-9]\d{6}")
_INTERNATIONAL_DIGITS: Final = range(10, 16)  # with the country's; E.164 allows fifteen

_NAME: Final = re.compile(r"[^\W\d][\w -]*")
_DIGITS: Final = re.compile(r"\d{5}|\d[- ]\d")
_KEY: Final = re.compile(r"hp_(live|test)_", re.IGNORECASE)
_LONGEST_NAME: Final = 80


def names_a_secret(field: str) -> bool:
    """Return whether a field of this name would contain a number that the API never accepts."""
    return _SECRET_NAME.search(field) is not None


def holds_a_secret(text: str) -> bool:
    """Return whether `text` contains what looks like a Social Security, taxpayer, employer or bank account number.

    That is nine or more digits in a row, unless they are a phone number (North American, or with a `+`) or part of a
    UUID; three, two and four digits with any separator; and groups of four. Dates, amounts and phone numbers written
    in groups don't count.
    """
    if _MANY_DIGITS.search(text) is None:
        return False
    plain = _UUID.sub(" ", _plain(text))
    return (
        any(not _is_phone(run[1], run[2]) for run in _LONG_RUN.finditer(plain))
        or _TAXPAYER.search(plain) is not None
        or _EMPLOYER.search(plain) is not None
        or _FOURS.search(plain) is not None
        or _ONE_BY_ONE.search(plain) is not None
    )


def address_holds_a_secret(email: str) -> bool:
    """Return whether an email address contains a Social Security number as people write it.

    Digits alone are part of many addresses: they are accepted.
    """
    return _MANY_DIGITS.search(email) is not None and _TAXPAYER.search(_plain(email)) is not None


def key_holds_a_secret(key: str) -> bool:
    """Return whether a client's key contains a Social Security number as people write it.

    Digits alone are an order number or a time: they are accepted, like UUIDs and ULIDs.
    """
    if _MANY_DIGITS.search(key) is None:
        return False
    plain = _ULID.sub(" ", _UUID.sub(" ", _plain(key)))
    return _TAXPAYER.search(plain) is not None


def shown_name(field: str) -> str:
    """Return a field's name as a refusal may repeat it; what looks like a value in its place becomes `…`."""
    if _NAME.fullmatch(field) is None or _DIGITS.search(field) is not None or _KEY.match(field) is not None:
        return "…"
    return field[:_LONGEST_NAME]


def _is_phone(plus: str, digits: str) -> bool:
    return _PHONE.fullmatch(digits) is not None or (plus == "+" and len(digits) in _INTERNATIONAL_DIGITS)


def _plain(text: str) -> str:
    """Return `text` with all Unicode dashes, spaces and digits as ASCII, and without invisible characters."""
    if text.isascii():
        return text.replace("\t", " ").replace("\n", " ")
    return "".join(_plain_character(character) for character in unicodedata.normalize("NFKC", text))


def _plain_character(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd" or character == "−":
        return "-"
    if category == "Cf":
        return ""
    return " " if character.isspace() else character
