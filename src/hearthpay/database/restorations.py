"""After a restore: payments made since the backup are unknown, so real money is on hold until a person has checked.

While a row of `restorations` is open, row-level security hides every real payroll, bank entry, bank account and bank
file from the worker's role: nothing real is fired, settled or sent, whichever program runs. Sandboxes continue.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.typed_rows import fetch_all, query

HELD: Final = (
    "this database was restored from a backup: real payrolls and bank files wait until somebody has checked what was "
    "paid since, and said so with `hearthpay resume-after-restore`"
)

TABLE: Final = """
CREATE TABLE IF NOT EXISTS public.restorations (
    id uuid PRIMARY KEY,
    backup text NOT NULL CHECK (backup <> ''),
    taken_at timestamptz NOT NULL,
    restored_at timestamptz NOT NULL,
    resumed_at timestamptz CHECK (resumed_at >= restored_at)
);
"""
"""A backup may be older than this table: the restoring transaction creates it, as the migration does."""

INSERT: Final = (
    "INSERT INTO public.restorations (id, backup, taken_at, restored_at) "
    "VALUES (%(id)s, %(backup)s, %(taken_at)s, %(restored_at)s)"
)
"""For psycopg, which the restoring transaction uses."""

LOST_TRACES: Final = 1_000_000
"""How far trace numbers jump: beyond everything that can have been sent in the lost time, so that the return of a
forgotten payment can't be mistaken for that of a new one."""


class _OpenRow(NamedTuple):
    backup: str
    taken_at: datetime.datetime
    restored_at: datetime.datetime


_OPEN: Final = query(
    _OpenRow,
    "SELECT backup, taken_at, restored_at FROM restorations WHERE resumed_at IS NULL ORDER BY restored_at",
)
_IS_HELD: Final = text("SELECT EXISTS (SELECT FROM restorations WHERE resumed_at IS NULL)")
_RESUME: Final = text("UPDATE restorations SET resumed_at = :now WHERE resumed_at IS NULL")
_SKIP_TRACES: Final = text(
    "UPDATE bank_trace_numbers SET last_used = (last_used + CAST(:lost AS integer)) % 10000000"
)


class _PayrollsRow(NamedTuple):
    id: UUID
    status: str
    scheduled_send_at: datetime.datetime | None
    pay_date: datetime.date
    household: str


_PAYROLLS: Final = query(
    _PayrollsRow,
    "SELECT p.id, p.status, p.scheduled_send_at, p.pay_date, h.first_name || ' ' || h.last_name AS household "
    "FROM payrolls p JOIN employers h ON h.id = p.employer_id WHERE NOT p.sandbox "
    "AND p.status IN ('scheduled', 'firing', 'pending_funding', 'processing') ORDER BY p.scheduled_send_at, p.id",
)


class _EntriesRow(NamedTuple):
    kind: str
    entries: int
    cents: int


_ENTRIES: Final = query(
    _EntriesRow,
    "SELECT kind, count(*) AS entries, sum(amount)::bigint AS cents FROM bank_entries "
    "WHERE NOT sandbox AND status = 'pending' GROUP BY kind ORDER BY kind",
)
_FILES: Final = text("SELECT name FROM bank_files WHERE status = 'built' ORDER BY cut_off")


@dataclass(frozen=True, slots=True)
class Hold:
    """Why real money is on hold."""

    backup: str
    taken_at: datetime.datetime
    restored_at: datetime.datetime


@dataclass(frozen=True, slots=True)
class PendingPayroll:
    """A real payroll that was not yet fully paid at the time of the backup."""

    id: UUID
    status: str
    send_at: datetime.datetime | None
    pay_date: datetime.date
    household: str


@dataclass(frozen=True, slots=True)
class PendingEntries:
    """Real bank entries of one kind that the next file would contain; `cents` is their sum."""

    kind: str
    count: int
    cents: int


@dataclass(frozen=True, slots=True)
class PendingMoney:
    """Everything that continues once real money is released; any of it may have happened since the backup."""

    payrolls: tuple[PendingPayroll, ...]
    entries: tuple[PendingEntries, ...]
    files: tuple[str, ...]


async def is_held(session: AsyncSession) -> bool:
    """Return whether real money is on hold; for the owner and the worker."""
    return bool(await session.scalar(_IS_HELD))


async def hold(
    session: AsyncSession, backup: str, taken_at: datetime.datetime, now: datetime.datetime
) -> None:
    """Put real money on hold, as after a restore from `backup`; the session is the schema owner's."""
    await session.execute(
        text(
            "INSERT INTO restorations (id, backup, taken_at, restored_at) VALUES (:id, :backup, :taken_at, :now)"
        ),
        {"id": uuid7(), "backup": backup, "taken_at": taken_at, "now": now},
    )


async def holds(session: AsyncSession) -> tuple[Hold, ...]:
    """Return the restores that are still open, earliest first; the session is the owner's."""
    return tuple(Hold(row.backup, row.taken_at, row.restored_at) for row in await fetch_all(session, _OPEN))


async def pending_money(session: AsyncSession) -> PendingMoney:
    """Return what is on hold; the session is the owner's."""
    payrolls = await fetch_all(session, _PAYROLLS)
    entries = await fetch_all(session, _ENTRIES)
    files = await session.scalars(_FILES)
    return PendingMoney(
        tuple(
            PendingPayroll(row.id, row.status, row.scheduled_send_at, row.pay_date, row.household)
            for row in payrolls
        ),
        tuple(PendingEntries(row.kind, row.entries, row.cents) for row in entries),
        tuple(files),
    )


async def resume(session: AsyncSession, now: datetime.datetime) -> None:
    """Release real money, with trace numbers that were not used before; the session is the owner's.

    Does nothing if nothing is on hold.
    """
    if await is_held(session):
        await session.execute(_SKIP_TRACES, {"lost": LOST_TRACES})
        await session.execute(_RESUME, {"now": now})
