"""Portal tokens: 32 random bytes in base62, the secret part of the link sent to an employee.

Anyone with the link may use it, so the database keeps only the SHA-256 of the token, as it does with API keys.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Final

from hearthpay.security.api_keys import base62

_RANDOM_BYTES: Final = 32
_LENGTH: Final = 43  # base62 digits of 256 bits
_FORM: Final = re.compile(rf"[0-9A-Za-z]{{{_LENGTH}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class PortalToken:
    """A well-formed token; `text` is the secret itself."""

    text: str

    @property
    def hash(self) -> bytes:
        """The SHA-256 of the token: the only form in which it is stored."""
        return hashlib.sha256(self.text.encode("ascii")).digest()

    def __repr__(self) -> str:
        return "PortalToken(…)"


def generate_token() -> PortalToken:
    """Return a new random token."""
    return PortalToken(base62(int.from_bytes(secrets.token_bytes(_RANDOM_BYTES)), _LENGTH))


def parse_token(text: str) -> PortalToken | None:
    """Return the token in `text`, or None if it can't be one."""
    return PortalToken(text) if _FORM.fullmatch(text) else None
