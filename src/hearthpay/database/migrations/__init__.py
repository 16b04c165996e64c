"""Schema migrations: Alembic, configured in code, applied in one transaction under an advisory lock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import psycopg
import structlog
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from hearthpay.database.address import engine_arguments
from hearthpay.database.installation import (
    ForeignSchemaError,
    Installation,
    Roles,
    read_installation,
    rename,
    roles_of,
)
from hearthpay.database.migrations.passed_over import find_passed_over
from hearthpay.database.migrations.rendering import rendering_cursor
from hearthpay.database.migrations.roles import settle_roles
from hearthpay.database.outage import outage_of, sqlstate_of

OLDEST_SERVER: Final = 150000
"""PostgreSQL 15; in the form of `server_version_num`."""

_LOCK = 0x48454152544850  # "HEARTHP": the advisory lock by which servers that start together take turns
_TURN = threading.Lock()  # Alembic keeps the migration under way in module globals: one thread at a time
# Migrating much data takes time; and a pooler may give us a connection that another client has configured.
_SETTINGS = text(
    "SELECT set_config('search_path', 'public', true), set_config('TimeZone', 'UTC', true), "
    "set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true), "
    "set_config('lock_timeout', '0', true), set_config('role', 'none', true)"
)
_INSUFFICIENT_PRIVILEGE: Final = "42501"
_LOCK_NOT_AVAILABLE: Final = "55P03"
# A session that waits for a table's lock blocks all later ones, even those that only read.
_LOCKS_AT_ONCE: Final = text("SELECT set_config('lock_timeout', '3s', true)")
_BUSY: Final = "others use the tables that a migration changes: try again when less is going on"
_HEAD: Final = "head"
# What a migration meets where the schema isn't as the earlier ones left it.
_UNEXPECTED: Final = (psycopg.ProgrammingError, psycopg.IntegrityError, psycopg.DataError)
_REPEATS: Final = 20
_PAUSE_SECONDS: Final = 2.0
_log = structlog.get_logger("hearthpay.migrations")


class MigrationError(Exception):
    """The schema can't be brought to this program's version; the message says why."""


class TablesBusyError(MigrationError):
    """Another session holds a table that a migration changes; a retry may succeed."""


def newest_revision() -> str:
    """Return the revision of the schema that this program was written for."""
    return revisions()[-1]


@dataclass(frozen=True, slots=True)
class Migration:
    """A transaction of the schema's owner in which nobody else migrates; it commits with the block that opened it."""

    connection: Connection
    driver: psycopg.Connection[tuple[object, ...]]
    """The driver's own connection, in the same transaction."""
    database: str
    roles: Roles
    server_version: int
    """In the format of `server_version_num`."""

    def upgrade(self, revision: str) -> Installation | None:
        """Bring the schema to `revision`; return the installation, None before the schema describes it.

        Raises MigrationError for a schema made by a newer program, before changing anything.
        """
        found = _known_revision(self.driver)
        settle_roles(self.driver, self.roles)
        if found is not None and found != newest_revision():
            self._catch_up(found)
        if found is None or found != (newest_revision() if revision == _HEAD else revision):
            self._run_migrations(revision)
        return _installation(self.driver, self.database, self.roles)

    def _catch_up(self, found: str) -> None:
        """Run the migrations that were put below the database's own revision after it had got there."""
        passed_over = find_passed_over(self.driver, found, self.roles)
        for late in passed_over:
            _log.warning("migration_caught_up", revision=late, schema=found)
            self._stamp(revisions()[revisions().index(late) - 1])
            self._run_migrations(late)
        if passed_over:
            self._stamp(found)

    def _stamp(self, revision: str) -> None:
        self.driver.execute("UPDATE public.alembic_version SET version_num = %s", (revision,))

    def _run_migrations(self, revision: str) -> None:
        # Imported late: most starts find the newest schema.
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        self.driver.cursor_factory = rendering_cursor(self.roles, self.server_version)
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
        config.attributes["connection"] = self.connection
        try:
            command.upgrade(config, revision)
        except CommandError as error:
            raise MigrationError(f"the schema cannot be brought to {revision}: {error}") from error
        except (DBAPIError, psycopg.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            if not isinstance(cause, _UNEXPECTED) or isinstance(cause, psycopg.errors.InsufficientPrivilege):
                raise
            told = str(cause).strip().partition("\n")[0]
            raise MigrationError(
                f"the schema cannot be brought to {newest_revision() if revision == _HEAD else revision}, and nothing "
                f"was changed: it isn't as the migrations left it ({told})"
            ) from error
        finally:
            self.driver.cursor_factory = psycopg.Cursor


def knows(revision: str | None) -> bool:
    """Return whether this program can create the schema of this revision and upgrade it."""
    return revision in revisions()


def migrate(owner_url: str | URL, *, revision: str = _HEAD) -> Installation | None:
    """Migrate the schema to its newest version, or to `revision`; changes nothing if it is there already.

    Everything happens in one transaction, so an interrupted migration leaves no trace. It waits 3 seconds for a
    table's lock, lets others pass, and tries again, for about two minutes. Return the installation (None only for a
    `revision` before the schema describes it). Raises as `migrating` and Migration.upgrade, and finally
    TablesBusyError.
    """
    for left in reversed(range(_REPEATS)):
        try:
            with migrating(owner_url) as migration:
                migration.connection.execute(_LOCKS_AT_ONCE)
                return migration.upgrade(revision)
        except TablesBusyError:
            if not left:
                raise
            _log.warning("a table that a migration changes is in use: it is tried again", times_left=left)
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError("it has returned, or raised")


@contextmanager
def migrating(owner_url: str | URL) -> Iterator[Migration]:
    """Open one transaction in which the schema may be created and changed; servers that start together take turns.

    `owner_url` logs in as the role that owns, or will own, the tables; it may lead through a pooler. Raises
    MigrationError for a PostgreSQL before 15, missing privileges or another's tables, and DatabaseUnavailable.
    """
    target, arguments = engine_arguments(owner_url)
    engine = create_engine(target, connect_args=arguments, poolclass=NullPool, hide_parameters=True)
    try:
        with _TURN, engine.begin() as connection:
            connection.execute(_SETTINGS)
            version = _require_supported(connection)
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            database = str(connection.scalar(text("SELECT current_database()")))
            yield Migration(connection, _driver_of(connection), database, roles_of(database), version)
    except ForeignSchemaError as error:
        raise MigrationError(str(error)) from error
    except DBAPIError as error:
        raise _plainly(error, target) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise MigrationError(_without_privilege(target, error)) from error
    except psycopg.errors.LockNotAvailable as error:
        raise TablesBusyError(_BUSY) from error
    finally:
        engine.dispose()


def read(owner_url: str | URL) -> Installation:
    """Return the installation without changing it. Raises MigrationError and DatabaseUnavailable."""
    target, arguments = engine_arguments(owner_url)
    engine = create_engine(target, connect_args=arguments, poolclass=NullPool, hide_parameters=True)
    try:
        with engine.begin() as connection:
            return read_installation(_driver_of(connection))
    except ForeignSchemaError as error:
        raise MigrationError(str(error)) from error
    except DBAPIError as error:
        raise _plainly(error, target) from error
    finally:
        engine.dispose()


def current_revision(owner_url: str | URL) -> str | None:
    """Return the revision of the database's schema; None if it has none. Raises DatabaseUnavailable."""
    target, arguments = engine_arguments(owner_url)
    engine = create_engine(target, connect_args=arguments, poolclass=NullPool, hide_parameters=True)
    try:
        with engine.begin() as connection:
            return _revision_of(_driver_of(connection))
    except DBAPIError as error:
        raise _plainly(error, target) from error
    finally:
        engine.dispose()


@cache
def revisions() -> tuple[str, ...]:
    """Return all revisions, the oldest first: each migration's file name begins with its own."""
    versions = Path(__file__).parent / "versions"
    return tuple(sorted(path.name.partition("_")[0] for path in versions.glob("[0-9]*.py")))


def _known_revision(driver: psycopg.Connection[tuple[object, ...]]) -> str | None:
    """Return the schema's revision, None without a schema. Raises MigrationError for one of a newer program."""
    revision = _revision_of(driver)
    if revision is not None and not knows(revision):
        raise MigrationError(
            f"this program is older than the database's schema ({revision}), and does not know it: use the newer "
            "program"
        )
    return revision


def _revision_of(driver: psycopg.Connection[tuple[object, ...]]) -> str | None:
    if driver.execute("SELECT to_regclass('public.alembic_version') IS NOT NULL").fetchone() != (True,):
        return None
    rows = driver.execute("SELECT version_num FROM public.alembic_version ORDER BY 1").fetchall()
    if len(rows) > 1:
        raise MigrationError(
            f"the table alembic_version names several revisions ({', '.join(str(row[0]) for row in rows)}), and must "
            "name one: restore a backup, or remove those that were added"
        )
    return str(rows[0][0]) if rows else None


def _installation(
    driver: psycopg.Connection[tuple[object, ...]], database: str, roles: Roles
) -> Installation | None:
    exists = driver.execute("SELECT to_regclass('public.installation') IS NOT NULL").fetchone()
    if exists != (True,):
        return None
    rename(driver, database, roles)
    return read_installation(driver)


def _driver_of(connection: Connection) -> psycopg.Connection[tuple[object, ...]]:
    """Return the driver's own connection, in the same transaction."""
    driver = connection.connection.dbapi_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def _require_supported(connection: Connection) -> int:
    version = int(connection.execute(text("SELECT current_setting('server_version_num')")).scalar_one())
    if version < OLDEST_SERVER:
        raise MigrationError(
            f"Hearthpay needs PostgreSQL {OLDEST_SERVER // 10000} or newer; this server is {version // 10000}"
        )
    encoding = connection.execute(text("SELECT current_setting('server_encoding')")).scalar_one()
    if encoding != "UTF8":
        raise MigrationError(f"Hearthpay needs a database in UTF8; this one is in {encoding}")
    return version


def _plainly(error: DBAPIError, target: URL) -> Exception:
    if sqlstate_of(error) == _INSUFFICIENT_PRIVILEGE:
        return MigrationError(_without_privilege(target, error.orig))
    if sqlstate_of(error) == _LOCK_NOT_AVAILABLE:
        return TablesBusyError(_BUSY)
    outage = outage_of(error)
    if outage is None:
        return error
    first_line = str(error.orig).strip().partition("\n")[0] if sqlstate_of(error) is None else str(outage)
    return type(outage)(first_line, outage.sqlstate)


def _without_privilege(target: URL, error: object) -> str:
    first_line = str(error).strip().partition("\n")[0]
    return (
        f"the login {target.username} may not make what is missing ({first_line}): it must own the database, or be "
        "given CREATE on it and on its schema public, and be allowed to create roles"
    )
