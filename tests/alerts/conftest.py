"""The application with a vault and a mail server, its callers, an employee, and people who sign in."""

from tests.alerts.readers import alerted
from tests.http.api import account, client, household, new_account, new_key
from tests.people.visitors import maria, people_context
from tests.worlds.inviting import app, banked, postbox, rosa
from tests.worlds.keys import ring
from tests.worlds.snapshots import snapshots

__all__ = [
    "account",
    "alerted",
    "app",
    "banked",
    "client",
    "household",
    "maria",
    "new_account",
    "new_key",
    "people_context",
    "postbox",
    "ring",
    "rosa",
    "snapshots",
]
