"""A session that sends text statements straight to the driver.

SQLAlchemy takes twice as long over a short statement as psycopg itself: it switches to another greenlet, looks up what
it has compiled, and makes another cursor and result. A text whose parameters have no SQLAlchemy type needs none
of it: its parameters and values are the driver's either way.

Everything else goes the ordinary way, on the same connection and in the same transaction: models, Core statements,
typed parameters, the commit, whatever runs within a savepoint, and every statement while something listens to the
engine's `before_cursor_execute`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

import psycopg
from sqlalchemy import BindParameter, Connection, TextClause
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import IteratorResult
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import NullType

_DIALECT: Final = PGDialect_psycopg()  # type: ignore[no-untyped-call]
_PLACE: Final = re.compile(r"%%|%\(([^)]+)\)s")


@dataclass(frozen=True, slots=True)
class _DriverStatement:
    """A statement as PostgreSQL takes it, with `$1`, `$2`, … for the parameters of these names."""

    sql: str
    encoded: bytes
    names: tuple[str, ...]


class _Sent(NamedTuple):
    """A statement with the values of its parameters, in their order and by their names."""

    statement: _DriverStatement
    values: list[object]
    parameters: dict[str, object]


_KNOWN: Final[WeakKeyDictionary[TextClause, _DriverStatement | None]] = WeakKeyDictionary()


class DirectResult(IteratorResult[Any]):
    """The rows of a statement that went straight to the driver, and how many there are or were changed."""

    def __init__(self, keys: Sequence[str], rows: Sequence[Sequence[Any]], rowcount: int) -> None:
        super().__init__(_metadata(tuple(keys)), iter(rows))
        self.rowcount = rowcount


class DriverSession(AsyncSession):
    """An AsyncSession whose text statements don't pass through SQLAlchemy while it holds one connection."""

    _connection: Connection | None = None
    _driver: psycopg.AsyncConnection[Any] | None = None

    async def connect(self) -> None:
        """Begin the transaction on a connection of the pool; from here on text statements go straight to it."""
        connection = (await self.connection()).sync_connection
        assert connection is not None, "a session's connection has been opened"
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.AsyncConnection), "the engine's driver is psycopg"
        self._connection, self._driver = connection, driver

    async def fetch(
        self, statement: TextClause, parameters: Mapping[str, object] | None = None
    ) -> Sequence[Sequence[Any]]:
        """Return all rows of a statement, as plain tuples where it can go straight to the driver."""
        direct = self._direct(statement, parameters)
        if direct is None:
            return (await super().execute(statement, parameters)).all()
        return await (await self._send(direct)).fetchall()

    async def execute(self, statement: Any, params: Any = None, **options: Any) -> Any:
        """Execute a statement and return its rows, all of them read."""
        direct = None if options else self._direct(statement, params)
        if direct is None:
            return await super().execute(statement, params, **options)
        cursor = await self._send(direct)
        if cursor.description is None:
            return DirectResult((), (), cursor.rowcount)
        return DirectResult(
            [column.name for column in cursor.description], await cursor.fetchall(), cursor.rowcount
        )

    async def scalar(self, statement: Any, params: Any = None, **options: Any) -> Any:
        """Execute a statement and return the first value of its first row, or None."""
        direct = None if options else self._direct(statement, params)
        if direct is None:
            return await super().scalar(statement, params, **options)
        row = await (await self._send(direct)).fetchone()
        return None if row is None else row[0]

    async def scalars(self, statement: Any, params: Any = None, **options: Any) -> Any:
        """Execute a statement and return the first value of each row."""
        if isinstance(statement, TextClause) and not options:
            return (await self.execute(statement, params)).scalars()
        return await super().scalars(statement, params, **options)

    async def commit(self) -> None:
        """Commit the transaction and give the connection back."""
        self._disconnect()
        await super().commit()

    async def rollback(self) -> None:
        """Roll the transaction back and give the connection back."""
        self._disconnect()
        await super().rollback()

    async def close(self) -> None:
        """Roll back what isn't committed and give the connection back."""
        self._disconnect()
        await super().close()

    async def invalidate(self) -> None:
        """Close the session and its connection, which isn't used again."""
        self._disconnect()
        await super().invalidate()

    def _disconnect(self) -> None:
        self._connection = self._driver = None

    def _direct(self, statement: object, parameters: object) -> _Sent | None:
        """Return the statement as the driver takes it, or None where it has to go the ordinary way."""
        if (
            self._connection is None
            or not isinstance(statement, TextClause)
            or self._connection.engine.dispatch.before_cursor_execute
            or self.sync_session.in_nested_transaction()  # its savepoint comes with the first ordinary statement
        ):
            return None
        try:
            known = _KNOWN[statement]
        except KeyError:
            known = _KNOWN[statement] = _driver_statement(statement)
        if known is None:
            return None
        if not known.names:
            return _Sent(known, [], {})
        if not isinstance(parameters, dict):
            return None
        try:
            return _Sent(known, [parameters[name] for name in known.names], parameters)
        except KeyError:
            return None

    async def _send(self, sent: _Sent) -> psycopg.AsyncRawCursor[tuple[Any, ...]]:
        assert self._driver is not None, "only a connected session sends"
        cursor = psycopg.AsyncRawCursor(self._driver)
        try:
            await cursor.execute(sent.statement.encoded, sent.values)
        except (psycopg.Error, asyncio.CancelledError) as error:
            await self._fail(error, sent)
        return cursor

    async def _fail(self, error: psycopg.Error | asyncio.CancelledError, sent: _Sent) -> NoReturn:
        """Raise what SQLAlchemy makes of the error; it gives up a connection that is lost or was canceled."""
        connection = self._connection
        assert connection is not None, "only a connected session sends"

        def handle(_: object) -> None:
            try:
                raise error
            except (psycopg.Error, asyncio.CancelledError) as raised:
                connection._handle_dbapi_exception(raised, sent.statement.sql, sent.parameters, None, None)

        try:
            await self.run_sync(handle)
        finally:
            if connection.closed or connection.invalidated:
                self._disconnect()
        raise AssertionError("SQLAlchemy's handler always raises")


def _driver_statement(statement: TextClause) -> _DriverStatement | None:
    for parameter in statement.get_children():
        if (
            not isinstance(parameter, BindParameter)
            or not parameter.required
            or parameter.expanding
            or not isinstance(parameter.type, NullType)
        ):
            return None
    return _converted(statement.text) if not statement._execution_options else None


@lru_cache(maxsize=4096)
def _converted(template: str) -> _DriverStatement:
    """Return a text of SQLAlchemy as PostgreSQL takes it; a parameter that is named twice has one number."""
    compiled = str(TextClause(template).compile(dialect=_DIALECT))
    names: dict[str, int] = {}

    def placed(found: re.Match[str]) -> str:
        name = found[1]
        return "%" if name is None else f"${names.setdefault(name, len(names) + 1)}"

    sql = _PLACE.sub(placed, compiled)
    return _DriverStatement(sql, sql.encode(), tuple(names))


@lru_cache(maxsize=4096)
def _metadata(keys: tuple[str, ...]) -> SimpleResultMetaData:
    return SimpleResultMetaData(keys)
