"""The application, with a vault and a mail server, its callers, and an employee to invite."""

import pytest

from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.http.api import account, client, household, new_account, new_key
from tests.worlds.inviting import app, banked, postbox, rosa
from tests.worlds.snapshots import MadeOnce, Snapshots, snapshots

__all__ = [
    "account",
    "app",
    "banked",
    "client",
    "household",
    "new_account",
    "new_key",
    "postbox",
    "rosa",
    "snapshots",
]


@pytest.fixture(scope="session")
def ring() -> KeyRing:
    """Of all tests, so that what was sealed for one is open to the others."""
    return KeyRing((EncryptionKey.generate(),))


@pytest.fixture(scope="session")
def made_once(snapshots: Snapshots) -> MadeOnce:
    return MadeOnce(snapshots)
