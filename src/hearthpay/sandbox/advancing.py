"""Advances a household's clock, for the worker: which clocks to move, the next instant, and what was reached.

An advance goes from one instant to the next at which something may be due: every day's cut-off of the bank, and the
moments that the household's own rows name. At each, the worker does all that is due by then, and only then is the
clock set to it. So a killed worker never leaves a household at a time whose work isn't done, and the next one begins
with the same instant.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import CUT_OFF
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.relations import DUE_ACCOUNT_CHANGES, DUE_AUTOPILOT, DUE_INVITATIONS, DUE_PAYROLLS
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_optional, query

MOST_FAILURES: Final = 3
"""After this many failures of the same step in a row, the advance ends where it is."""

_ADVANCING: Final = text(
    "SELECT employer_id FROM household_clocks WHERE status = 'advancing' "
    "ORDER BY requested_at, employer_id LIMIT :limit"
)
_COUNT: Final = text("SELECT count(*) FROM household_clocks WHERE status = 'advancing'")
_CLAIM: Final = text(
    "SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay clock ' || CAST(:employer_id AS text), 0))"
)


class _ReadRow(NamedTuple):
    stands_at: datetime.datetime
    target: datetime.datetime


_READ: Final = query(
    _ReadRow,
    "SELECT stands_at, target FROM household_clocks WHERE employer_id = :employer_id AND status = 'advancing'",
)
_NEXT: Final = statement(
    "SELECT min(due_at) FROM (SELECT due_at FROM {due_payrolls} p UNION ALL SELECT due_at FROM {due_autopilot} a "
    "UNION ALL SELECT due_at FROM {due_invitations} i UNION ALL SELECT due_at FROM {due_account_changes} b) due "
    "WHERE due_at > :after AND due_at < :before",
    due_payrolls=DUE_PAYROLLS,
    due_autopilot=DUE_AUTOPILOT,
    due_invitations=DUE_INVITATIONS,
    due_account_changes=DUE_ACCOUNT_CHANGES,
)
_REACHED: Final = text(
    "UPDATE household_clocks SET stands_at = :at, failed_steps = 0, "
    "status = CASE WHEN :at = target THEN 'ready' ELSE status END, "
    "finished_at = CASE WHEN :at = target THEN CAST(:real AS timestamptz) END "
    "WHERE employer_id = :employer_id AND status = 'advancing' AND stands_at = :was"
)
_FAILED: Final = text(
    "UPDATE household_clocks SET failed_steps = failed_steps + 1, "
    "status = CASE WHEN failed_steps + 1 >= :most THEN 'internal_failure' ELSE status END, "
    "finished_at = CASE WHEN failed_steps + 1 >= :most THEN CAST(:real AS timestamptz) END "
    "WHERE employer_id = :employer_id AND status = 'advancing'"
)


@dataclass(frozen=True, slots=True)
class Advance:
    """An advance in progress: the household's current time, and its target."""

    employer_id: UUID
    stands_at: datetime.datetime
    target: datetime.datetime


async def advancing_households(session: AsyncSession, limit: int) -> Sequence[UUID]:
    """Return households whose clock is to move, the earliest requested first; the session is the worker's."""
    return list(await session.scalars(_ADVANCING, {"limit": limit}))


async def count_advancing(session: AsyncSession) -> int:
    """Return how many clocks are to move."""
    return int(await session.scalar(_COUNT) or 0)


async def claim_advance(session: AsyncSession, employer_id: UUID) -> Advance | None:
    """Claim the household's clock until the transaction ends; None if another worker has it, or it has arrived."""
    if not await session.scalar(_CLAIM, {"employer_id": employer_id}):
        return None
    row = await fetch_optional(session, _READ, {"employer_id": employer_id})
    return None if row is None else Advance(employer_id, row.stands_at, row.target)


async def next_instant(session: AsyncSession, advance: Advance) -> datetime.datetime:
    """Return the next instant to work at; the session is the worker's at the household's time."""
    until = min(advance.target, next_cut_off(advance.stands_at))
    due: datetime.datetime | None = await session.scalar(_NEXT, {"after": advance.stands_at, "before": until})
    return until if due is None else due


def next_cut_off(after: datetime.datetime) -> datetime.datetime:
    """Return the next time that it is 15:00 Eastern, on any day."""
    here = after.astimezone(BUSINESS_TIME)
    day = here.date()
    if here.time() >= CUT_OFF:
        day += datetime.timedelta(days=1)
    return datetime.datetime.combine(day, CUT_OFF, BUSINESS_TIME).astimezone(datetime.UTC)


async def note_reached(
    session: AsyncSession, advance: Advance, at: datetime.datetime, real: datetime.datetime
) -> None:
    """Set the clock to `at`, by when all that was due has been done; `real` is the actual time."""
    values = {"employer_id": advance.employer_id, "at": at, "was": advance.stands_at, "real": real}
    await session.execute(_REACHED, values)


async def note_failed_step(session: AsyncSession, employer_id: UUID, real: datetime.datetime) -> None:
    """Count a failed step; after MOST_FAILURES in a row the clock stays where it is, with `internal_failure`."""
    await session.execute(_FAILED, {"employer_id": employer_id, "most": MOST_FAILURES, "real": real})
