"""Spells names in the letters that every bank's system can read: upper-case ASCII."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

COMPANY_NAME_LENGTH: Final = 16
NAME_LENGTH: Final = 22
BANK_NAME_LENGTH: Final = 23

# Letters that Unicode doesn't decompose into a base letter and an accent.
_SPELLINGS: Final = str.maketrans(
    {
        "Æ": "AE",
        "Œ": "OE",
        "Ø": "O",
        "Đ": "D",
        "Ð": "D",
        "Þ": "TH",
        "Ł": "L",
        "Ħ": "H",
        "ı": "I",
        "Ŋ": "N",
        "’": "'",
        "‘": "'",
        "ʻ": "'",
        "ʼ": "'",
        "–": "-",
        "—": "-",
        "‐": "-",
        "‑": "-",
    }
)
_UNREADABLE: Final = re.compile(r"[^0-9A-Z./()&' -]+")


def ach_text(text: str, length: int) -> str:
    """Return the text in upper-case ASCII, without accents, cut to `length` characters.

    What can't be spelled becomes a space, and spaces are collapsed; a text without a readable letter becomes empty.
    """
    plain = unicodedata.normalize("NFKD", text.upper())
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    readable = _UNREADABLE.sub(" ", letters.upper().translate(_SPELLINGS))
    return " ".join(readable.split())[:length].rstrip()
