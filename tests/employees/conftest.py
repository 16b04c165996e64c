"""The application, with a vault and a mail server, and its callers."""

from tests.employees.inviting import app, banked, postbox, ring, rosa
from tests.http.api import account, client, counts, household, new_account, new_key

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
]
