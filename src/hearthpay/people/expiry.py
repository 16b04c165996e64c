"""Deletes one-time tokens and sessions that ended a while ago. For the worker."""

import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_FORGET_TOKENS: Final = text(
    "DELETE FROM one_time_tokens WHERE id IN (SELECT id FROM one_time_tokens WHERE expires_at < :before "
    "ORDER BY expires_at LIMIT :limit) RETURNING true"
)
_FORGET_ADDRESSES: Final = text(
    "DELETE FROM former_addresses WHERE id IN (SELECT id FROM former_addresses WHERE told_until <= :now "
    "ORDER BY told_until LIMIT :limit) RETURNING true"
)
_FORGET_PERSON_ADDRESSES: Final = text(
    "DELETE FROM former_person_addresses WHERE id IN (SELECT id FROM former_person_addresses "
    "WHERE told_until <= :now ORDER BY told_until LIMIT :limit) RETURNING true"
)
_FORGET_SESSIONS: Final = text(
    "DELETE FROM person_sessions WHERE id IN (SELECT id FROM person_sessions WHERE expires_at < :before "
    "ORDER BY expires_at LIMIT :limit) RETURNING true"
)


async def forget_addresses(session: AsyncSession, now: datetime.datetime, *, limit: int) -> int:
    """Delete former addresses that are no longer notified, up to a limit of each kind; return how many."""
    done = 0
    for statement in (_FORGET_ADDRESSES, _FORGET_PERSON_ADDRESSES):
        done += len((await session.execute(statement, {"now": now, "limit": limit})).all())
    return done


async def forget_tokens(session: AsyncSession, before: datetime.datetime, *, limit: int) -> int:
    """Delete links and challenges that expired before the given time, up to a limit; return how many."""
    return len((await session.execute(_FORGET_TOKENS, {"before": before, "limit": limit})).all())


async def forget_sessions(session: AsyncSession, before: datetime.datetime, *, limit: int) -> int:
    """Delete sessions that ended before the given time, up to a limit; return how many. The account's events stay."""
    return len((await session.execute(_FORGET_SESSIONS, {"before": before, "limit": limit})).all())
