"""The application of an installation with a bank, and a family whose employee Autopilot pays."""

from tests.autopilot.pilot import pilot, sandbox_pilot
from tests.http.api import account, client, counts, new_account, new_key
from tests.worlds.keys import ring
from tests.worlds.town import app, family, town

__all__ = [
    "account",
    "app",
    "client",
    "counts",
    "family",
    "new_account",
    "new_key",
    "pilot",
    "ring",
    "sandbox_pilot",
    "town",
]
