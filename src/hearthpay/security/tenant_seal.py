"""Signs whose rows a transaction may see, so that an injected statement can't name another tenant.

The database checks the signature in every policy. It keeps the same secret, where the service's role can't read it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final, NoReturn
from uuid import UUID

SECRET_BYTES: Final = 32


class TenantSeal:
    """HMAC-SHA-256 over a tenant's name; the object gives its secret to our own process alone."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        """`secret` has 32 bytes. Raises ValueError."""
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"the tenant seal's secret has {len(secret)} bytes instead of {SECRET_BYTES}")
        self._secret: Final = secret

    @staticmethod
    def new_secret() -> bytes:
        """Return random bytes for a new installation."""
        return secrets.token_bytes(SECRET_BYTES)

    def claim(self, organization_id: UUID, *, sandbox: bool, employer_id: UUID | None) -> str:
        """Return the setting `hearthpay.tenant`: organization, mode, household if any, and the signature."""
        named = f"{organization_id} {'t' if sandbox else 'f'} {'' if employer_id is None else employer_id}"
        return f"{named} {hmac.new(self._secret, named.encode('ascii'), hashlib.sha256).hexdigest()}"

    def person_claim(self, person_id: UUID) -> str:
        """Return the setting `hearthpay.person`, which limits a transaction to one person's account."""
        named = f"person {person_id}"
        return f"{named} {hmac.new(self._secret, named.encode('ascii'), hashlib.sha256).hexdigest()}"

    def signature(self, purpose: str, content: bytes) -> bytes:
        """Return a 32-byte signature of the content, which only holders of the secret can make, for this purpose
        only.

        Each purpose has its own key, derived from a text that can't be a tenant's name.
        """
        key = hmac.digest(self._secret, f"hearthpay purpose {purpose}".encode("ascii"), hashlib.sha256)
        return hmac.digest(key, content, hashlib.sha256)

    def entry(self) -> str:
        """Return the secret itself, in hexadecimal, only for the service's own web process."""
        return self._secret.hex()

    def __repr__(self) -> str:
        return "TenantSeal()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a tenant seal is not copied or pickled")
