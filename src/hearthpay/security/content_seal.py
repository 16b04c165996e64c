"""Seals contents of the database with AES-256-GCM, each bound to its place: pending mails, stored answers, documents,
secrets of second factors.

Mails and answers contain links to the portal: anyone who reads a link may use it. Documents contain tax numbers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag

from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_cipher import UnreadableSecretError

_NONCE_BYTES: Final = 12
_FORMAT: Final = b"hearthpay content 1"


@dataclass(frozen=True, slots=True)
class Place:
    """The one row that a content belongs to: its kind, and what identifies the row, each part as bytes."""

    kind: str
    parts: tuple[bytes, ...]


def mail_place(mail_id: UUID) -> Place:
    """Return the place of a mail waiting to be sent."""
    return Place("mail", (mail_id.bytes,))


def answer_place(organization_id: UUID, idempotency_key: str, *, sandbox: bool) -> Place:
    """Return the place of the stored answer for an idempotency key."""
    mode = b"sandbox" if sandbox else b"live"
    return Place("answer", (organization_id.bytes, mode, idempotency_key.encode("utf-8")))


def document_place(document_id: UUID) -> Place:
    """Return the place of an issued document."""
    return Place("document", (document_id.bytes,))


def account_change_place(change_id: UUID) -> Place:
    """Return the place of the numbers of a bank account waiting to be connected."""
    return Place("account change", (change_id.bytes,))


def second_factor_place(person_id: UUID, credential_id: UUID) -> Place:
    """Return the place of the secret that generates a person's one-time passwords."""
    return Place("second factor", (person_id.bytes, credential_id.bytes))


def kept_form_place(session_id: UUID) -> Place:
    """Return the place of a form that a session's browser keeps while its person confirms their identity."""
    return Place("kept form", (session_id.bytes,))


def stop_link_place() -> Place:
    """Return the place of a stop link's content, which itself names what it stops."""
    return Place("stop link", ())


def device_place() -> Place:
    """Return the place of the cookie of a browser in which someone signed in before."""
    return Place("device", ())


@dataclass(frozen=True, slots=True)
class SealedContent:
    """The sealed content as the database stores it."""

    ciphertext: bytes
    nonce: bytes
    key_id: str


def seal_content(key: EncryptionKey, place: Place, content: bytes) -> SealedContent:
    """Encrypt the content for its place only; `key` is the one that the database names for encryption."""
    nonce = os.urandom(_NONCE_BYTES)
    return SealedContent(key.cipher.encrypt(nonce, content, _binding(place)), nonce, key.id)


def open_content(ring: KeyRing, place: Place, sealed: SealedContent) -> bytes:
    """Decrypt what `seal_content` made for the same place.

    Raises UnknownKeyError if the ring lacks the key, UnreadableSecretError if it isn't what was sealed.
    """
    key = ring.find(sealed.key_id)
    try:
        return key.cipher.decrypt(sealed.nonce, sealed.ciphertext, _binding(place))
    except (InvalidTag, ValueError):  # ValueError: a nonce of an impossible length
        raise UnreadableSecretError(
            f"the {place.kind} does not decrypt with the key {sealed.key_id!r}"
        ) from None


def _binding(place: Place) -> bytes:
    """Return the place as associated data; each part is preceded by its length, so that parts can't run together."""
    parts = (place.kind.encode("ascii"), *place.parts)
    return b"".join((_FORMAT, *(len(part).to_bytes(4) + part for part in parts)))
