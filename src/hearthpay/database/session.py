"""Transactions: one AsyncSession, one PostgreSQL transaction, acting as one role and bound to one tenant.

Role, tenant and settings are made by the first statement of every transaction, for that transaction alone. So it does
not matter whose connection it is: a pooler between us and the server may hand each transaction to another one, and may
drop what was asked for when the connection was opened. The same statement tells as whom the transaction really acts.
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
from hearthpay.database.outage import WrongRoleError, outage_of, sqlstate_of
from hearthpay.database.statements import compose, joined, literal, statement
from hearthpay.security.tenant_seal import TenantSeal

RECONNECT_SECONDS: Final = 10.0
"""How long a transaction waits for a server which is being restarted before it gives up."""

SETTINGS: Final = {
    "search_path": "public, pg_temp",
    "TimeZone": "UTC",
    "jit": "off",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    # A statement whose client has gone ends, and lets go of its locks. Servers on Windows do not know this.
    "client_connection_check_interval": "1s",
}
"""What holds in every transaction, whatever the server, the database or the role says otherwise."""

CLOCK_OF: Final = "hearthpay.clock_of"
"""The setting of a worker's transaction that is at the time of one household: its id."""

_RETRY_PAUSE_SECONDS: Final = 0.05
_NO_SUCH_ROLE: Final = ("22023", "42501")
_SEAL: Final = "tenant_seal"
_BECOME: Final = text("SELECT set_config('hearthpay.tenant', :tenant, true)")
_BECOME_PERSON: Final = text("SELECT set_config('hearthpay.person', :person, true)")


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose rows a transaction may see: an organization's, real or sandbox, maybe of one household only."""

    organization_id: UUID
    sandbox: bool
    employer_id: UUID | None = None


class Database:
    """A pool of connections to one PostgreSQL database, whose every transaction acts as one role."""

    def __init__(
        self,
        url: str | URL,
        *,
        role: str,
        seal: TenantSeal | None = None,
        pool_size: int = 10,
        settings: Mapping[str, str] | None = None,
        frozen_view: bool = False,
    ) -> None:
        """Open a pool on `url` (any PostgreSQL URL); nothing is connected before the first transaction.

        The login may be `role` itself or any that may become it. `seal` signs tenants; without it no transaction can
        be one tenant's. `settings` replace some of SETTINGS. With `frozen_view` each transaction sees one moment and
        cannot write. Raises DatabaseAddressError.
        """
        target, arguments = engine_arguments(url)
        self._role: Final = role
        self._seal: Final = seal
        self._settings: Final = dict(settings or {})
        self._enter_statement = entrance(role, self._settings)
        self._engine = create_async_engine(
            target,
            connect_args=arguments,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=RECONNECT_SECONDS,
            pool_recycle=1800,
            hide_parameters=True,  # names, emails and wages do not belong in error messages and logs
            json_serializer=_json_text,
            json_deserializer=orjson.loads,
            execution_options=(
                {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True} if frozen_view else {}
            ),
        )
        self._sessions = self._sessions_with({_SEAL: seal})

    def _sessions_with(self, info: dict[str, Any]) -> async_sessionmaker[AsyncSession]:
        return async_sessionmaker(self._engine, expire_on_commit=False, autoflush=False, info=info)

    @asynccontextmanager
    async def transaction(self, tenant: Tenant | None) -> AsyncIterator[AsyncSession]:
        """One transaction: commits when the block ends, rolls back when it raises.

        With `tenant`, only that tenant's rows exist for it; without, no tenant's row does. A server which
        is being restarted is waited for before the first statement. Raises DatabaseUnavailable when it
        cannot be reached within RECONNECT_SECONDS, cannot do its work or is lost later on, and WrongRoleError when
        the connection does not act as the role of this database.
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
        """Return this pool, its transactions at the time of one household that has a clock of its own.

        As the worker's role they see that household alone, which no other transaction of the worker's does.
        """
        same_pool = copy(self)
        same_pool._sessions = self._sessions_with({_SEAL: self._seal, CLOCK_OF: employer_id})
        same_pool._enter_statement = entrance(self._role, self._settings | {CLOCK_OF: str(employer_id)})
        return same_pool

    async def dispose(self) -> None:
        """Close every idle connection; the object may be used again."""
        await self._engine.dispose()

    async def _enter(self, session: AsyncSession, tenant: Tenant | None) -> None:
        """Begin the transaction as the role and the tenant, on a fresh connection if the pooled one has died."""
        claim = {"tenant": "" if tenant is None else _claim(self._seal, tenant)}
        loop = asyncio.get_running_loop()
        deadline = loop.time() + RECONNECT_SECONDS
        while True:
            try:
                acting = (await session.execute(self._enter_statement, claim)).scalar_one()
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


def entrance(role: str, settings: Mapping[str, str]) -> TextClause:
    """Return the first statement of a transaction: one round trip makes it the role's and the parameter `tenant`'s.

    It answers with the role as which the transaction acts, after all else has been set.
    """
    chosen = SETTINGS | dict(settings) | {"role": role}
    made = joined(
        compose("set_config({name}, {value}, true)", name=literal(name), value=literal(value))
        for name, value in chosen.items()
    )
    return statement(
        "SELECT current_user FROM (SELECT {made}, set_config('hearthpay.person', '', true), "
        "set_config('hearthpay.tenant', :tenant, true) OFFSET 0) made",
        made=made,
    )


async def become(session: AsyncSession, tenant: Tenant) -> None:
    """From here on the session's transaction is this tenant's; the caller has decided that it may be."""
    await session.execute(_BECOME, {"tenant": _claim(session.info[_SEAL], tenant)})


async def become_person(session: AsyncSession, person_id: UUID) -> None:
    """From here on the session's transaction is about this person's account; the caller has found that it may be."""
    seal: TenantSeal | None = session.info[_SEAL]
    if seal is None:
        raise ValueError(
            "this database was opened without a seal: its transactions are nobody's in particular"
        )
    await session.execute(_BECOME_PERSON, {"person": seal.person_claim(person_id)})


def signature_of(session: AsyncSession, purpose: str, content: bytes) -> bytes:
    """Return a signature that every process of this installation can check, and nobody else can make.

    `security.tenant_seal` makes it; raises ValueError where the database was opened without the seal.
    """
    seal: TenantSeal | None = session.info[_SEAL]
    if seal is None:
        raise ValueError("this database was opened without a seal: nothing can be signed")
    return seal.signature(purpose, content)


async def _close(session: AsyncSession) -> None:
    """Roll back what is not committed and give the connection back, also when the task is being cancelled."""
    try:
        await asyncio.shield(asyncio.ensure_future(session.close()))
    except DBAPIError:
        # The connection is gone, and the transaction with it; whatever ended the block is the news, not this.
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
