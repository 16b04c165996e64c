"""Opens the database for a program: a URL's server or the embedded one, with the newest schema and the right roles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from hearthpay.database.address import DatabaseAddressError
from hearthpay.database.catalog.inspection import LooserSchemaError
from hearthpay.database.embedded import EmbeddedServer, EmbeddedServerError, default_data_dir
from hearthpay.database.installation import Installation
from hearthpay.database.migrations import MigrationError, migrate
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_one, query
from hearthpay.security.tenant_seal import TenantSeal

OWNER_VARIABLE: Final = "DATABASE_URL"
SERVICE_VARIABLE: Final = "DATABASE_SERVICE_URL"
WORKER_VARIABLE: Final = "DATABASE_WORKER_URL"
DIRECT_VARIABLE: Final = "DATABASE_DIRECT_URL"


class _WhoRow(NamedTuple):
    login: str
    unbound: bool


_WHO: Final = query(
    _WhoRow,
    "SELECT session_user AS login, rolsuper OR rolbypassrls OR rolcreaterole AS unbound FROM pg_roles "
    "WHERE rolname = current_user",
)


class ServiceLoginError(Exception):
    """The login given for a role is another's, or the role could bypass row-level security."""


NOT_USABLE: Final = (
    DatabaseAddressError,
    DatabaseUnavailable,
    EmbeddedServerError,
    LooserSchemaError,
    MigrationError,
    ServiceLoginError,
)
"""The errors that keep a program from using a database; each message is for the operator and contains no password."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The database's addresses, one for each role; all None for the embedded one."""

    owner: str | None = None
    """Owns the schema: migrations and the operator."""
    service: str | None = None
    """Logs in as the service's role. Without it, the owner's login assumes that role in each transaction."""
    worker: str | None = None
    """Logs in as the worker's role; likewise."""
    direct: str | None = None
    """Reaches the server itself, as the worker's role or the owner, if `worker` leads through a pooler."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Addresses:
        """Read DATABASE_URL, DATABASE_SERVICE_URL, DATABASE_WORKER_URL and DATABASE_DIRECT_URL."""
        return cls(
            *(
                environment.get(name) or None
                for name in (OWNER_VARIABLE, SERVICE_VARIABLE, WORKER_VARIABLE, DIRECT_VARIABLE)
            )
        )


@dataclass(frozen=True, slots=True)
class RoleDatabase:
    """A database as one of its two roles uses it."""

    database: Database
    url: str
    """Logs in as the role, or as the owner who assumes it."""
    role: str
    seal: TenantSeal | None
    """Signs tenants for the service; the worker has none."""


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """A database ready for use."""

    database: Database
    """Acts as the service's role: every transaction is bound by row-level security."""
    addresses: Addresses
    """Its addresses, including the owner's."""
    installation: Installation
    embedded: EmbeddedServer | None
    """The private server, or None when the database was given by its URL."""

    @property
    def owner_url(self) -> str:
        """Logs in as the owner of the schema, who sees every row: for migrations, backups and the operator."""
        assert self.addresses.owner is not None
        return self.addresses.owner

    @property
    def service(self) -> RoleDatabase:
        """The database as the service uses it."""
        roles, seal = self.installation.roles, self.installation.seal
        return RoleDatabase(self.database, self.addresses.service or self.owner_url, roles.service, seal)

    @property
    def worker_url(self) -> str:
        """Logs in as the worker's role, or as the owner who assumes it."""
        return self.addresses.worker or self.owner_url

    @asynccontextmanager
    async def as_operator(self) -> AsyncIterator[Database]:
        """A database that acts as the schema's owner, for the operator's commands only."""
        operator = Database(self.owner_url, role=self.installation.owner, pool_size=1)
        try:
            yield operator
        finally:
            await operator.dispose()

    @asynccontextmanager
    async def as_worker(self, pool_size: int) -> AsyncIterator[Database]:
        """A database that acts as the worker's role. Raises ServiceLoginError and DatabaseUnavailable."""
        worker = Database(self.worker_url, role=self.installation.roles.worker, pool_size=pool_size)
        try:
            await require_bound(
                worker, self.installation.roles.worker, WORKER_VARIABLE if self.addresses.worker else None
            )
            yield worker
        finally:
            await worker.dispose()


@asynccontextmanager
async def open_database(data_dir: Path | None, addresses: Addresses) -> AsyncIterator[OpenedDatabase]:
    """Open the database at `addresses`; without an owner's address, the embedded server in `data_dir` or its default.

    Starts the embedded server if needed, migrates the schema, checks that the service acts as its role only, and
    releases everything at the end of the block. Raises EmbeddedServerError, MigrationError, ServiceLoginError,
    DatabaseAddressError, and DatabaseUnavailable if the given server can't be reached or written to.
    """
    embedded = None if addresses.owner else EmbeddedServer(data_dir or default_data_dir())
    try:
        if embedded is not None:
            await asyncio.to_thread(embedded.start)
            addresses = Addresses(embedded.owner_url(), embedded.service_url(), embedded.worker_url())
        assert addresses.owner is not None
        installation = await asyncio.to_thread(migrate, addresses.owner)
        assert installation is not None, "the newest schema can say what it is"
        database = Database(
            addresses.service or addresses.owner, role=installation.roles.service, seal=installation.seal
        )
        try:
            await require_bound(
                database, installation.roles.service, SERVICE_VARIABLE if addresses.service else None
            )
            yield OpenedDatabase(database, addresses, installation, embedded)
        finally:
            await database.dispose()
    finally:
        if embedded is not None:
            await asyncio.to_thread(embedded.stop)


async def require_bound(database: Database, role: str, variable: str | None) -> None:
    """Check that row-level security binds `role`, and that `variable`, if set, logs in as that role.

    Raises ServiceLoginError and DatabaseUnavailable.
    """
    async with database.transaction(None) as session:
        login, unbound = await fetch_one(session, _WHO)
    if variable is not None and login != role:
        raise ServiceLoginError(f"{variable} must log in as {role}, not as {login}")
    if unbound:
        raise ServiceLoginError(f"the role {role} must not be able to bypass row-level security")
