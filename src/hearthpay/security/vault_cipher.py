"""Seals the vault's numbers with AES-256-GCM, each bound to the one row to which it belongs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from cryptography.exceptions import InvalidTag

from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_numbers import NumberKind, SecretNumber

OwnerKind = Literal["employer", "employee", "registration"]

_NONCE_BYTES: Final = 12
_FORMAT: Final = b"hearthpay vault 1"


class UnreadableSecretError(Exception):
    """The ciphertext was changed, belongs to another row, or was made by another key of the same id."""


@dataclass(frozen=True, slots=True)
class SecretOwner:
    """Whose number it is: a household itself (its id is then `employer_id`), an employee, or a state registration."""

    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    kind: OwnerKind
    id: UUID


@dataclass(frozen=True, slots=True)
class SealedNumber:
    """A sealed number as the database stores it."""

    ciphertext: bytes
    nonce: bytes
    key_id: str


def seal(key: EncryptionKey, owner: SecretOwner, number: SecretNumber) -> SealedNumber:
    """Encrypt the number for the owner's row of this kind only; `key` is the one that the database names for
    encryption.
    """
    nonce = os.urandom(_NONCE_BYTES)
    binding = _binding(owner, number.kind)
    return SealedNumber(key.cipher.encrypt(nonce, number.reveal().encode("ascii"), binding), nonce, key.id)


def unseal(ring: KeyRing, owner: SecretOwner, kind: NumberKind, sealed: SealedNumber) -> SecretNumber:
    """Decrypt what `seal` made for the same owner and kind.

    Raises UnknownKeyError if the ring lacks the key, UnreadableSecretError if the ciphertext isn't what was sealed
    for this row.
    """
    key = ring.find(sealed.key_id)
    try:
        digits = key.cipher.decrypt(sealed.nonce, sealed.ciphertext, _binding(owner, kind))
    except (InvalidTag, ValueError):  # ValueError: a nonce of an impossible length
        raise UnreadableSecretError(
            f"the {kind} of {owner.kind} {owner.id} does not decrypt with the key {sealed.key_id!r}"
        ) from None
    return SecretNumber(kind, digits.decode("ascii"))


def _binding(owner: SecretOwner, kind: NumberKind) -> bytes:
    """Return the row's identity as associated data; each field has a fixed length or an end, so fields can't run
    together.
    """
    return b"\0".join(
        (
            _FORMAT,
            owner.kind.encode("ascii"),
            kind.encode("ascii"),
            b"sandbox" if owner.sandbox else b"live",
            owner.organization_id.bytes + owner.employer_id.bytes + owner.id.bytes,
        )
    )
