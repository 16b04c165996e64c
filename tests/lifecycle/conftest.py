"""The application of an installation with a bank, and families that pay through it."""

from tests.http.api import account, client, counts, new_account, new_key
from tests.worlds.keys import ring
from tests.worlds.snapshots import snapshots
from tests.worlds.town import app, family, sandbox_family, town

__all__ = [
    "account",
    "app",
    "client",
    "counts",
    "family",
    "new_account",
    "new_key",
    "ring",
    "sandbox_family",
    "snapshots",
    "town",
]
