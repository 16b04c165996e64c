"""The application, with a vault and a mail server, and its callers."""

import pytest

from tests.http.api import account, client, counts, household, new_account, new_key
from tests.worlds.inviting import app, banked, postbox, rosa
from tests.worlds.keys import ring
from tests.worlds.snapshots import MadeOnce, Snapshots, snapshots

__all__ = [
    "account",
    "app",
    "banked",
    "client",
    "counts",
    "household",
    "new_account",
    "new_key",
    "postbox",
    "ring",
    "rosa",
    "snapshots",
]


@pytest.fixture(scope="session")
def made_once(snapshots: Snapshots) -> MadeOnce:
    return MadeOnce(snapshots)
