"""Transactions: one AsyncSession, one PostgreSQL transaction, bound to one tenant by row-level security."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

SERVICE_ROLE = "hearthpay_service"
"""The role as which the service runs: it owns nothing and cannot bypass row-level security."""

WORKER_ROLE = "hearthpay_worker"
"""The role of the clockwork: it acts for every tenant, owns nothing and has no right that its work does not need."""

RECONNECT_SECONDS = 10.0
"""How long a transaction waits for a server which is being restarted before it gives up."""

_RETRY_PAUSE_SECONDS = 0.05
_SESSION_OPTIONS = (
    "-c TimeZone=UTC -c jit=off -c statement_timeout=30s -c idle_in_transaction_session_timeout=60s "
    "-c client_encoding=UTF8"
)
_ENTER_TENANT = text(
    "SELECT set_config('hearthpay.organization_id', :organization_id, true), "
    "set_config('hearthpay.sandbox', :sandbox, true), "
    "set_config('hearthpay.employer_id', :employer_id, true)"
)
_NOWHERE = {"organization_id": "", "sandbox": "", "employer_id": ""}
_OUTAGE_CLASSES = ("08", "53")
_OUTAGE_STATES = {"57P01", "57P02", "57P03", "57P05", "57014", "25P03"}


class DatabaseUnavailable(Exception):  # noqa: N818 - the name says what the caller sees
    """The database could not be reached, or was lost in the middle of a transaction.

    When it is lost at the commit, the outcome is unknown: the caller may only repeat what is idempotent.
    """


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose rows a transaction may see: an organization's, real or sandbox, maybe of one household only."""

    organization_id: UUID
    sandbox: bool
    employer_id: UUID | None = None


class Database:
    """A pool of connections to one PostgreSQL database."""

    def __init__(self, url: str | URL, *, role: str | None = None, pool_size: int = 10) -> None:
        """Open a pool on `url` (any PostgreSQL URL); nothing is connected before the first transaction.

        With `role`, every connection acts as that role from its first statement on.
        """
        target = psycopg_url(url)
        options = " ".join(
            part
            for part in (
                _SESSION_OPTIONS,
                _query_value(target, "options"),
                f"-c role={role}" if role else "",
            )
            if part
        )
        self._engine = create_async_engine(
            target.difference_update_query(["options"]),
            connect_args={"options": options, "connect_timeout": 10},
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=RECONNECT_SECONDS,
            pool_recycle=1800,
            hide_parameters=True,  # names, emails and wages do not belong in error messages and logs
            json_serializer=_json_text,
            json_deserializer=orjson.loads,
        )
        self._sessions = async_sessionmaker(self._engine, expire_on_commit=False, autoflush=False)

    @asynccontextmanager
    async def transaction(self, tenant: Tenant | None) -> AsyncIterator[AsyncSession]:
        """One transaction: commits when the block ends, rolls back when it raises.

        With `tenant`, only that tenant's rows exist for it; without, no tenant's row does. A server which
        is being restarted is waited for before the first statement. Raises DatabaseUnavailable when it
        cannot be reached within RECONNECT_SECONDS or is lost later on.
        """
        session = self._sessions()
        try:
            await self._enter(session, tenant)
            yield session
            await session.commit()
        except DBAPIError as error:
            if _is_outage(error):
                raise DatabaseUnavailable("the database connection was lost") from error
            raise
        finally:
            await _close(session)

    async def dispose(self) -> None:
        """Close every idle connection; the object may be used again."""
        await self._engine.dispose()

    async def _enter(self, session: AsyncSession, tenant: Tenant | None) -> None:
        """Begin the transaction and name its tenant, on a fresh connection if the pooled one has died."""
        settings = _NOWHERE if tenant is None else _settings(tenant)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + RECONNECT_SECONDS
        while True:
            try:
                await session.execute(_ENTER_TENANT, settings)
            except (DBAPIError, PoolTimeoutError) as error:
                if not _is_outage(error):
                    raise
                await _close(session)
                if loop.time() >= deadline:
                    raise DatabaseUnavailable("the database cannot be reached") from error
                await asyncio.sleep(_RETRY_PAUSE_SECONDS)
            else:
                return


def psycopg_url(url: str | URL) -> URL:
    """The URL with this project's driver; ValueError when it is not a PostgreSQL URL."""
    if isinstance(url, str) and url.startswith("postgres://"):
        url = "postgresql://" + url.removeprefix("postgres://")
    target = make_url(url)
    if target.get_backend_name() != "postgresql":
        raise ValueError(f"Hearthpay needs a PostgreSQL URL, not {target.get_backend_name()}")
    return target.set(drivername="postgresql+psycopg")


async def _close(session: AsyncSession) -> None:
    """Roll back what is not committed and give the connection back, also when the task is being cancelled."""
    try:
        await asyncio.shield(asyncio.ensure_future(session.close()))
    except DBAPIError:
        # The connection is gone, and the transaction with it; whatever ended the block is the news, not this.
        await session.invalidate()


def _settings(tenant: Tenant) -> dict[str, str]:
    return {
        "organization_id": str(tenant.organization_id),
        "sandbox": "true" if tenant.sandbox else "false",
        "employer_id": "" if tenant.employer_id is None else str(tenant.employer_id),
    }


def _query_value(url: URL, name: str) -> str:
    value = url.query.get(name, "")
    return value if isinstance(value, str) else " ".join(value)


def _is_outage(error: DBAPIError | PoolTimeoutError) -> bool:
    """Whether the server or the way to it is at fault, so that the same work may succeed later."""
    if isinstance(error, PoolTimeoutError) or error.connection_invalidated:
        return True
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state is None:
        return isinstance(error, OperationalError | InterfaceError)
    return state[:2] in _OUTAGE_CLASSES or state in _OUTAGE_STATES


def _json_text(value: Any) -> str:
    """JSON for a JSONB column. A Decimal becomes a string, so that money read back is exact."""
    return orjson.dumps(value, default=_json_default).decode()


def _json_default(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")
