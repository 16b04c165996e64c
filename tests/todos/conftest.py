"""The application and its callers, for what a household has to do."""

from tests.http.api import account, app, client, counts, household, new_account, new_key

__all__ = ["account", "app", "client", "counts", "household", "new_account", "new_key"]
