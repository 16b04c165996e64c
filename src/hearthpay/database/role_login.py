"""Opens a migrated database with one role's own login, on hosts that don't hold the owner's.

Such a host can't migrate, can't read what belongs to the owner and can't become another role. It gets the tenant seal
from a file instead of the database, and checks both before it serves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import uuid4

from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from hearthpay.database.address import engine_arguments
from hearthpay.database.installation import roles_of
from hearthpay.database.migrations import MigrationError, knows, newest_revision
from hearthpay.database.outage import outage_of, sqlstate_of
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.database.session import Database, Tenant
from hearthpay.database.startup import (
    SERVICE_VARIABLE,
    WORKER_VARIABLE,
    Addresses,
    RoleDatabase,
    ServiceLoginError,
    require_bound,
)
from hearthpay.database.typed_rows import query
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.tenant_seal import TenantSeal


class _WhoRow(NamedTuple):
    database: str
    login: str
    has_schema: bool


_WHO: Final = query(
    _WhoRow,
    "SELECT current_database() AS database, session_user AS login, "
    "to_regclass('public.alembic_version') IS NOT NULL AS has_schema",
)
_REVISION: Final = text("SELECT version_num FROM public.alembic_version")
_TENANT: Final = text("SELECT organization_id FROM current_tenant()")
_NOT_SIGNED: Final = "42501"


class SchemaNotReadyError(MigrationError):
    """The schema isn't this program's, and this process may not migrate it; the message names the command."""


class WrongSealError(ServiceLoginError):
    """The tenant seal isn't this database's."""


@dataclass(frozen=True, slots=True)
class _Login:
    """What a login finds."""

    database: str
    login: str
    revision: str | None


@asynccontextmanager
async def open_as_service(addresses: Addresses, seal: TenantSeal) -> AsyncIterator[RoleDatabase]:
    """Open the database with DATABASE_SERVICE_URL alone.

    Raises ServiceLoginError, SchemaNotReadyError, WrongSealError, DatabaseAddressError and DatabaseUnavailable.
    """
    url = _required(addresses.service, SERVICE_VARIABLE)
    found = await asyncio.to_thread(_look_at, url)
    role = roles_of(found.database).service
    _require_login(found, role, SERVICE_VARIABLE)
    _require_schema(found)
    database = Database(url, role=role, seal=seal)
    try:
        await require_bound(database, role, SERVICE_VARIABLE)
        await _require_seal(database)
        yield RoleDatabase(database, url, role, seal)
    finally:
        await database.dispose()


@asynccontextmanager
async def open_as_worker(addresses: Addresses, pool_size: int) -> AsyncIterator[RoleDatabase]:
    """Open the database with DATABASE_WORKER_URL alone. Raises as `open_as_service`, except WrongSealError."""
    url = _required(addresses.worker, WORKER_VARIABLE)
    found = await asyncio.to_thread(_look_at, url)
    role = roles_of(found.database).worker
    _require_login(found, role, WORKER_VARIABLE)
    _require_schema(found)
    database = Database(url, role=role, pool_size=pool_size)
    try:
        await require_bound(database, role, WORKER_VARIABLE)
        yield RoleDatabase(database, url, role, None)
    finally:
        await database.dispose()


async def require_current_key(database: Database, ring: KeyRing) -> None:
    """Check that the ring has the key that encrypts now, as far as a role may: older keys are checked by the owner.

    An installation without a current key gets the ring's newest. Raises OutdatedKeyRingError.
    """
    async with database.transaction(None) as session:
        await key_for_writing(session, ring)


def _required(url: str | None, variable: str) -> str:
    if url is None:
        raise ServiceLoginError(f"{variable} is not set: --no-migrate uses that login alone")
    return url


def _look_at(url: str) -> _Login:
    target, arguments = engine_arguments(url)
    engine = create_engine(target, connect_args=arguments, poolclass=NullPool, hide_parameters=True)
    try:
        with engine.begin() as connection:
            who = _WhoRow._make(connection.execute(_WHO.statement).one())
            revision = connection.execute(_REVISION).scalar_one_or_none() if who.has_schema else None
    except DBAPIError as error:
        if (outage := outage_of(error)) is None:
            raise
        told = str(error.orig).strip().partition("\n")[0] if sqlstate_of(error) is None else str(outage)
        raise type(outage)(told, outage.sqlstate) from error
    finally:
        engine.dispose()
    return _Login(who.database, who.login, revision)


def _require_login(found: _Login, role: str, variable: str) -> None:
    if found.login != role:
        raise ServiceLoginError(f"{variable} must log in as {role}, not as {found.login}")


def _require_schema(found: _Login) -> None:
    """Refuse another program's schema. Raises SchemaNotReadyError."""
    if found.revision == newest_revision():
        return
    if found.revision is None:
        raise SchemaNotReadyError(
            "the database has no schema yet: run `hearthpay migrate` with the owner's login first"
        )
    if knows(found.revision):
        raise SchemaNotReadyError(
            f"the database's schema ({found.revision}) is older than this program ({newest_revision()}): "
            "run `hearthpay migrate` with the owner's login first"
        )
    raise SchemaNotReadyError(
        f"the database's schema ({found.revision}) is newer than this program ({newest_revision()}): "
        "install the newer program with `pip install --upgrade hearthpay`"
    )


async def _require_seal(database: Database) -> None:
    """Let the database check a signature of nobody's tenant. Raises WrongSealError."""
    try:
        async with database.transaction(Tenant(uuid4(), sandbox=True)) as session:
            await session.execute(_TENANT)
    except DBAPIError as error:
        if sqlstate_of(error) != _NOT_SIGNED:
            raise
        raise WrongSealError(
            "the tenant seal is another database's: run `hearthpay migrate` with HEARTHPAY_SEAL_FILE, and copy the "
            "file to this host"
        ) from error
