"""Households of the embedded database whose vault is empty, as for the vault's own tests."""

from tests.security.conftest import joneses, owner, ring, smiths

__all__ = ["joneses", "owner", "ring", "smiths"]
