"""The worker's problems: logged when they begin, once a day while they last, and stored for later lookup.

Every worker finds the same problems every minute. A problem is the same as long as only its numbers and days change
and it is seen again within the hour.
"""

import datetime
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_one, query

WorkerProblemKind = Literal["outage", "other"]
"""`outage`: nothing is sent to the bank, for any payment."""

LOG_AGAIN: Final = datetime.timedelta(days=1)
"""How often a lasting problem is logged."""

_OVER_AFTER: Final = datetime.timedelta(hours=1)
_KEPT: Final = datetime.timedelta(days=30)
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER: Final = re.compile(r"(?<![\w-])\d+(?![\w-])")


class _NoteRow(NamedTuple):
    since: datetime.datetime
    to_log: bool


_NOTE: Final = query(
    _NoteRow,
    "INSERT INTO worker_problems AS w (key, kind, problem, since, seen_at, logged_at) "
    "VALUES (:key, :kind, :problem, :now, :now, :now) ON CONFLICT (key) DO UPDATE SET problem = :problem, "
    "since = CASE WHEN w.seen_at < :over THEN :now ELSE w.since END, seen_at = greatest(w.seen_at, :now), "
    "logged_at = CASE WHEN w.seen_at < :over OR w.logged_at <= :before THEN :now ELSE w.logged_at END "
    "RETURNING w.since, w.logged_at = :now AS to_log",
)
_FORGET: Final = text("DELETE FROM worker_problems WHERE seen_at < :before")
_log = structlog.get_logger("hearthpay.bank")


@dataclass(frozen=True, slots=True)
class NotedProblem:
    """A problem as it is stored; `since` says which occurrence of it this is."""

    key: str
    kind: WorkerProblemKind
    problem: str
    since: datetime.datetime


async def note_problems(
    session: AsyncSession, now: datetime.datetime, problems: Sequence[tuple[WorkerProblemKind, str]]
) -> list[NotedProblem]:
    """Store the problems of one round, and log those that are new or haven't been logged for a day."""
    noted = []
    for key, (kind, problem) in sorted({problem_key(each[1]): each for each in problems}.items()):
        values = {
            "key": key,
            "kind": kind,
            "problem": problem,
            "now": now,
            "over": now - _OVER_AFTER,
            "before": now - LOG_AGAIN,
        }
        row = await fetch_one(session, _NOTE, values)
        if row.to_log:
            _log.error("bank problem", problem=problem, since=row.since.isoformat())
        noted.append(NotedProblem(key, kind, problem, row.since))
    if noted:
        await session.execute(_FORGET, {"before": now - _KEPT})
    return noted


def problem_key(problem: str) -> str:
    """Return the part of a problem that stays the same while it lasts: counts and days change."""
    steady = _NUMBER.sub("#", _DAY.sub("#", problem))
    return hashlib.md5(steady.encode(), usedforsecurity=False).hexdigest()
