"""The database to back up or restore into, for psycopg and PostgreSQL's own programs alike.

Passwords travel in a program's environment, everything else in a private service file: the process list shows
neither.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import pq
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from hearthpay.backup.errors import RefusedError
from hearthpay.database.address import psycopg_url
from hearthpay.database.embedded import EmbeddedServer, default_data_dir

_SERVICE: Final = "hearthpay"
_WITHOUT_ENCRYPTION: Final = (None, "allow", "prefer")

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class BackupSource:
    """A running server's database, as the schema's owner."""

    owner_url: str
    embedded: EmbeddedServer | None

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Return a connection with bounded waits; each statement is its own transaction."""
        parameters = self._parameters()
        try:
            connection = psycopg.connect(
                **{"connect_timeout": 10, **parameters}, autocommit=True, prepare_threshold=None
            )
        except psycopg.OperationalError as error:
            raise RefusedError(f"the database cannot be reached: {_first_line(error)}") from None
        with connection:
            connection.execute("SET statement_timeout = 0")
            connection.execute("SET idle_in_transaction_session_timeout = 0")
            connection.execute("SET lock_timeout = '60s'")
            yield connection

    @contextmanager
    def program_environment(self, *, encrypted: bool) -> Iterator[dict[str, str]]:
        """Yield the environment in which PostgreSQL's programs connect to the same database.

        `encrypted`: the current connection is encrypted, so theirs must be too, even if the URL leaves it open.
        """
        parameters = self._parameters()
        if encrypted and parameters.get("sslmode") in _WITHOUT_ENCRYPTION:
            parameters["sslmode"] = "require"
        password = parameters.pop("password", None)
        if any("\n" in str(value) for value in parameters.values()):
            raise RefusedError("the database's URL must not hold line breaks")
        with tempfile.TemporaryDirectory(prefix="hearthpay-backup-") as private:  # mode 0700
            service = Path(private) / "pg_service.conf"
            lines = [f"[{_SERVICE}]", *(f"{name}={value}" for name, value in parameters.items())]
            service.touch(mode=0o600)
            service.write_text("\n".join(lines) + "\n", encoding="utf-8")
            environment = {
                "PATH": os.environ.get("PATH", os.defpath),
                "LC_ALL": "C",
                "PGSERVICEFILE": str(service),
                "PGSERVICE": _SERVICE,
            }
            if "HOME" in os.environ:  # where certificates for `sslmode=verify-full` are looked for
                environment["HOME"] = os.environ["HOME"]
            if password is not None:
                environment["PGPASSWORD"] = str(password)
            elif "PGPASSFILE" in os.environ:
                environment["PGPASSFILE"] = os.environ["PGPASSFILE"]
            yield environment

    def _parameters(self) -> dict[str, Any]:
        """Return the URL as libpq parameters, without those for SQLAlchemy or psycopg alone."""
        url = psycopg_url(self.owner_url)
        _, parameters = PGDialect_psycopg().create_connect_args(url)  # type: ignore[no-untyped-call]
        known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
        return {name: value for name, value in parameters.items() if name in known and value is not None}


@contextmanager
def open_source(data_dir: Path | None, database_url: str | None) -> Iterator[BackupSource]:
    """Open the database of the URL, or the embedded one, which is started if needed and never created.

    The schema is left as it is: a backup before an upgrade has the schema from before it. Raises RefusedError and
    EmbeddedServerError.
    """
    if database_url:
        try:
            psycopg_url(database_url)
        except Exception:  # noqa: BLE001 - whatever the parser says quotes the URL, and with it the password
            raise RefusedError("DATABASE_URL is no PostgreSQL URL") from None
        yield BackupSource(database_url, None)
        return
    embedded = EmbeddedServer(data_dir or default_data_dir())
    if not embedded.holds_database():
        raise RefusedError(f"{embedded.data_dir} holds no database to back up")
    embedded.start()
    try:
        yield BackupSource(embedded.owner_url(), embedded)
    finally:
        embedded.stop()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
