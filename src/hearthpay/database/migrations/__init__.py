"""Schema migrations: Alembic, configured in code, applied in one transaction under an advisory lock."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from hearthpay.database.session import psycopg_url

OLDEST_SERVER = 180000
"""PostgreSQL 18, the first with `uuidv7()`; in the form of `server_version_num`."""

_LOCK = 0x48454152544850  # "HEARTHP": the advisory lock by which servers that start together take turns


class UnsupportedServer(Exception):  # noqa: N818 - the name says what is wrong
    """The PostgreSQL server is too old for this schema."""


def migrate(owner_url: str | URL) -> None:
    """Bring the schema to its newest version; does nothing when it is there already.

    `owner_url` logs in as the role which owns, or will own, the tables. Everything happens in one
    transaction, so an interrupted migration leaves no trace, and servers which start together wait for each
    other. Raises UnsupportedServer for a PostgreSQL before 18.
    """
    engine = create_engine(psycopg_url(owner_url), poolclass=NullPool)
    try:
        with engine.begin() as connection:
            _require_supported(connection)
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            config = Config()
            config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def _require_supported(connection: Connection) -> None:
    version = int(connection.execute(text("SELECT current_setting('server_version_num')")).scalar_one())
    if version < OLDEST_SERVER:
        raise UnsupportedServer(f"Hearthpay needs PostgreSQL 18 or newer; this server is {version // 10000}")
