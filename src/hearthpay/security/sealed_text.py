"""Sealed texts: small facts sent out encrypted, in a link or a cookie, which come back unread and unchanged."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from hearthpay.security.content_seal import Place, SealedContent, open_content, seal_content
from hearthpay.security.key_ring import EncryptionKey, KeyRing, UnknownKeyError
from hearthpay.security.vault_cipher import UnreadableSecretError

LONGEST: Final = 2_000
"""The most characters of a sealed text that are read; none of our texts is longer."""

_NONCE_BYTES: Final = 12


def seal_text(key: EncryptionKey, place: Place, content: bytes) -> str:
    """Return the content sealed for its place, in letters, digits, `-` and `_` only."""
    sealed = seal_content(key, place, content)
    name = sealed.key_id.encode("ascii")
    packed = bytes((len(name),)) + name + sealed.nonce + sealed.ciphertext
    return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def open_text(ring: KeyRing, place: Place, text: str) -> bytes | None:
    """Return what was sealed for this place; None for a text not sealed with a key of the ring."""
    if len(text) > LONGEST:
        return None
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    length = packed[0] if packed else 0
    name, rest = packed[1 : 1 + length], packed[1 + length :]
    try:
        sealed = SealedContent(rest[_NONCE_BYTES:], rest[:_NONCE_BYTES], name.decode("ascii"))
        return open_content(ring, place, sealed)
    except (UnicodeDecodeError, UnknownKeyError, UnreadableSecretError):
        return None
