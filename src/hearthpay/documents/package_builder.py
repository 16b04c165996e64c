"""Makes requested packages in the worker: document by document, in turn by organization, each stored as drawn.

A worker takes a package for a time slice and holds it by a lease that each document renews. One that dies loses only
the document in progress. Other jobs draw packages of other organizations at the same time, and within a process the
documents of all of them take turns (`drawing`).
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

import structlog
from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock, FixedClock
from hearthpay.database.household_clocks import household_time_of
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import HOUSEHOLD_CLOCKS
from hearthpay.database.session import Database
from hearthpay.database.statements import statement
from hearthpay.documents.archive import ArchivedFile
from hearthpay.documents.issuing import issue_package, issue_paper, look, packed_of
from hearthpay.documents.models import DocumentPackage
from hearthpay.documents.package_notices import package_notices
from hearthpay.documents.packages import request_of
from hearthpay.documents.packing import PackedPaper
from hearthpay.documents.service import Prepared, prepare_package, worker_for
from hearthpay.mail.notices import NotificationSettings, queue_notice
from hearthpay.security.key_ring import KeyRing

SLICE_SECONDS: Final = 8.0
"""How long one package is drawn before another one waiting has its turn; if none is waiting, it continues."""

_LOOK_AGAIN: Final = 1.0

LEASE: Final = datetime.timedelta(minutes=2)
"""How long a worker that doesn't report is assumed to be alive."""

MOST_ATTEMPTS: Final = 5
"""A package is given up after this many failures in a row, without a document in between."""

_NEXT: Final = statement(
    "SELECT p.id FROM document_packages p WHERE p.finished_at IS NULL "
    "AND (p.held_until IS NULL OR p.held_until <= :now) "
    "AND NOT EXISTS (SELECT FROM {household_clocks} c WHERE c.employer_id = p.employer_id AND c.advancing) "
    "ORDER BY (SELECT max(o.turn) FROM document_packages o "
    "WHERE o.organization_id = p.organization_id), p.turn, p.id "
    "LIMIT 1 FOR UPDATE OF p SKIP LOCKED",
    household_clocks=HOUSEHOLD_CLOCKS,
)
_WAITING: Final = text(
    "SELECT count(*) FROM document_packages p WHERE p.finished_at IS NULL "
    "AND (p.held_until IS NULL OR p.held_until <= :now)"
)
_log = structlog.get_logger("hearthpay.documents")


@dataclass(frozen=True, slots=True)
class MakingReport:
    """Documents done, packages failed, and packages waiting for a worker."""

    papers: int = 0
    failed: int = 0
    remaining: int = 0


async def make_next(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    stopping: Callable[[], bool],
    *,
    slice_seconds: float = SLICE_SECONDS,
) -> MakingReport:
    """Draw the next package for a while, or to its end if no other is waiting; `clock` is real time.

    `database` acts as the worker's role. A failure is retried later, and given up after a few attempts. Raises
    DatabaseUnavailable; every document already drawn is kept.
    """
    if stopping():
        return MakingReport()
    making = await _claim(database, ring, clock, notifications)
    if making is None:
        return MakingReport()
    failed = 0
    try:
        await making.go_on(stopping, slice_seconds)
    except DatabaseUnavailable:
        raise
    except Refusal as refusal:
        await making.give_up(_failure_details(refusal))
        failed = 1
    except Exception as error:  # noqa: BLE001 - whatever it is, other packages are to be made
        _log.error("a package could not be made", package_id=str(making.package.id), exc_info=error)
        await making.put_off()
        failed = 1
    async with database.transaction(None) as session:
        waiting = await session.scalar(_WAITING, {"now": clock.now()}) or 0
    return MakingReport(making.papers, failed, waiting)


async def _claim(
    database: Database, ring: KeyRing, clock: Clock, notifications: NotificationSettings
) -> _Making | None:
    """Take the next package that no living worker holds; its organization goes to the end of the line.

    Turns count after a package has ended: one that asks for small packages again and again overtakes nobody.
    """
    async with database.transaction(None) as session:
        package_id: UUID | None = await session.scalar(_NEXT, {"now": clock.now()})
        if package_id is None:
            return None
        package = await session.get_one(DocumentPackage, package_id)
        last_turn = await session.scalar(select(func.max(DocumentPackage.turn)))
        package.turn = (last_turn or 0) + 1
        package.status = "drawing"
        package.attempts += 1
        package.held_until = clock.now() + LEASE
        stands = await household_time_of(session, package.employer_id)
    if stands is None:
        return _Making(database, database, ring, clock, clock, notifications, package)
    household = database.at_clock_of(package.employer_id)
    return _Making(database, household, ring, clock, FixedClock(stands.at), notifications, package)


