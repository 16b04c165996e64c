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


def within(few: Blocks) -> int:
    """How many blocks may be touched where others are fifty times as many.

    An index has a level more then, and is gone through anew for each row; what reads everybody's rows is far beyond.
    """
    return 2 * few.total + 40


def grown(few: Blocks, many: Blocks) -> list[tuple[int, int, str]]:
    """The statements that touch more than they did: before, after, and what they are."""
    most: dict[str, int] = {}
    for count, statement in few.touched:
        most[statement] = max(count, most.get(statement, 0))
    told = {(most.get(statement, 0), count, statement) for count, statement in many.touched}
    return sorted((each for each in told if each[1] > each[0] + 8), key=lambda each: each[0] - each[1])[:6]
