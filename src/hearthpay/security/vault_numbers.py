"""The numbers stored in the vault: their kinds, their valid forms, and a value that hides itself."""

from __future__ import annotations

import re
from typing import Final, Literal, NoReturn

NumberKind = Literal["ssn", "itin", "ein", "bank_routing", "bank_account", "state_account"]

_SHOWN_DIGITS: Final = 4
_LONG_ENOUGH: Final = 6
"""Characters from which a number shows four of them."""
_TAXPAYER = re.compile(r"([0-9]{3})([- ]?)([0-9]{2})\2([0-9]{4})")
_EMPLOYER = re.compile(r"([0-9]{2})-?([0-9]{7})")
_ROUTING = re.compile(r"[0-9]{9}")
_ACCOUNT = re.compile(r"[0-9]{4,17}")
# As an agency or insurer prints it; agencies change their formats, so any printable single line is accepted.
_STATE_ACCOUNT = re.compile(r"(?=.*[0-9A-Za-z])[0-9A-Za-z ./#-]{1,40}")

# Printed in advertisements and pamphlets, and withdrawn by the Social Security Administration for that reason.
_WITHDRAWN: Final = frozenset({"078051120", "219099999"})
# The IRS's ranges for the fourth and fifth digit of an ITIN.
_ITIN_GROUPS: Final = frozenset({*range(50, 66), *range(70, 89), *range(90, 93), *range(94, 100)})
# Prefixes with which the Social Security Administration accepts no W-2 (EFW2, field EIN).
_UNASSIGNED_PREFIXES: Final = frozenset(
    {"00", "07", "08", "09", "17", "18", "19", "28", "29", "49", "69", "70", "78", "79", "89"}
)
# Federal Reserve districts, plus those for thrifts and for electronic use. The government's 00 and the
# traveler's checks' 80 have no household's account.
_ROUTING_PREFIXES: Final = frozenset({*range(1, 13), *range(21, 33), *range(61, 73)})
_ROUTING_WEIGHTS: Final = (3, 7, 1) * 3


class InvalidNumberError(ValueError):
    """The text isn't a valid number; the message says what is wrong and never repeats a digit of it."""

    def __init__(self, kind: NumberKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class SecretNumber:
    """A number of the vault. Only `reveal` exposes it: not repr, str, a format, JSON, or a pickle."""

    __slots__ = ("_characters", "kind")

    def __init__(self, kind: NumberKind, characters: str) -> None:
        """Hold a number checked by `parse_number`."""
        self.kind: Final = kind
        self._characters: Final = characters

    def reveal(self) -> str:
        """Return the bare number, for the document or file that must contain it."""
        return self._characters

    @property
    def last_four(self) -> str:
        """The letters and digits by which its owner recognizes it; see `shown_ending`."""
        return shown_ending(self._characters)

    @property
    def earlier_last_four(self) -> str:
        """What was stored of it while a number never showed more than half: three of six or seven characters."""
        shown = _shown(self._characters)
        return shown[len(shown) - min(_SHOWN_DIGITS, len(shown) // 2) :]

    def __repr__(self) -> str:
        return f"SecretNumber({self.kind!r}, …)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret number is not copied or pickled")


def shown_ending(number: str) -> str:
    """Return the last letters and digits of a number: four of six or more, two of four or five, half of fewer."""
    shown = _shown(number)
    return shown[len(shown) - (_SHOWN_DIGITS if len(shown) >= _LONG_ENOUGH else len(shown) // 2) :]


def _shown(number: str) -> str:
    return "".join(character for character in number if character.isalnum())


def parse_number(kind: NumberKind, text: str) -> SecretNumber:
    """Return the number of this kind in `text`, with or without its usual hyphens.

    Raises InvalidNumberError for an impossible number: wrong length, a range that was never issued, a wrong check
    digit.
    """
    return SecretNumber(kind, _PARSERS[kind](text.strip()))


def _ssn(text: str) -> str:
    match = _TAXPAYER.fullmatch(text)
    if match is None:
        raise InvalidNumberError("ssn", "A Social Security number has nine digits.")
    area, _, group, serial = match.groups()
    if area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000":
        raise InvalidNumberError(
            "ssn", "That Social Security number was never issued. Check all nine digits."
        )
    digits = area + group + serial
    if digits in _WITHDRAWN:
        raise InvalidNumberError("ssn", "That Social Security number is a printed sample. Enter your own.")
    return digits


def _itin(text: str) -> str:
    match = _TAXPAYER.fullmatch(text)
    if match is None:
        raise InvalidNumberError("itin", "An ITIN has nine digits.")
    area, _, group, serial = match.groups()
    if area[0] != "9" or int(group) not in _ITIN_GROUPS:
        raise InvalidNumberError("itin", "That ITIN isn't valid. Check all nine digits.")
    return area + group + serial


def _ein(text: str) -> str:
    match = _EMPLOYER.fullmatch(text)
    if match is None:
        raise InvalidNumberError("ein", "An EIN has nine digits.")
    prefix, serial = match.groups()
    if prefix in _UNASSIGNED_PREFIXES or serial == "0000000":
        raise InvalidNumberError("ein", "That EIN isn't valid. Check all nine digits.")
    return prefix + serial


def _routing(text: str) -> str:
    if _ROUTING.fullmatch(text) is None:
        raise InvalidNumberError("bank_routing", "A routing number has nine digits.")
    checksum = sum(int(digit) * weight for digit, weight in zip(text, _ROUTING_WEIGHTS, strict=True))
    if checksum % 10 or int(text[:2]) not in _ROUTING_PREFIXES:
        raise InvalidNumberError("bank_routing", "That routing number isn't valid. Check all nine digits.")
    return text


def _account(text: str) -> str:
    if _ACCOUNT.fullmatch(text) is None:
        raise InvalidNumberError("bank_account", "A bank account number has 4 to 17 digits.")
    if not text.strip("0"):
        raise InvalidNumberError("bank_account", "Enter a valid account number.")
    return text


def _state_account(text: str) -> str:
    if _STATE_ACCOUNT.fullmatch(text) is None:
        raise InvalidNumberError(
            "state_account",
            "an agency's number has up to 40 letters, digits, spaces, hyphens, dots, slashes and #",
        )
    return text


_PARSERS: Final = {
    "ssn": _ssn,
    "itin": _itin,
    "ein": _ein,
    "bank_routing": _routing,
    "bank_account": _account,
    "state_account": _state_account,
}
