"""The characters of a wage file: capitals without accents, digits, and a few punctuation marks."""

import re
import unicodedata
from typing import Final

from anyascii import anyascii

_OWN: Final = str.maketrans(
    {"ß": "SS", "Ø": "O", "ø": "O", "Ł": "L", "ł": "L", "Đ": "D", "đ": "D", "Æ": "AE", "æ": "AE", "Œ": "OE",
     "œ": "OE", "Þ": "TH", "þ": "TH", "ı": "I", "½": " 1/2",
     "¼": " 1/4", "¾": " 3/4", "’": "'", "‘": "'", "–": "-", "—": "-"}
)  # fmt: skip
_NAME: Final = re.compile(r"[^A-Z '-]")
_LINE: Final = re.compile(r"[^A-Z0-9 '&#/.,-]")
_SPACES: Final = re.compile(r" +")


def _capitals(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.translate(_OWN))
    latin = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return anyascii(latin).upper()


def name_letters(text: str) -> str:
    """Return a person's name in the file's characters, other scripts transliterated; it should be as on the Social
    Security card. Empty if nothing of it can be written.
    """
    written = _SPACES.sub(" ", _NAME.sub("", _capitals(text))).strip()
    return written if any(each.isalpha() for each in written) else ""


def line_letters(text: str) -> str:
    """Return a line of an address, or a business's name, in the letters of the file."""
    return _SPACES.sub(" ", _LINE.sub(" ", _capitals(text))).strip()
