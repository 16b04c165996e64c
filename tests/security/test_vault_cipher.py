"""A sealed number opens for the owner and kind that it was sealed for, and for nothing that differs in one field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner, UnreadableSecretError, seal, unseal
from hearthpay.security.vault_numbers import parse_number

OWNER = SecretOwner(UUID(int=1), UUID(int=2), False, "employer", UUID(int=2))
SSN = parse_number("ssn", "536-22-8145")


def test_what_was_sealed_opens(ring: KeyRing) -> None:
    sealed = seal(ring.newest, OWNER, SSN)
    assert unseal(ring, OWNER, "ssn", sealed).reveal() == "536228145"
    assert seal(ring.newest, OWNER, SSN).nonce != sealed.nonce


@pytest.mark.parametrize(
    "change",
    [
        {"organization_id": UUID(int=9)},
        {"employer_id": UUID(int=9)},
        {"id": UUID(int=9)},
        {"sandbox": True},
        {"kind": "employee"},
    ],
)
def test_no_field_of_the_owner_may_differ(change: dict[str, Any], ring: KeyRing) -> None:
    with pytest.raises(UnreadableSecretError):
        unseal(ring, replace(OWNER, **change), "ssn", seal(ring.newest, OWNER, SSN))


def test_the_kind_may_not_differ(ring: KeyRing) -> None:
    with pytest.raises(UnreadableSecretError):
        unseal(ring, OWNER, "bank_routing", seal(ring.newest, OWNER, SSN))


@pytest.mark.parametrize("nonce", [b"", b"short", b"x" * 200])
def test_an_impossible_nonce_is_refused(nonce: bytes, ring: KeyRing) -> None:
    with pytest.raises(UnreadableSecretError):
        unseal(ring, OWNER, "ssn", replace(seal(ring.newest, OWNER, SSN), nonce=nonce))
