"""The owner's plain connection to the emptied database."""

import psycopg
import pytest


@pytest.fixture
def owner(owner_connection: psycopg.Connection, empty_tables: None) -> psycopg.Connection:
    return owner_connection
