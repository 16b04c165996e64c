"""Deletes what has expired: programs that nobody authorized, requests, and tokens that ended long ago. For the
worker.

A request that granted nothing is deleted as soon as it has ended. One that was answered with a code stays for a
while, as tokens do, so that their reuse is recognized.
"""

import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_KEPT: Final = datetime.timedelta(days=30)
_CLIENTS: Final = text(
    "DELETE FROM agent_clients WHERE id IN (SELECT c.id FROM agent_clients c WHERE c.expires_at < :now "
    "AND NOT EXISTS (SELECT FROM agent_grants g WHERE g.client_id = c.client_id AND g.ended_at IS NULL "
    "AND g.expires_at > :now) ORDER BY c.expires_at LIMIT :limit) RETURNING true"
)
_QUESTIONS: Final = text(
    "DELETE FROM agent_requests WHERE id IN (SELECT id FROM agent_requests WHERE expires_at < :now "
    "AND (grant_id IS NULL OR expires_at < :before) ORDER BY expires_at LIMIT :limit) RETURNING true"
)
_TOKENS: Final = text(
    "DELETE FROM agent_tokens WHERE id IN (SELECT id FROM agent_tokens WHERE expires_at < :before "
    "ORDER BY expires_at LIMIT :limit) RETURNING true"
)


async def forget_agents(session: AsyncSession, now: datetime.datetime, *, limit: int) -> tuple[int, int, int]:
    """Delete what has ended, up to a limit of each; return how many programs, requests and tokens. Grants stay."""
    before = now - _KEPT
    return (
        len((await session.execute(_CLIENTS, {"now": now, "limit": limit})).all()),
        len((await session.execute(_QUESTIONS, {"now": now, "before": before, "limit": limit})).all()),
        len((await session.execute(_TOKENS, {"before": before, "limit": limit})).all()),
    )
