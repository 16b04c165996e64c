"""Procrastinate's connections; each statement is a transaction that acts as the worker's role.

Procrastinate assumes that its connections are its own. Through a pooler they aren't: settings from opening a
connection may have been dropped, and two statements may go to two connections of the server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from psycopg.rows import DictRow, dict_row
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from hearthpay.database.address import engine_arguments, prepares_statements
from hearthpay.database.outage import WrongRoleError
from hearthpay.database.session import RECONNECT_SECONDS, entrance
from hearthpay.database.startup import OpenedDatabase

SCHEMA: Final = "procrastinate"


@dataclass(frozen=True, slots=True)
class QueueAddress:
    """How the queue is reached."""

    url: str
    """Logs in as the worker's role or as one that may become it; may lead through a pooler."""
    role: str
    direct_url: str | None = None
    """Reaches the server itself, for notifications of new jobs; if missing, `url` is used."""

    @property
    def can_listen(self) -> bool:
        """Whether notifications arrive: not through a transaction pooler, where nobody keeps a connection."""
        return self.direct_url is not None or prepares_statements(self.url)


def queue_of(opened: OpenedDatabase) -> QueueAddress:
    """Return the queue of an opened database."""
    return QueueAddress(opened.worker_url, opened.installation.roles.worker, opened.addresses.direct)


class QueueConnector(PsycopgConnector):
    """Procrastinate's connector, which enters each transaction as `Database` does."""

    def __init__(self, address: QueueAddress, connections: int) -> None:
        """Keep at most `connections` open, and one more to listen."""
        super().__init__(
            kwargs=_driver_arguments(address.url),
            min_size=1,
            max_size=connections,
            timeout=RECONNECT_SECONDS,
            name="hearthpay-queue",
        )
        self._address: Final = address
        settings = {"search_path": f"{SCHEMA}, pg_temp"}
        self._enter: Final = (
            str(entrance(address.role, settings)).replace(":tenant", "''").replace(r"\:", ":")
        )

    @asynccontextmanager
    async def _get_cursor(
        self, connection: psycopg.AsyncConnection[Any] | None = None
    ) -> AsyncIterator[psycopg.AsyncCursor[DictRow]]:
        """Return a cursor in a new transaction: of `connection`, or of one from the pool."""
        async with AsyncExitStack() as stack:
            own = (
                await stack.enter_async_context(self.pool.connection()) if connection is None else connection
            )
            await stack.enter_async_context(own.transaction())
            await self._act(own)
            yield await stack.enter_async_context(own.cursor(row_factory=dict_row))

    async def _act(self, connection: psycopg.AsyncConnection[Any]) -> None:
        try:
            row = await (await connection.execute(self._enter.encode())).fetchone()
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue) as error:
            raise WrongRoleError(
                f"the queue's login may not act as {self._address.role}", error.sqlstate
            ) from error
        acting = None if row is None else row[0]
        if acting != self._address.role:
            raise WrongRoleError(f"the queue's connection acts as {acting}, not as {self._address.role}")

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Report new jobs as they come, on a connection that nobody else uses."""
        if self._address.direct_url is None:
            await super().listen_notify(on_notification, channels)
            return
        direct = PsycopgConnector(
            kwargs=_driver_arguments(self._address.direct_url),
            min_size=0,
            max_size=1,
            name="hearthpay-listener",
        )
        await direct.open_async()
        try:
            await direct.listen_notify(on_notification, channels)
        finally:
            await direct.close_async()


def _driver_arguments(url: str) -> dict[str, Any]:
    """Return the URL for the driver, read as SQLAlchemy reads it."""
    target, arguments = engine_arguments(url)
    _, parameters = PGDialect_psycopg().create_connect_args(target)  # type: ignore[no-untyped-call]
    return {**parameters, **arguments}
