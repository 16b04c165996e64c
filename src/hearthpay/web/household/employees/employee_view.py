"""What a form was shown with: a digest of it travels in the form, and nothing is saved over what has changed since.

It is no secret and no proof against anybody but a change meanwhile: by the employee, or in another window.
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
    """Return the digest of what a form shows: of anything that JSON can hold."""
    told = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:_DIGITS]


def is_stale(form: Mapping[str, str], now: str) -> bool:
    """Return whether a form was shown with something else than what is there now."""
    return form.get(SHOWN) != now
