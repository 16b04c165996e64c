"""Reports read from a streaming replica, and never show less than the primary had when the request came in.

Each read asks the primary how far its log has been written, and waits until the replica has applied it. So a person
who just wrote reads their own write, no matter which process handled it. A replica that is too far behind, can't be
reached or has become a primary isn't asked for a while, and the primary is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.address import psycopg_url
from hearthpay.database.outage import DatabaseUnavailable, sqlstate_of
from hearthpay.database.session import Database, Tenant
from hearthpay.database.typed_rows import fetch_one, query

REPLICA_VARIABLE: Final = "DATABASE_REPLICA_URL"
MAX_LAG_VARIABLE: Final = "DATABASE_REPLICA_MAX_LAG"

PAUSE_SECONDS: Final = 10.0
"""How long a replica that failed or was too far behind isn't asked."""

_USUAL_MAX_LAG: Final = 1.0
_LONGEST_MAX_LAG: Final = 60.0
_POLL_SECONDS: Final = 0.01
_CONNECTIONS: Final = 5
_T = TypeVar("_T")

_log = structlog.get_logger("hearthpay.replica")


class _PositionRow(NamedTuple):
    written: str | None


class _AppliedRow(NamedTuple):
    standby: bool
    caught_up: bool


# What was answered is in the log up to here, as commits wait for it.
_POSITION: Final = query(
    _PositionRow,
    "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_flush_lsn()::text END AS written",
)
_APPLIED: Final = query(
    _AppliedRow,
    "SELECT pg_is_in_recovery() AS standby, "
    "coalesce(pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn), false) AS caught_up",
)


class ReplicaSettingsError(ValueError):
    """A setting of the replica is invalid; the message says which."""


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """Where the replica is, and how far behind it may be."""

    url: str = field(repr=False)
    max_lag: float = _USUAL_MAX_LAG
    """In seconds."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> ReplicaSettings | None:
        """Read DATABASE_REPLICA_URL and DATABASE_REPLICA_MAX_LAG; None without the first.

        Raises ReplicaSettingsError and DatabaseAddressError.
        """
        url = environment.get(REPLICA_VARIABLE, "").strip()
        if not url:
            return None
        psycopg_url(url)
        return cls(url, _seconds(environment.get(MAX_LAG_VARIABLE, "").strip()))


def _seconds(text: str) -> float:
    try:
        seconds = float(text or _USUAL_MAX_LAG)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _LONGEST_MAX_LAG:
        raise ReplicaSettingsError(
            f"{MAX_LAG_VARIABLE} must be a number of seconds from 0 to {_LONGEST_MAX_LAG:g}"
        )
    return seconds


class ReadReplica:
    """Reads for reports: from the replica if it has all that the primary has, else from the primary."""

    def __init__(
        self,
        primary: Database,
        settings: ReplicaSettings,
        count: Callable[[bool], None] = lambda _from_replica: None,
    ) -> None:
        """`count` is called with each read: whether the replica answered it."""
        self._primary: Final = primary
        self._replica: Final = primary.replica_at(settings.url, pool_size=_CONNECTIONS)
        self._max_lag: Final = settings.max_lag
        self._count: Final = count
        self._asked_again_at = 0.0

    async def read(self, tenant: Tenant, work: Callable[[AsyncSession], Awaitable[_T]]) -> _T:
        """Return what `work` reads in a transaction of this tenant. It must only read: it may run a second time.

        Raises what `work` raises, and DatabaseUnavailable if the primary can't be reached.
        """
        if asyncio.get_running_loop().time() >= self._asked_again_at:
            written = await self._written()
            if written is not None:
                try:
                    async with self._replica.transaction(tenant) as session:
                        await self._wait_until_applied(session, written)
                        result = await work(session)
                except (DatabaseUnavailable, DBAPIError) as error:
                    self._pause(error)
                else:
                    self._count(True)
                    return result
        self._count(False)
        async with self._primary.transaction(tenant) as session:
            return await work(session)

    async def dispose(self) -> None:
        """Close the replica's idle connections."""
        await self._replica.dispose()

    async def _written(self) -> str | None:
        async with self._primary.transaction(None) as session:
            return (await fetch_one(session, _POSITION)).written

    async def _wait_until_applied(self, session: AsyncSession, written: str) -> None:
        """Wait until the replica has applied the log up to `written`. Raises DatabaseUnavailable."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._max_lag
        while True:
            applied = await fetch_one(session, _APPLIED, {"written": written})
            if not applied.standby:
                raise DatabaseUnavailable("the replica is a server of its own")
            if applied.caught_up:
                return
            if loop.time() >= deadline:
                raise DatabaseUnavailable("the replica is too far behind")
            await asyncio.sleep(_POLL_SECONDS)

    def _pause(self, error: DatabaseUnavailable | DBAPIError) -> None:
        self._asked_again_at = asyncio.get_running_loop().time() + PAUSE_SECONDS
        state = error.sqlstate if isinstance(error, DatabaseUnavailable) else sqlstate_of(error)
        reason = str(error) if isinstance(error, DatabaseUnavailable) else type(error.orig).__name__
        _log.warning(
            "the replica is not read for a while", reason=reason, sqlstate=state, seconds=PAUSE_SECONDS
        )
