"""Deletes idempotency keys that nobody repeats any more; those of payroll runs are never deleted."""

import datetime
from typing import Final

from sqlalchemy import TextClause
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.statements import Fragment, statement


def _forget(which: Fragment) -> TextClause:
    return statement(
        "DELETE FROM idempotency_keys WHERE (organization_id, sandbox, key, confined_to) IN "
        "(SELECT organization_id, sandbox, key, confined_to FROM idempotency_keys "
        "WHERE {which} AND created_at < :before ORDER BY created_at LIMIT :limit) RETURNING true",
        which=which,
    )


_FORGET_KEYS: Final = _forget(Fragment("path NOT LIKE '%/payroll/run'"))
_FORGET_SHORT_LIVED: Final = _forget(
    Fragment("(path LIKE '%/payroll/preview' OR path LIKE '%/invite' AND key_id IS NULL)")
)


async def forget_keys(session: AsyncSession, before: datetime.datetime, *, limit: int) -> int:
    """Delete up to a limit of keys first sent before a time, but never a payroll run's; return how many."""
    return len((await session.execute(_FORGET_KEYS, {"before": before, "limit": limit})).all())


async def forget_short_lived_keys(session: AsyncSession, before: datetime.datetime, *, limit: int) -> int:
    """Delete the keys of previews, and of links from before responses were encrypted; return how many."""
    return len((await session.execute(_FORGET_SHORT_LIVED, {"before": before, "limit": limit})).all())
