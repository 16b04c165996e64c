"""Comparison of place names: without regard to case, hyphens, dots and apostrophes."""

import re

_BETWEEN = re.compile(r"[^A-Z0-9]+")


def plain_name(name: str) -> str:
    """Return the letters and digits of a name in upper case, with anything between them as single spaces."""
    return _BETWEEN.sub(" ", name.upper()).strip()
