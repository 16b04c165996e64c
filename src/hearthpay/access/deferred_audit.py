"""Audit rows that are written after the answer: of calls that neither read nor change anything of a household.

Rows of the same moment are written together, in one transaction for each tenant, under one seal. A row is written
within about WRITTEN_WITHIN seconds. If the process is killed before, the row is lost, and nothing else. If it is
stopped, it writes all of them first.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import audit_row
from hearthpay.database.audit import AuditRow, record_all
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database, Tenant

WRITTEN_WITHIN: Final = 0.1
"""In seconds, where the database answers."""

MOST_WAITING: Final = 1_000
TASK: Final = "hearthpay-deferred-audit"
"""The name of the task that writes what is waiting."""

_GATHERED_FOR: Final = 0.05
_log = structlog.get_logger("hearthpay.access")


class DeferredAudit:
    """The rows of one process that are still to be written."""

    def __init__(self, database: Database) -> None:
        self._database: Final = database
        self._waiting: list[tuple[Tenant, AuditRow]] = []
        self._writing: asyncio.Task[None] | None = None
        self._at_once = asyncio.Event()

    def add(self, actor: Actor, action: str, details: dict[str, object]) -> bool:
        """Have the row of an action written; False if too many are waiting, so that the caller must write it."""
        if len(self._waiting) >= MOST_WAITING:
            return False
        self._waiting.append((actor.tenant, audit_row(actor, action, details=details)))
        if self._writing is None or self._writing.done():
            self._at_once = asyncio.Event()
            self._writing = asyncio.create_task(self._write_waiting(), name=TASK)
        return True

    async def settle(self) -> None:
        """Write what is waiting now."""
        while self._writing is not None and not self._writing.done():
            self._at_once.set()
            await asyncio.wait({self._writing})

    async def _write_waiting(self) -> None:
        while self._waiting:
            try:
                async with asyncio.timeout(_GATHERED_FOR):
                    await self._at_once.wait()
            except TimeoutError:
                pass
            rows, self._waiting = self._waiting, []
            by_tenant: defaultdict[Tenant, list[AuditRow]] = defaultdict(list)
            for tenant, row in rows:
                by_tenant[tenant].append(row)
            for tenant, of_tenant in by_tenant.items():
                await self._write(tenant, of_tenant)

    async def _write(self, tenant: Tenant, rows: list[AuditRow]) -> None:
        try:
            async with self._database.transaction(tenant) as session:
                await record_all(session, rows)
        except (DatabaseUnavailable, SQLAlchemyError) as error:
            _log.error(
                "calls without their audit rows",
                cause=type(error).__name__,
                requests=[row["request_id"] for row in rows],
            )
