"""The application with a vault and a mail server of its own, and employees to invite."""

from tests.http.api import account, client, household, new_account, new_key
from tests.worlds.inviting import app, banked, postbox, rosa
from tests.worlds.keys import ring

__all__ = [
    "account",
    "app",
    "banked",
    "client",
    "household",
    "new_account",
    "new_key",
    "postbox",
    "ring",
    "rosa",
]
