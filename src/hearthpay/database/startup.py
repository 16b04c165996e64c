"""Opens the database for a program: a URL's server or the embedded one, with the newest schema."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from hearthpay.database.embedded import EmbeddedServer, default_data_dir
from hearthpay.database.migrations import migrate
from hearthpay.database.session import SERVICE_ROLE, Database


class ServiceLoginError(Exception):
    """The login given for the service is another role's, whom row-level security may not bind."""


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """A database ready for use."""

    database: Database
    """Acts as the service's role: every transaction is bound by row-level security."""
    owner_url: str
    """Logs in as the owner of the schema, who sees every row: for migrations, backups and the operator."""
    embedded: EmbeddedServer | None
    """The private server, or None when the database was given by its URL."""

    @asynccontextmanager
    async def as_operator(self) -> AsyncIterator[Database]:
        """A database that acts as the schema's owner, for the operator's commands only."""
        operator = Database(self.owner_url, pool_size=1)
        try:
            yield operator
        finally:
            await operator.dispose()


@asynccontextmanager
async def open_database(
    data_dir: Path | None, database_url: str | None, service_url: str | None = None
) -> AsyncIterator[OpenedDatabase]:
    """Open the database of `database_url`; without one, the embedded server in `data_dir` or its default.

    `service_url` logs in to the same database as the service's own role. Without it, the owner's login takes that
    role on: enough against a mistake in a query, while a statement smuggled in could lay the role down again.

    Starts the embedded server where it does not run, migrates the schema, and lets go of both at the end of
    the block. Raises EmbeddedServerError, MigrationError, ServiceLoginError, or SQLAlchemy's OperationalError when
    the given server is out of reach.
    """
    embedded = None if database_url else EmbeddedServer(data_dir or default_data_dir())
    try:
        if embedded is not None:
            await asyncio.to_thread(embedded.start)
        owner_url = embedded.owner_url() if embedded is not None else str(database_url)
        await asyncio.to_thread(migrate, owner_url)
        own_login = embedded.service_url() if embedded is not None else service_url
        database = Database(own_login) if own_login else Database(owner_url, role=SERVICE_ROLE)
        try:
            if own_login:
                await _require_service_login(database)
            yield OpenedDatabase(database, owner_url, embedded)
        finally:
            await database.dispose()
    finally:
        if embedded is not None:
            await asyncio.to_thread(embedded.stop)


async def _require_service_login(database: Database) -> None:
    async with database.transaction(None) as session:
        login = await session.scalar(text("SELECT session_user"))
    if login != SERVICE_ROLE:
        raise ServiceLoginError(f"DATABASE_SERVICE_URL must log in as {SERVICE_ROLE}, not as {login}")
