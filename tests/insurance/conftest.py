"""A household that really pays somebody, and the application."""

from tests.http.api import account, app, client, counts, household, new_account, new_key

__all__ = ["account", "app", "client", "counts", "household", "new_account", "new_key"]
