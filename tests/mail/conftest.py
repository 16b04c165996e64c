"""The application with a vault and a mail server of its own, and employees to invite."""

from tests.employees.inviting import app, banked, postbox, ring, rosa
from tests.http.api import account, client, household, new_account, new_key

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
