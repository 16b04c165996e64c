"""Stops a worker before a statement that it would send, so that somebody else can come at exactly that point."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import event
from sqlalchemy.util import await_only

from hearthpay.database.session import Database

_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


@contextmanager
def stopped_before(database: Database, point: int) -> Iterator[tuple[asyncio.Event, asyncio.Event]]:
    """Let whoever works with the database stop before its point-th statement.

    Yields what is set when it has come there, and what lets it go on.
    """
    there, go_on = asyncio.Event(), asyncio.Event()
    sent = 0

    def stop(*_: Any) -> None:
        nonlocal sent
        sent += 1
        if sent == point:
            there.set()
            await_only(go_on.wait())

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", stop)
    try:
        yield there, go_on
    finally:
        event.remove(engine, "before_cursor_execute", stop)


async def meet(
    database: Database, work: Awaitable[Any], point: int, deed: Awaitable[Any], owner: psycopg.Connection
) -> tuple[bool, Any]:
    """Do the deed while the work stands before its point-th statement; return whether it came so far, and the answer.

    The work goes on once the deed is done, or waits for what the work holds.
    """
    with stopped_before(database, point) as (there, go_on):
        working = asyncio.ensure_future(work)
        arrived = asyncio.ensure_future(there.wait())
        await asyncio.wait((working, arrived), return_when=asyncio.FIRST_COMPLETED)
        doing = asyncio.ensure_future(deed)
        while not doing.done() and owner.execute(_WAITING).fetchone() == (0,):  # noqa: ASYNC110 - the server's news
            await asyncio.sleep(0.002)
        go_on.set()
        await asyncio.gather(working, doing)
        arrived.cancel()
        return there.is_set(), doing.result()
