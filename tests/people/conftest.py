"""The front desk over the real database, and people who come to it."""

from tests.people.visitors import desk, maria, ring

__all__ = ["desk", "maria", "ring"]
