"""API keys: `hp_live_…` and `hp_test_…`, 32 random bytes in base62 with a checksum.

The checksum distinguishes a mistyped key, or a secret scanner's false alarm, from a real key without a database
lookup. The database keeps the SHA-256 of the whole key: a slow password hash guards guessable secrets, and 256 random
bits can't be guessed.
"""

import hashlib
import hmac
import secrets
import zlib
from dataclasses import dataclass
from typing import Final, Literal

Mode = Literal["live", "test"]

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PREFIXES: Final[dict[Mode, str]] = {"live": "hp_live_", "test": "hp_test_"}
_RANDOM_BYTES: Final = 32
_RANDOM_LENGTH: Final = 43  # base62 digits of 256 bits
_CHECKSUM_LENGTH: Final = 6  # base62 digits of 32 bits


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A well-formed key; `text` is the secret itself and is shown to its owner exactly once."""

    text: str
    mode: Mode

    @property
    def hash(self) -> bytes:
        """The SHA-256 of the key: the only form in which it is stored."""
        return hash_of(self.text)

    @property
    def last_four(self) -> str:
        """The last four characters, by which its owner recognizes the key in a list."""
        return self.text[-4:]

    def __repr__(self) -> str:
        return f"ApiKey(mode={self.mode!r}, last_four={self.last_four!r})"


def hash_of(text: str) -> bytes:
    """Return the SHA-256 of the text of a key or possible key."""
    return hashlib.sha256(text.encode("utf-8")).digest()


def generate(mode: Mode) -> ApiKey:
    """Return a new random key for `mode`."""
    body = _PREFIXES[mode] + base62(int.from_bytes(secrets.token_bytes(_RANDOM_BYTES)), _RANDOM_LENGTH)
    return ApiKey(body + _checksum(body), mode)


def parse(text: str) -> ApiKey | None:
    """Return the key in `text`, or None if prefix, length, alphabet or checksum is wrong."""
    mode = next((mode for mode, prefix in _PREFIXES.items() if text.startswith(prefix)), None)
    if mode is None or not text.isascii():
        return None
    body, checksum = text[:-_CHECKSUM_LENGTH], text[-_CHECKSUM_LENGTH:]
    if len(body) != len(_PREFIXES[mode]) + _RANDOM_LENGTH:
        return None
    return ApiKey(text, mode) if hmac.compare_digest(_checksum(body), checksum) else None


def _checksum(body: str) -> str:
    return base62(zlib.crc32(body.encode("ascii")), _CHECKSUM_LENGTH)


def base62(number: int, length: int) -> str:
    """Return `number` in base62, with leading zeros to `length` digits."""
    digits = []
    for _ in range(length):
        number, remainder = divmod(number, 62)
        digits.append(_ALPHABET[remainder])
    return "".join(reversed(digits))
