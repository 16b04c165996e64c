"""When a household is to be checked for reminders of its duties, and the day up to which it was checked."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.household_clocks import at_a_clock, by_mode
from hearthpay.database.statements import Fragment, statement
from hearthpay.database.turns import Turns
from hearthpay.database.typed_rows import fetch_all, query


class _TakeRow(NamedTuple):
    id: UUID
    organization_id: UUID
    duties_seen_on: datetime.date | None


_TAKE: Final = by_mode(
    lambda mode: query(
        _TakeRow,
        "SELECT id, organization_id, duties_seen_on FROM employers WHERE {mode} "
        "AND (duties_look_on IS NULL OR duties_look_on <= :today) "
        "AND organization_id <> ALL(CAST(:resting AS uuid[])) "
        "ORDER BY duties_look_on NULLS FIRST, id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED",
        mode=mode,
    ),
    Fragment("sandbox"),
)
_SEEN: Final = text("UPDATE employers SET duties_seen_on = :today, duties_look_on = :again WHERE id = :id")
_DUE: Final = by_mode(
    lambda mode: statement(
        "SELECT count(*) FROM (SELECT FROM employers WHERE {mode} "
        "AND (duties_look_on IS NULL OR duties_look_on <= :today) LIMIT 1000) due",
        mode=mode,
    ),
    Fragment("sandbox"),
)


@dataclass(frozen=True, slots=True)
class ReminderCheck:
    """A household due for a check; `seen_on` is the day up to which it was checked, None for a new one."""

    household: UUID
    seen_on: datetime.date | None


async def claim_reminder_checks(
    session: AsyncSession, today: datetime.date, limit: int, turns: Turns[UUID]
) -> Sequence[ReminderCheck]:
    """Lock up to `limit` real households that are due and that no other worker holds, in turn by organization; the
    session is the worker's.
    """

    async def claim(resting: list[UUID]) -> Sequence[_TakeRow]:
        values = {"today": today, "limit": limit, "resting": resting}
        return await fetch_all(session, _TAKE[at_a_clock(session)], values)

    rows = await turns.take(limit, claim, lambda row: row.organization_id)
    return [ReminderCheck(row.id, row.duties_seen_on) for row in rows]


async def record_reminder_check(
    session: AsyncSession, household: UUID, today: datetime.date, again: datetime.date
) -> None:
    """Record that the household was checked today, and when to check it again."""
    await session.execute(_SEEN, {"id": household, "today": today, "again": again})


async def count_reminder_checks(session: AsyncSession, today: datetime.date) -> int:
    """Return how many households are still due; at most a thousand."""
    return int(await session.scalar(_DUE[at_a_clock(session)], {"today": today}) or 0)
