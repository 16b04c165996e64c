"""A family that pays through a bank, people in its organization, and what was written to them."""

from tests.http.api import account, client, counts, new_account, new_key
from tests.notices.readers import members, post
from tests.worlds.keys import ring
from tests.worlds.town import app, family, town

__all__ = [
    "account",
    "app",
    "client",
    "counts",
    "family",
    "members",
    "new_account",
    "new_key",
    "post",
    "ring",
    "town",
]
