"""The application and its callers, and the service's own way to the database."""

from collections.abc import Iterator

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.conftest import plain_url
from tests.http.api import account, app, client, counts, household, new_account, new_key

__all__ = ["account", "app", "client", "counts", "household", "new_account", "new_key"]


@pytest.fixture
def service(server: EmbeddedServer, empty_tables: None) -> Iterator[psycopg.Connection]:
    """A plain connection of the service's role, as an attacker inside the service would have it."""
    with psycopg.connect(plain_url(server.service_url()), autocommit=True) as connection:
        yield connection
