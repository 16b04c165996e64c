"""Numbers as people type them: digits, commas between thousands, and a point, or a comma, before the decimals.

What `Decimal` reads beyond that is no amount to anybody: `1e5`, `1_000`, `Infinity`, digits of other scripts.
"""

import re
from decimal import Decimal
from typing import Final

_PLAIN: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
_COMMA_FOR_POINT: Final = re.compile(r"[+-]?\d+,\d{1,2}", re.ASCII)


def typed_decimal(text: str) -> Decimal | None:
    """Return the number that the text is, without spaces around it; None if it is none."""
    written = text.strip()
    if _GROUPED.fullmatch(written):
        written = written.replace(",", "")
    elif _COMMA_FOR_POINT.fullmatch(written):
        written = written.replace(",", ".")
    return Decimal(written) if _PLAIN.fullmatch(written) else None
