"""Failed attempts of all processes, counted in the database where no Valkey or Redis counts them.

Each count is a separate transaction, outside of the request's. The table isn't logged: after a crash of the
database server it is empty, like the memory of a process that starts.
"""

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, TypeVar

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.throttle import Counted, Tally
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_all, query

ANSWER_WITHIN: Final = 2.0
"""The longest that a count may take, in seconds, with the time until a connection is free."""
PAUSE_AFTER_FAILURE: Final = 5.0
"""Seconds before a database that failed is asked again."""

_Answer = TypeVar("_Answer")


class _CountedRow(NamedTuple):
    counted: bytes
    until: datetime.datetime
    admitted: bool


_COUNT: Final = query(
    _CountedRow,
    "SELECT counted, until, admitted FROM count_failed_attempts(CAST(:names AS bytea[]), "
    "CAST(:allowed AS interval[]), CAST(:each AS interval[]), :now)",
)
_FORGIVE: Final = text(
    "SELECT forgive_failed_attempts(CAST(:once AS bytea[]), CAST(:each AS interval[]), "
    "CAST(:entirely AS bytea[]))"
)

_log = structlog.get_logger("hearthpay.access")


class DatabaseAttempts:
    """Tallies in the table `failed_attempts`: an `AttemptStore`."""

    def __init__(self, database: Database) -> None:
        """`database` acts as the service's role."""
        self._database = database
        self._silent_until = 0.0

    async def count(self, tallies: Sequence[Tally], now: datetime.datetime) -> Counted | None:
        """Count one attempt for each tally, or for none if one of them must wait; None during an outage."""
        values = {
            "names": [each.name for each in tallies],
            "allowed": [each.limit.allowed for each in tallies],
            "each": [each.limit.forgiven_after for each in tallies],
            "now": now,
        }
        rows = await self._ask(lambda session: fetch_all(session, _COUNT, values))
        if rows is None:
            return None
        return Counted(all(row.admitted for row in rows), {bytes(row.counted): row.until for row in rows})

    async def forgive(self, once: Sequence[Tally], entirely: Sequence[Tally]) -> bool:
        """Remove one attempt, or all; return whether the database could be reached."""
        values = {
            "once": [each.name for each in once],
            "each": [each.limit.forgiven_after for each in once],
            "entirely": [each.name for each in entirely],
        }
        return await self._ask(lambda session: session.execute(_FORGIVE, values)) is not None

    async def _ask(self, question: Callable[[AsyncSession], Awaitable[_Answer]]) -> _Answer | None:
        """Return the answer; None, logged once, if the database doesn't give one in time."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._silent_until:
            return None
        try:
            async with asyncio.timeout(ANSWER_WITHIN), self._database.transaction(None) as session:
                return await question(session)
        except (DatabaseUnavailable, SQLAlchemyError, TimeoutError) as error:
            if loop.time() >= self._silent_until:
                self._silent_until = loop.time() + PAUSE_AFTER_FAILURE
                _log.warning(
                    "failed attempts are counted in this process: the database cannot count them",
                    cause=type(error).__name__,
                    next_try_in_seconds=PAUSE_AFTER_FAILURE,
                )
            return None
