"""The application, with a vault and a mail server, its callers, and an employee to invite."""

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
