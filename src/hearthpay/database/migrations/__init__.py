"""Schema migrations: Alembic, configured in code, applied in one transaction under an advisory lock."""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from hearthpay.database.session import psycopg_url

OLDEST_SERVER = 180000
"""PostgreSQL 18, the first with `uuidv7()`; in the form of `server_version_num`."""

_LOCK = 0x48454152544850  # "HEARTHP": the advisory lock by which servers that start together take turns
_TURN = threading.Lock()  # Alembic keeps the migration under way in module globals: one thread at a time


class MigrationError(Exception):
    """The schema cannot be brought to this program's version; the message says why."""


def migrate(owner_url: str | URL) -> None:
    """Bring the schema to its newest version; does nothing when it is there already.

    `owner_url` logs in as the role which owns, or will own, the tables. Everything happens in one
    transaction, so an interrupted migration leaves no trace, and servers which start together wait for each
    other. Raises MigrationError for a PostgreSQL before 18, or a schema which a newer program has made.
    """
    engine = create_engine(psycopg_url(owner_url), poolclass=NullPool)
    try:
        with _TURN, engine.begin() as connection:
            _require_supported(connection)
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            config = Config()
            config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except CommandError as error:
        raise MigrationError(f"this program does not know the database's schema: {error}") from error
    finally:
        engine.dispose()


def _require_supported(connection: Connection) -> None:
    version = int(connection.execute(text("SELECT current_setting('server_version_num')")).scalar_one())
    if version < OLDEST_SERVER:
        raise MigrationError(f"Hearthpay needs PostgreSQL 18 or newer; this server is {version // 10000}")
