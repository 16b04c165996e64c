"""The application and its callers, for the calendar of a household that really pays somebody."""

from tests.database.conftest import made_once
from tests.http.api import app, client, counts, new_account, new_key
from tests.worlds.made_in_turn import account, household, made_in_turn
from tests.worlds.snapshots import snapshots

__all__ = [
    "account",
    "app",
    "client",
    "counts",
    "household",
    "made_in_turn",
    "made_once",
    "new_account",
    "new_key",
    "snapshots",
]
