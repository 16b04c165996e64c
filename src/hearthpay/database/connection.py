"""A connection to PostgreSQL that keeps what it has prepared.

A prepared statement is parsed once and, after some uses, planned once; with row security that takes longer than most
statements run. The driver gives all of them up at every rollback, and keeps a hundred of them.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus

PREPARED_MOST: Final = 250
"""Statements that one connection keeps prepared; their plans may take some 30 MB of the server."""


class KeepingConnection(psycopg.AsyncConnection[Any]):
    """Keeps its prepared statements when a transaction is rolled back in which no statement has failed.

    That is how every refused request ends. After a failed statement they are given up, as the driver does: one of
    them may be what failed, since a table was changed under it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.prepared_max = PREPARED_MOST

    async def rollback(self) -> None:
        """Roll the transaction back."""
        if self.pgconn.transaction_status != TransactionStatus.INTRANS:
            await super().rollback()
            return
        threshold, self.prepare_threshold = self.prepare_threshold, None
        try:
            await self.execute("ROLLBACK")  # what is sent unprepared leaves the prepared statements alone
        finally:
            self.prepare_threshold = threshold
