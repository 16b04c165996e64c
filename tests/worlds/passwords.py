"""Password hashes at the least cost that argon2id takes: a few thousand sign-ins of a run need no more.

What a hash of the product costs is held by `tests/people/test_password_cost.py`, with the product's own hasher.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from argon2 import PasswordHasher
from argon2.low_level import Type

from hearthpay.people import passwords

USUAL_HASHER: Final = passwords._HASHER
"""The product's, as it is outside of tests."""

USUAL_DUMMY_HASH: Final = passwords._NOBODYS
"""What the product checks where there is no account."""

_QUICK: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, type=Type.ID)


@contextmanager
def hashed_with(hasher: PasswordHasher) -> Iterator[None]:
    """For the length of the block, passwords are hashed at this cost; hashes that exist keep theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", hasher)
        dummy = USUAL_DUMMY_HASH if hasher is USUAL_HASHER else hasher.hash("nobody's password")
        patch.setattr(passwords, "_NOBODYS", dummy)
        yield


@contextmanager
def passwords_are_hashed_quickly() -> Iterator[None]:
    """For the length of the block, at the least cost."""
    with hashed_with(_QUICK):
        yield
