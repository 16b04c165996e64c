"""The application of an installation with a bank and a vault, and sandbox households with clocks of their own."""

from tests.http.api import account, client, counts, new_account, new_key
from tests.sandbox.households import app, lab
from tests.worlds.keys import ring
from tests.worlds.town import town

__all__ = ["account", "app", "client", "counts", "lab", "new_account", "new_key", "ring", "town"]
