"""Advances a household's clock, for the worker: which clocks to move, the next instant, and what was reached.

An advance goes from one instant to the next at which something may be due: every day's cut-off of the bank, and the
moments that the household's own rows name. At each, the worker does all that is due by then, and only then is the
clock set to it. So a killed worker never leaves a household at a time whose work isn't done, and the next one begins
with the same instant.

Organizations take turns: the one whose last turn is longest ago is next, and of its households the one whose last turn
is. An organization that never had a turn joins at the end of the line.
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

# At the end of the line: one that deletes its households and makes new ones overtakes nobody.
_JOIN: Final = text(
    "UPDATE household_clocks c "
    "SET turn = (SELECT max(o.turn) + 1 FROM household_clocks o WHERE o.status = 'advancing') "
    "WHERE c.status = 'advancing' AND c.turn = 0 AND NOT EXISTS (SELECT FROM household_clocks o "
    "WHERE o.organization_id = c.organization_id AND o.turn > 0)"
)
_TAKE_TURN: Final = text(
    "WITH next AS MATERIALIZED (SELECT c.employer_id FROM household_clocks c WHERE c.status = 'advancing' "
    "AND c.employer_id <> ALL(CAST(:others AS uuid[])) "
    "ORDER BY (SELECT max(o.turn) FROM household_clocks o WHERE o.organization_id = c.organization_id), c.turn, "
    "c.requested_at, c.employer_id LIMIT 1 FOR UPDATE OF c SKIP LOCKED) "
    "UPDATE household_clocks c "
    "SET turn = (SELECT max(o.turn) + 1 FROM household_clocks o WHERE o.status = 'advancing') "
    "FROM next WHERE c.employer_id = next.employer_id RETURNING c.employer_id"
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


async def take_turn(session: AsyncSession, others: Sequence[UUID]) -> UUID | None:
    """Return the household whose turn it is, `others` aside, and put its organization at the end of the line; None if
    no other clock is to move. The session is the worker's.
    """
    await session.execute(_JOIN)
    household: UUID | None = await session.scalar(_TAKE_TURN, {"others": list(others)})
    return household


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
