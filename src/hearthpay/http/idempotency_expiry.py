"""Idempotency keys that nobody repeats any more are deleted; those of payroll runs never are."""

import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_FORGET: Final = (
    "DELETE FROM idempotency_keys WHERE (organization_id, sandbox, key) IN "
    "(SELECT organization_id, sandbox, key FROM idempotency_keys "
    "WHERE {} AND created_at < :before ORDER BY created_at LIMIT :limit) RETURNING true"
)
_FORGET_KEYS: Final = text(_FORGET.format("path NOT LIKE '%/payroll/run'"))
_FORGET_SHORT_LIVED: Final = text(
    _FORGET.format("(path LIKE '%/payroll/preview' OR path LIKE '%/invite' AND key_id IS NULL)")
)


async def forget_keys(session: AsyncSession, before: datetime.datetime, *, limit: int) -> int:
    """Delete keys that were first sent before then, at most so many, but never a payroll run's; return how many."""
    return len((await session.execute(_FORGET_KEYS, {"before": before, "limit": limit})).all())


async def forget_short_lived_keys(session: AsyncSession, before: datetime.datetime, *, limit: int) -> int:
    """Delete the keys of previews, and of links from before answers were encrypted; return how many."""
    return len((await session.execute(_FORGET_SHORT_LIVED, {"before": before, "limit": limit})).all())
