"""Seals contents of the database with AES-256-GCM, each bound to its place: waiting mails, stored answers, papers,
secrets of second factors.

Mails and answers hold links to the portal: whoever reads a link may use it. Papers hold tax numbers.
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
    """The one row that a content belongs to: what it is, and what names the row, each part as bytes."""

    kind: str
    parts: tuple[bytes, ...]


def mail_place(mail_id: UUID) -> Place:
    """Return the place of a mail that waits to be sent."""
    return Place("mail", (mail_id.bytes,))


def answer_place(organization_id: UUID, idempotency_key: str, *, sandbox: bool) -> Place:
    """Return the place of the answer kept for an idempotency key."""
    mode = b"sandbox" if sandbox else b"live"
    return Place("answer", (organization_id.bytes, mode, idempotency_key.encode("utf-8")))


def document_place(document_id: UUID) -> Place:
    """Return the place of a paper that was issued."""
    return Place("document", (document_id.bytes,))


def account_change_place(change_id: UUID) -> Place:
    """Return the place of the numbers of a bank account that waits to be connected."""
    return Place("account change", (change_id.bytes,))


def second_factor_place(person_id: UUID, credential_id: UUID) -> Place:
    """Return the place of the secret from which a person's one-time passwords are made."""
    return Place("second factor", (person_id.bytes, credential_id.bytes))


def kept_form_place(session_id: UUID) -> Place:
    """Return the place of a form that the browser of a session keeps while its person proves who he is."""
    return Place("kept form", (session_id.bytes,))


def stop_link_place() -> Place:
    """Return the place of what a link by which something is stopped says: it names by itself what that is."""
    return Place("stop link", ())


def device_place() -> Place:
    """Return the place of the cookie of a browser in which somebody signed in before."""
    return Place("device", ())


@dataclass(frozen=True, slots=True)
class SealedContent:
    """What the database keeps of it."""

    ciphertext: bytes
    nonce: bytes
    key_id: str


def seal_content(key: EncryptionKey, place: Place, content: bytes) -> SealedContent:
    """Encrypt the content for its place alone; `key` is the one that the database says encrypts."""
    nonce = os.urandom(_NONCE_BYTES)
    return SealedContent(key.cipher.encrypt(nonce, content, _binding(place)), nonce, key.id)


def open_content(ring: KeyRing, place: Place, sealed: SealedContent) -> bytes:
    """Decrypt what `seal_content` made for the same place.

    Raises UnknownKeyError when the ring lacks the key, UnreadableSecretError when it is not what was sealed.
    """
    key = ring.find(sealed.key_id)
    try:
        return key.cipher.decrypt(sealed.nonce, sealed.ciphertext, _binding(place))
    except (InvalidTag, ValueError):  # ValueError: a nonce of an impossible length
        raise UnreadableSecretError(
            f"the {place.kind} does not decrypt with the key {sealed.key_id!r}"
        ) from None


def _binding(place: Place) -> bytes:
    """Return the place as associated data; each part follows its length, so that none runs into the next."""
    parts = (place.kind.encode("ascii"), *place.parts)
    return b"".join((_FORMAT, *(len(part).to_bytes(4) + part for part in parts)))
