"""Transactions: one AsyncSession, one PostgreSQL transaction, acting as one role and bound to one tenant.

The first statement of every transaction sets role, tenant and settings, for that transaction only. So it doesn't
matter whose connection it is: a pooler may give each transaction another one, and may drop what was requested when
the connection was opened. The same statement returns the role that the transaction really acts as.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self
from uuid import UUID

import orjson
from sqlalchemy import TextClause, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

from hearthpay.database.address import engine_arguments
from hearthpay.database.connection import KeepingConnection
from hearthpay.database.driver_session import DriverSession
from hearthpay.database.outage import WrongRoleError, outage_of, sqlstate_of
from hearthpay.database.statements import Fragment, compose, joined, literal, statement
from hearthpay.security.tenant_seal import TenantSeal

RECONNECT_SECONDS: Final = 10.0
"""How long a transaction keeps trying to reach a restarting server before it gives up."""

_LEAST_CONNECT_SECONDS: Final = 2  # libpq's
_REPLICA_RECONNECT_SECONDS: Final = 0.5

SETTINGS: Final = {
    "search_path": "public, pg_temp",
    "TimeZone": "UTC",
    "jit": "off",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    # A statement whose client is gone ends and releases its locks. Servers on Windows don't support this.
    "client_connection_check_interval": "1s",
}
"""Settings of every transaction, whatever the server, the database or the role says."""

CLOCK_OF: Final = "hearthpay.clock_of"
"""The setting of a worker's transaction that uses one household's time: the household's id."""

_SET_CLOCK: Final = compose(", set_config({name}, :clock_of, true)", name=literal(CLOCK_OF))
_RETRY_PAUSE_SECONDS: Final = 0.05
_NO_SUCH_ROLE: Final = ("22023", "42501")
_SEAL: Final = "tenant_seal"
_BECOME: Final = text("SELECT set_config('hearthpay.tenant', :tenant, true)")
_PLANNING: Final = text("SELECT set_config(:setting, :value, true)")
_BECOME_PERSON: Final = text("SELECT set_config('hearthpay.person', :person, true)")


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose rows a transaction may see: an organization's, real or sandbox, possibly of one household only."""

    organization_id: UUID
    sandbox: bool
    employer_id: UUID | None = None


class Database:
    """A pool of connections to one PostgreSQL database; every transaction acts as one role."""

    def __init__(
        self,
        url: str | URL,
        *,
        role: str,
        seal: TenantSeal | None = None,
        pool_size: int = 10,
        settings: Mapping[str, str] | None = None,
        frozen_view: bool = False,
        reconnect_seconds: float = RECONNECT_SECONDS,
    ) -> None:
        """Open a pool on `url` (any PostgreSQL URL); nothing connects before the first transaction.

        The login may be `role` itself or any that may become it. `seal` signs tenants; without it no transaction can
        be bound to a tenant. `settings` replace some of SETTINGS. With `frozen_view` each transaction sees one moment
        and can't write. A restarting server is awaited for `reconnect_seconds`. Raises DatabaseAddressError.
        """
        target, arguments = engine_arguments(url)
        arguments["async_creator_fn"] = KeepingConnection.connect
        arguments["connect_timeout"] = max(_LEAST_CONNECT_SECONDS, round(reconnect_seconds))
        self._role: Final = role
        self._seal: Final = seal
        self._settings: Final = dict(settings or {})
        self._reconnect_seconds: Final = reconnect_seconds
        self._enter_statement = entrance(role, self._settings)
        self._enter_at_clock: Final = entrance(role, self._settings, at_clock=True)
        self._claims: dict[str, str] = {}
        self._engine = create_async_engine(
            target,
            connect_args=arguments,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=reconnect_seconds,
            pool_recycle=1800,
            pool_use_lifo=True,  # the connection used last has the most statements prepared
            hide_parameters=True,  # names, emails and wages do not belong in error messages and logs
            json_serializer=_json_text,
            json_deserializer=orjson.loads,
            execution_options=(
                {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True} if frozen_view else {}
            ),
        )
        self._sessions = self._sessions_with({_SEAL: seal})

    def _sessions_with(self, info: dict[str, Any]) -> async_sessionmaker[DriverSession]:
        return async_sessionmaker(
            self._engine, class_=DriverSession, expire_on_commit=False, autoflush=False, info=info
        )

    @asynccontextmanager
    async def transaction(self, tenant: Tenant | None) -> AsyncIterator[AsyncSession]:
        """Run one transaction: it commits when the block ends and rolls back when it raises.

        With `tenant`, only that tenant's rows are visible; without, no tenant's. If the server is restarting, waits
        until it is back before the first statement. Raises DatabaseUnavailable if it can't be reached within
        RECONNECT_SECONDS, can't do its work or is lost later on, and WrongRoleError if the connection doesn't act as
        the role of this database.
        """
        session = self._sessions()
        try:
            await self._enter(session, tenant)
            yield session
            await session.commit()
        except DBAPIError as error:
            if (outage := outage_of(error)) is not None:
                raise outage from error
            raise
        finally:
            await _close(session)

    def at_clock_of(self, employer_id: UUID) -> Self:
        """Return this pool with transactions at the time of one household with its own clock.

        As the worker's role they see only that household, which no other transaction of the worker does.
        """
        same_pool = copy(self)
        same_pool._sessions = self._sessions_with({_SEAL: self._seal, CLOCK_OF: employer_id})
        same_pool._enter_statement = self._enter_at_clock
        same_pool._claims = {"clock_of": str(employer_id)}
        return same_pool

    def replica_at(self, url: str, *, pool_size: int) -> Self:
        """Return a pool on a replica of this database, as the same role and seal; it gives up within seconds.

        Raises DatabaseAddressError.
        """
        return type(self)(
            url,
            role=self._role,
            seal=self._seal,
            pool_size=pool_size,
            settings=self._settings,
            reconnect_seconds=_REPLICA_RECONNECT_SECONDS,
        )

    async def dispose(self) -> None:
        """Close every idle connection; the object may be used again."""
        await self._engine.dispose()

    async def _enter(self, session: DriverSession, tenant: Tenant | None) -> None:
        """Begin the transaction as the role and the tenant, on a new connection if the pooled one has died."""
        claim = {"tenant": "" if tenant is None else _claim(self._seal, tenant), **self._claims}
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._reconnect_seconds
        while True:
            try:
                await session.connect()
                acting = await session.scalar(self._enter_statement, claim)
            except (DBAPIError, PoolTimeoutError) as error:
                if isinstance(error, DBAPIError) and sqlstate_of(error) in _NO_SUCH_ROLE:
                    raise WrongRoleError(
                        f"the database's login may not act as {self._role}", sqlstate_of(error)
                    ) from error
                outage = outage_of(error)
                if outage is None:
                    raise
                await _close(session)
                if loop.time() >= deadline:
                    raise outage from error
                await asyncio.sleep(_RETRY_PAUSE_SECONDS)
            else:
                if acting != self._role:
                    raise WrongRoleError(f"the database's connection acts as {acting}, not as {self._role}")
                return


