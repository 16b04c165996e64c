"""What most tests begin with: made by the services once, and its rows copied into the empty tables for each other test.

Unlike a snapshot it removes nothing. Where another fixture has written before, what is asked for is made again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import psycopg

from tests.worlds.snapshots import COLUMNS, FILLED
from tests.worlds.tables import EMPTIED

_Made = TypeVar("_Made")
_NUMBERS = count(1)

_ANY_ROW: Final = "SELECT " + " OR ".join(f"EXISTS (SELECT FROM public.{table})" for table in EMPTIED)


class KeptRows:
    """Keeps rows in temporary tables of a connection on which neither triggers nor foreign keys are looked at."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._kept: dict[object, tuple[Any, str]] = {}

    async def get(self, name: object, make: Callable[[], Awaitable[_Made]]) -> _Made:
        """Return what `make` returned the first time, with the rows that it made."""
        if self._connection.execute(_ANY_ROW).fetchone() == (True,):
            return await make()
        if name not in self._kept:
            self._kept[name] = await make(), self._keep()
        else:
            self._connection.execute(self._kept[name][1])
        made: _Made = self._kept[name][0]
        return made

    def _keep(self) -> str:
        """Keep all rows that there are; return the statement that adds them to empty tables."""
        name = f"kept_{next(_NUMBERS)}"
        added = []
        with self._connection.transaction():
            columns = dict(self._connection.execute(COLUMNS, (list(EMPTIED),)).fetchall())
            filled = {table for (table,) in self._connection.execute(FILLED).fetchall()}
            for table in reversed(EMPTIED):
                if table in filled:
                    self._connection.execute(f"CREATE TEMPORARY TABLE {name}_{table} AS TABLE public.{table}")
                    added.append(
                        f"INSERT INTO public.{table} ({columns[table]}) "
                        f"SELECT {columns[table]} FROM pg_temp.{name}_{table}; "
                    )
            self._connection.execute(
                f"CREATE FUNCTION pg_temp.add_{name}() RETURNS void LANGUAGE plpgsql AS "
                f"$$ BEGIN {''.join(added)}END $$"
            )
        return f"SELECT pg_temp.add_{name}()"


_OF_CONNECTIONS: Final[WeakKeyDictionary[psycopg.Connection, KeptRows]] = WeakKeyDictionary()


def kept_rows(connection: psycopg.Connection) -> KeptRows:
    """Return what is kept in a connection."""
    return _OF_CONNECTIONS.setdefault(connection, KeptRows(connection))
