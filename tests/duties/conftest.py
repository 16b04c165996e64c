"""The application and its callers, for the calendar of a household that really pays somebody."""

from tests.http.api import account, app, client, counts, household, new_account, new_key

__all__ = ["account", "app", "client", "counts", "household", "new_account", "new_key"]
