"""Counts the statements that a request sends to the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event

from hearthpay.database.session import Database


@contextmanager
def counted(database: Database) -> Iterator[list[str]]:
    """Yield the list that every statement is put into while the block runs."""
    seen: list[str] = []

    def note(connection, cursor, statement, *_):  # type: ignore[no-untyped-def]
        seen.append(statement)

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)
