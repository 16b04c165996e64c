"""The kept figures of what each household has to do: which are outdated, and their renewal in batches.

Whatever changes a household's calendar leaves a note in `outdated_dues` (triggers of the database do). The worker
removes the notes of a household, reads its books and stores the figures in one transaction, so that a change that it
has not read leaves its note behind. Figures count as long as there is no note, on their own day, under the same rules.
"""

import datetime
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.statements import Fragment
from hearthpay.database.turns import Turns
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.duties.dues import HouseholdDues, compute_dues, rules_fingerprint
from hearthpay.employers.models import Employer

CHUNK: Final = 20
"""Households calculated in one transaction, at some milliseconds each."""

_log = structlog.get_logger("hearthpay.duties")


class _IdRow(NamedTuple):
    employer_id: UUID


class _LockedRow(NamedTuple):
    employer_id: UUID
    organization_id: UUID


_OTHERS: Final = Fragment("organization_id <> ALL(CAST(:resting AS uuid[]))")
# Households that were changed first, then those of an earlier day, then those of other rules; each by an index.
_OUTDATED: Final = query(
    _IdRow,
    "SELECT DISTINCT employer_id FROM (SELECT employer_id FROM outdated_dues "
    "WHERE {others} ORDER BY employer_id, id LIMIT :most) o",
    others=_OTHERS,
)
_OF_EARLIER_DAYS: Final = query(
    _IdRow,
    "(SELECT employer_id FROM household_dues WHERE computed_on IS NULL AND {others} "
    "AND (failed_on IS NULL OR failed_on < :today) LIMIT :limit) UNION ALL "
    "(SELECT employer_id FROM household_dues WHERE computed_on < :today AND {others} LIMIT :limit)",
    others=_OTHERS,
)
_OF_OTHER_RULES: Final = query(
    _IdRow,
    "(SELECT employer_id FROM household_dues WHERE rules < :rules AND {others} LIMIT :limit) UNION ALL "
    "(SELECT employer_id FROM household_dues WHERE rules > :rules AND {others} LIMIT :limit)",
    others=_OTHERS,
)
_LOCK: Final = query(
    _LockedRow,
    "SELECT employer_id, organization_id FROM household_dues WHERE employer_id = ANY(CAST(:households AS uuid[])) "
    "ORDER BY employer_id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED",
)
_FORGET: Final = text("DELETE FROM outdated_dues WHERE employer_id = ANY(CAST(:households AS uuid[]))")
_KEEP: Final = text(
    "UPDATE household_dues SET computed_on = :today, rules = :rules, failed_on = NULL, overdue_since = :overdue_since, "
    "overdue_count = :overdue_count, overdue_cents = :overdue_cents, week_count = :week_count, "
    "week_cents = :week_cents, next_due = :next_due, payday_to_run = :payday_to_run WHERE employer_id = :household"
)
_FAILED: Final = text(
    "UPDATE household_dues SET computed_on = NULL, rules = NULL, failed_on = :today WHERE employer_id = :household"
)


async def renew_dues(
    database: Database, clock: Clock, *, chunk: int = CHUNK, turns: Turns[UUID] | None = None
) -> tuple[int, int, int]:
    """Calculate up to `chunk` outdated households; return how many, how many of them failed, and whether more are left.

    `database` acts as the worker's role. Organizations take turns between calls with the same `turns`. A household that
    fails has no figures until it is changed, or the next day. Raises DatabaseUnavailable.
    """
    today = clock.today()
    async with database.transaction(None) as session:
        found: Sequence[UUID] = ()

        async def claim(resting: list[UUID]) -> Sequence[_LockedRow]:
            nonlocal found
            found = await _outdated(session, today, chunk, resting)
            return await fetch_all(session, _LOCK, {"households": found, "limit": chunk}) if found else []

        rows = await (turns or Turns[UUID]()).take(chunk, claim, lambda row: row.organization_id)
        if not found:
            return 0, 0, 0
        households = [row.employer_id for row in rows]
        await session.execute(_FORGET, {"households": households})
        failed = 0
        for household in households:
            try:
                async with session.begin_nested():
                    await _renew(session, household, today)
            except DatabaseUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
                _log.error(
                    "what a household has to do was not calculated", household=household, exc_info=error
                )
                await session.execute(_FAILED, {"household": household, "today": today})
                failed += 1
    return len(households) - failed, failed, int(len(found) >= chunk)


async def _outdated(
    session: AsyncSession, today: datetime.date, chunk: int, resting: list[UUID]
) -> Sequence[UUID]:
    """Return households of others than `resting` to calculate, at least `chunk` if there are as many."""
    asked = {
        "today": today,
        "rules": rules_fingerprint(),
        "limit": chunk,
        "most": 20 * chunk,
        "resting": resting,
    }
    found: dict[UUID, None] = {}
    for statement in (_OUTDATED, _OF_EARLIER_DAYS, _OF_OTHER_RULES):
        if len(found) < chunk:
            found |= dict.fromkeys(row.employer_id for row in await fetch_all(session, statement, asked))
    return list(found)


async def _renew(session: AsyncSession, household: UUID, today: datetime.date) -> None:
    employer = await session.get_one(Employer, household)
    await keep_dues(session, household, today, await compute_dues(session, employer, today))
    session.expunge_all()


async def keep_dues(
    session: AsyncSession, household: UUID, today: datetime.date, dues: HouseholdDues
) -> None:
    """Store the figures of a household as of a day."""
    kept = asdict(dues) | {"household": household, "today": today, "rules": rules_fingerprint()}
    await session.execute(_KEEP, kept)