@dataclass(slots=True)
class _Making:
    """One package in progress; `household` and `its_time` are at the household's clock if it has one."""

    database: Database
    household: Database
    ring: KeyRing
    clock: Clock
    its_time: Clock
    notifications: NotificationSettings
    package: DocumentPackage
    papers: int = 0

    async def go_on(self, stopping: Callable[[], bool], slice_seconds: float) -> None:
        """Continue drawing; finish the package once all of it is drawn."""
        if self.package.attempts > MOST_ATTEMPTS:
            await self.give_up({"reason": "internal_failure"})
            return
        transaction = partial(self.household.transaction, None)
        view = await look(transaction, self._prepare)
        papers = view.prepared.papers
        actor = worker_for(view.prepared.owner)
        packed: list[PackedPaper] = []
        loop = asyncio.get_running_loop()
        until = loop.time() + slice_seconds
        for paper in papers:
            kept = await issue_paper(transaction, self.ring, self.its_time, actor, view, paper)
            if kept is None:  # the books have changed: started again at the next turn, from what is drawn
                await self._release()
                return
            packed.append(packed_of(paper, kept))
            self.papers += 1
            await self._note(len(packed), len(papers))
            late = loop.time() >= until
            if stopping() or (late and await self._others_wait()):
                await self._release()
                return
            until = loop.time() + _LOOK_AGAIN if late else until
        self.package.papers = len(packed)
        await issue_package(transaction, self.ring, self.its_time, actor, view, packed, self._finish)

    async def _prepare(self, session: AsyncSession) -> Prepared:
        return await prepare_package(
            session, self.ring, self.its_time, self.package.employer_id, request_of(self.package)
        )

    async def _finish(self, session: AsyncSession, kept: ArchivedFile) -> None:
        """Mark the package as ready and notify the household, in the transaction that stores it."""
        done = {
            "status": "ready",
            "document_id": kept.document.id,
            "finished_at": self.clock.now(),
            "held_until": None,
        }
        if not await self._set(session, done):
            return
        for notice in await package_notices(session, self.package, kept):
            await queue_notice(session, self.ring, self.notifications, self.its_time.now(), notice)

    async def _note(self, drawn: int, papers: int) -> None:
        noted = {"drawn": drawn, "papers": papers, "attempts": 0, "held_until": self.clock.now() + LEASE}
        async with self.database.transaction(None) as session:
            await self._set(session, noted)

    async def _release(self) -> None:
        async with self.database.transaction(None) as session:
            await self._set(session, {"held_until": None})

    async def put_off(self) -> None:
        """Postpone the package for a time that doubles with each failure."""
        pause = datetime.timedelta(seconds=2**self.package.attempts)
        async with self.database.transaction(None) as session:
            await self._set(session, {"held_until": self.clock.now() + pause})

    async def give_up(self, failure: dict[str, Any]) -> None:
        """End a package that can't be made, with the failure that the requester sees."""
        ended = {
            "status": "failed",
            "failure": failure,
            "finished_at": self.clock.now(),
            "held_until": None,
        }
        async with self.database.transaction(None) as session:
            await self._set(session, ended)

    async def _others_wait(self) -> bool:
        async with self.database.transaction(None) as session:
            return bool(await session.scalar(_WAITING, {"now": self.clock.now()}))

    async def _set(self, session: AsyncSession, values: dict[str, Any]) -> bool:
        """Change the package unless another worker has finished it; return whether it was changed."""
        statement = (
            update(DocumentPackage)
            .where(DocumentPackage.id == self.package.id, DocumentPackage.finished_at.is_(None))
            .values(**values)
            .returning(DocumentPackage.id)
            .execution_options(synchronize_session=False)
        )
        return await session.scalar(statement) is not None


def _failure_details(refusal: Refusal) -> dict[str, Any]:
    details = refusal.details if isinstance(refusal.details, dict) else {}
    return {"reason": refusal.code} | details
