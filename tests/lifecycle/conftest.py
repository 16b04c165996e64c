"""The application of an installation with a bank, and families that pay through it."""

from tests.http.api import client, counts, new_account, new_key
from tests.worlds.families_in_turn import account, family, made_in_turn, made_once, ring, sandbox_family
from tests.worlds.snapshots import snapshots
from tests.worlds.town import app, town

__all__ = [
    "account",
    "app",
    "client",
    "counts",
    "family",
    "made_in_turn",
    "made_once",
    "new_account",
    "new_key",
    "ring",
    "sandbox_family",
    "snapshots",
    "town",
]
