"""Detecting stale forms: a form carries a digest of what it showed, and isn't saved over changes made since.

The digest isn't secret and protects only against changes in the meantime: by the employee, or in another window.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from hearthpay.languages.catalogue import mark

SHOWN: Final = "shown"
"""The hidden field of the form."""

CHANGED_SINCE: Final = mark(
    "Someone changed this after you opened the page. Review the current values and make your change again."
)

_DIGITS: Final = 32


def digest_of(*content: object) -> str:
    """Return the digest of what a form shows: any JSON value."""
    serialized = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(serialized.encode()).hexdigest()[:_DIGITS]


def is_stale(form: Mapping[str, str], now: str) -> bool:
    """Return whether the current values differ from those that the form showed."""
    return form.get(SHOWN) != now
