"""What of a text the papers' fonts can show: whoever is called otherwise still gets a paper, with boxes in between."""

import functools
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_COVERAGE: Final = Path(__file__).parent / "templates" / "fonts" / "coverage.toml"
_BOX: Final = "□"
_SPACES: Final = re.compile(r"\s+")
_LEFT_OUT: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me"})
"""Categories of Unicode that are never drawn, as the marks that turn the direction of what follows; and marks on
letters that no letter of Unicode has by itself."""


@functools.cache
def _covered() -> frozenset[int]:
    ranges = tomllib.loads(_COVERAGE.read_text("utf-8"))["ranges"]
    return frozenset(point for first, last in ranges for point in range(first, last + 1))


def legible(text: str) -> str:
    """Return a text in one line as the fonts can show it: what they lack becomes a box, what is never seen goes."""
    one_line = _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
    if one_line.isascii() and one_line.isprintable():
        return one_line
    covered = _covered()
    return "".join(
        letter if ord(letter) in covered else _BOX
        for letter in one_line
        if unicodedata.category(letter) not in _LEFT_OUT
    )


def all_legible(data: object) -> object:
    """Return plain data with each text in it made legible; keys are ours and stay."""
    if isinstance(data, str):
        return legible(data)
    if isinstance(data, Mapping):
        return {key: all_legible(value) for key, value in data.items()}
    if isinstance(data, Sequence):
        return [all_legible(value) for value in data]
    return data
