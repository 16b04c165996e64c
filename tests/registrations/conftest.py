"""Households of the embedded database whose vault is empty, as for the vault's own tests."""

from tests.security.conftest import joneses, made_in_turn, made_once, owner, ring, smiths, snapshots

__all__ = ["joneses", "made_in_turn", "made_once", "owner", "ring", "smiths", "snapshots"]
