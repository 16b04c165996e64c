"""Rows that many tests begin with: made once, and put back into the emptied tables for each test.

Making a household by its services takes a hundred times as long as copying the rows that this leaves. What a test finds
is the same either way: each column of each row, as it was.

Fixtures that build on one another each ask for their rows: only the last one's are put back, before the test begins or
the next fixture that asks for none.

A test package takes the fixture by importing it in its `conftest.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeVar

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.worlds.tables import EMPTIED

_Made = TypeVar("_Made")
_NUMBERS = count(1)

COLUMNS: Final = """
    SELECT relname, string_agg(quote_ident(attname), ', ' ORDER BY attnum)
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
       AND attgenerated = '' AND relname = ANY(%s) GROUP BY 1
"""
"""Each table's columns that can be written, in order."""

FILLED: Final = " UNION ALL ".join(
    f"SELECT '{table}' WHERE EXISTS (SELECT FROM public.{table})" for table in EMPTIED
)
"""The tables that have rows."""

_ASKING: Final = frozenset({"made_once", "made_in_turn"})
"""What a fixture has among its arguments whose rows the next of its kind may replace."""

_EMPTIED: Final = "".join(f"DELETE FROM public.{table}; " for table in EMPTIED)


@dataclass(slots=True, eq=False)
class Emptying:
    """Remembers which transactions had ended when the tables were last emptied, for the tests that take snapshots.

    It is a plugin of pytest, one for all packages: `empty_tables` is set up before any rows are put back.
    """

    ended: str | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        result = yield
        if fixturedef.argname == "empty_tables":
            self.ended = None
            if "snapshots" in request.fixturenames:
                connection: psycopg.Connection = request.getfixturevalue("emptying_connection")
                [(self.ended,)] = connection.execute("SELECT pg_current_snapshot()::text").fetchall()
        return result


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows of all tables at one moment, in temporary tables of the connection that took them."""

    connection: psycopg.Connection
    name: str
    emptying: Emptying

    def restore(self) -> None:
        """Empty all tables, unless nothing was written since they were emptied, and put the rows back."""
        emptied, self.emptying.ended = self.emptying.ended, None
        self.connection.execute(f"SELECT pg_temp.restore_{self.name}(%s)", (emptied,))


@dataclass(slots=True, eq=False)
class Snapshots:
    """Takes snapshots over a connection of the owner on which neither triggers nor foreign keys are looked at.

    It is a plugin of pytest, which tells it when a test is set up and when it begins.
    """

    connection: psycopg.Connection
    emptying: Emptying
    _requested: Snapshot | None = None
    _in_setup: bool = True

    def restore_before_next_use(self, snapshot: Snapshot) -> None:
        """Restore it now in a test; while one is set up, before anything but `made_once` can look at the rows."""
        self._requested = snapshot
        if not self._in_setup:
            self.restore_requested()

    def restore_requested(self) -> None:
        """Restore the last snapshot that was asked for, unless that was done."""
        if self._requested is not None:
            snapshot, self._requested = self._requested, None
            snapshot.restore()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        self._requested, self._in_setup = None, True

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        if _ASKING.isdisjoint((fixturedef.argname, *fixturedef.argnames)):
            self.restore_requested()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        self.restore_requested()
        self._in_setup = False

    def take(self) -> Snapshot:
        """Keep the rows that there are."""
        self.restore_requested()
        name = f"snapshot_{next(_NUMBERS)}"
        kept, restored = list[str](), list[str]()
        with self.connection.transaction():
            columns = dict(self.connection.execute(COLUMNS, (list(EMPTIED),)).fetchall())
            filled = {table for (table,) in self.connection.execute(FILLED).fetchall()}
            for table in reversed(EMPTIED):
                if table in filled:
                    kept.append(f"CREATE TEMPORARY TABLE {name}_{table} AS TABLE public.{table}; ")
                    restored.append(
                        f"INSERT INTO public.{table} ({columns[table]}) "
                        f"SELECT {columns[table]} FROM pg_temp.{name}_{table}; "
                    )
            self.connection.execute(
                f"{''.join(kept)}CREATE FUNCTION pg_temp.restore_{name}(emptied text) RETURNS void "
                "LANGUAGE plpgsql AS $$ BEGIN "
                f"IF emptied IS DISTINCT FROM pg_current_snapshot()::text THEN {_EMPTIED}END IF; "
                f"{''.join(restored)}END $$"
            )
        return Snapshot(self.connection, name, self.emptying)


@dataclass
class MadeOnce:
    """What fixtures make by the services: made for the first test, its rows put back for each other one.

    What is returned must not hang on the first test, neither on its application nor on its clock.
    """

    snapshots: Snapshots
    _kept: dict[str, tuple[Any, Snapshot]] = field(default_factory=dict)

    async def get(self, name: str, make: Callable[[], Awaitable[_Made]]) -> _Made:
        """Return what `make` returned the first time, with all rows that there were after it, and no others."""
        if name in self._kept:
            return self._made_before(name)
        self.snapshots.restore_requested()
        return self._keep(name, await make())

    def get_blocking(self, name: str, make: Callable[[], _Made]) -> _Made:
        """The same of what is made over a plain connection."""
        if name in self._kept:
            return self._made_before(name)
        self.snapshots.restore_requested()
        return self._keep(name, make())

    def _keep(self, name: str, made: _Made) -> _Made:
        self._kept[name] = made, self.snapshots.take()
        return made

    def _made_before(self, name: str) -> Any:
        made, snapshot = self._kept[name]
        self.snapshots.restore_before_next_use(snapshot)
        return made


@pytest.fixture(scope="session")
def snapshots(server: EmbeddedServer, pytestconfig: pytest.Config) -> Iterator[Snapshots]:
    url = server.owner_url().replace("postgresql+psycopg://", "postgresql://", 1)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        plugins = pytestconfig.pluginmanager
        if not plugins.has_plugin("emptying"):
            plugins.register(Emptying(), "emptying")
        taking = Snapshots(connection, plugins.get_plugin("emptying"))
        plugins.register(taking)
        yield taking
        plugins.unregister(taking)
