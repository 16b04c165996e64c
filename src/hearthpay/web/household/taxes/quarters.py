"""Amounts of a year's months, by quarter."""

from collections.abc import Sequence
from typing import Final

QUARTERS: Final = (1, 2, 3, 4)
_MONTHS: Final = 3


def quarterly(months: Sequence[int]) -> tuple[int, ...]:
    """Return the cents of each quarter of a year, from those of its twelve months."""
    return tuple(sum(months[place : place + _MONTHS]) for place in range(0, len(months), _MONTHS))
