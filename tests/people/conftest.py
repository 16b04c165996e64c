"""The context of people's services over the real database, and people who come to it."""

from tests.people.visitors import maria, people_context, ring

__all__ = ["maria", "people_context", "ring"]
