"""Seals whole files with AES-256-GCM, each bound to its id and name: a bank file holds account numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag

from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_cipher import UnreadableSecretError

_NONCE_BYTES: Final = 12
_FORMAT: Final = b"hearthpay file 1"


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A sealed file as the database stores it."""

    ciphertext: bytes
    nonce: bytes
    key_id: str


def seal_file(key: EncryptionKey, file_id: UUID, name: str, content: bytes) -> SealedFile:
    """Encrypt the content for the file with this id and name only; `key` is the one that the database names for
    encryption.
    """
    nonce = os.urandom(_NONCE_BYTES)
    return SealedFile(key.cipher.encrypt(nonce, content, _binding(file_id, name)), nonce, key.id)


def open_file(ring: KeyRing, file_id: UUID, name: str, sealed: SealedFile) -> bytes:
    """Decrypt what `seal_file` made for the same id and name.

    Raises UnknownKeyError if the ring lacks the key, UnreadableSecretError if the content isn't what was sealed.
    """
    key = ring.find(sealed.key_id)
    try:
        return key.cipher.decrypt(sealed.nonce, sealed.ciphertext, _binding(file_id, name))
    except (InvalidTag, ValueError):  # ValueError: a nonce of an impossible length
        raise UnreadableSecretError(
            f"the file {name!r} does not decrypt with the key {sealed.key_id!r}"
        ) from None


def _binding(file_id: UUID, name: str) -> bytes:
    return b"\0".join((_FORMAT, file_id.bytes, name.encode("utf-8")))