def entrance(role: str, settings: Mapping[str, str], *, at_clock: bool = False) -> TextClause:
    """Return the first statement of a transaction: in one round trip it sets the role and the parameter `tenant`.

    With `at_clock` it also sets the parameter `clock_of`, the household whose time the transaction uses.
    Its result is the role that the transaction acts as, after everything else has been set.
    """
    chosen = SETTINGS | dict(settings) | {"role": role}
    made = joined(
        compose("set_config({name}, {value}, true)", name=literal(name), value=literal(value))
        for name, value in chosen.items()
    )
    return statement(
        "SELECT current_user FROM (SELECT {made}, set_config('hearthpay.person', '', true), "
        "set_config('hearthpay.tenant', :tenant, true){clock} OFFSET 0) made",
        made=made,
        clock=_SET_CLOCK if at_clock else Fragment(""),
    )


async def become(session: AsyncSession, tenant: Tenant) -> None:
    """Bind the session's transaction to this tenant from here on; the caller has checked that it may."""
    await session.execute(_BECOME, {"tenant": _claim(session.info[_SEAL], tenant)})


async def become_person(session: AsyncSession, person_id: UUID) -> None:
    """Bind the session's transaction to this person's account from here on; the caller has checked that it may."""
    seal: TenantSeal | None = session.info[_SEAL]
    if seal is None:
        raise ValueError(
            "this database was opened without a seal: its transactions are nobody's in particular"
        )
    await session.execute(_BECOME_PERSON, {"person": seal.person_claim(person_id)})


async def leave_person(session: AsyncSession) -> None:
    """Bind the session's transaction to no person's account any more: then it sees all of its tenant again."""
    await session.execute(_BECOME_PERSON, {"person": ""})


@asynccontextmanager
async def planned_once(session: AsyncSession) -> AsyncIterator[None]:
    """Within the block a prepared statement keeps one plan, whatever its parameters.

    For a statement of many parts, whose planning takes longer than its execution: by its estimates alone PostgreSQL
    would plan it again each time.
    """
    async with _planning(session, "plan_cache_mode", "force_generic_plan", "auto"):
        yield


@asynccontextmanager
async def in_index_order(session: AsyncSession) -> AsyncIterator[None]:
    """Within the block rows that an index has in order are read in that order, up to the limit, and not sorted.

    PostgreSQL can't estimate the conditions of row security. It takes an organization's rows for a few hundredths of
    what they are, and would as soon read all of them and sort what it takes for a handful.
    """
    async with _planning(session, "enable_sort", "off", "on"):
        yield


@asynccontextmanager
async def _planning(session: AsyncSession, setting: str, value: str, usual: str) -> AsyncIterator[None]:
    await session.execute(_PLANNING, {"setting": setting, "value": value})
    yield
    await session.execute(_PLANNING, {"setting": setting, "value": usual})


def signature_of(session: AsyncSession, purpose: str, content: bytes) -> bytes:
    """Return a signature that only this installation's processes can make and check.

    Made by `security.tenant_seal`; raises ValueError if the database was opened without the seal.
    """
    seal: TenantSeal | None = session.info[_SEAL]
    if seal is None:
        raise ValueError("this database was opened without a seal: nothing can be signed")
    return seal.signature(purpose, content)


async def _close(session: AsyncSession) -> None:
    """Roll back what isn't committed and return the connection, even while the task is being canceled."""
    try:
        await asyncio.shield(asyncio.ensure_future(session.close()))
    except DBAPIError:
        # The connection and its transaction are gone; report what ended the block, not this.
        await session.invalidate()


def _claim(seal: TenantSeal | None, tenant: Tenant) -> str:
    if seal is None:
        raise ValueError(
            "this database was opened without a seal: its transactions are nobody's in particular"
        )
    return seal.claim(tenant.organization_id, sandbox=tenant.sandbox, employer_id=tenant.employer_id)


def _json_text(value: Any) -> str:
    """JSON for a JSONB column. A Decimal becomes a string, so that money read back is exact."""
    return orjson.dumps(value, default=_json_default).decode()


def _json_default(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")
