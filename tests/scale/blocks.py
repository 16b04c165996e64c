"""How many blocks of the database the statements of a piece of work touch, as the role that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event

from hearthpay.database.session import Database

_NOT_EXPLAINED = ("SET", "SHOW", "SAVEPOINT", "RELEASE", "ROLLBACK", "LISTEN", "NOTIFY", "LOCK")


@dataclass(slots=True)
class Blocks:
    """What was touched, by statement."""

    touched: list[tuple[int, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Blocks of all statements."""
        return sum(count for count, _ in self.touched)

    def worst(self, number: int = 3) -> list[tuple[int, str]]:
        """The statements that touched most."""
        return sorted(self.touched, reverse=True)[:number]


@contextmanager
def blocks_of(database: Database) -> Iterator[Blocks]:
    """Yield what gathers the blocks of every statement that runs on the database in the block.

    Each statement is run once more before it runs, explained, and taken back.
    """
    found = Blocks()

    def explain(
        connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool
    ) -> None:
        if executemany or statement.lstrip().upper().startswith(_NOT_EXPLAINED):
            return
        beside = connection.connection.dbapi_connection.cursor()
        try:
            beside.execute("SAVEPOINT explained")
            beside.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {statement}", parameters)
            ((told,),) = beside.fetchall()
            beside.execute("ROLLBACK TO SAVEPOINT explained")
        finally:
            beside.close()
        plan = told[0]["Plan"]
        found.touched.append(
            (
                plan.get("Shared Hit Blocks", 0) + plan.get("Shared Read Blocks", 0),
                " ".join(statement.split()),
            )
        )

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", explain)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", explain)
