"""What time does away with: invitations that nobody used, and idempotency keys that nobody repeats any more."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import text

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.worker.duty import Progress

KEEP_KEYS: Final = timedelta(days=30)
"""How long an idempotency key guards a request. Those of payroll runs are kept for ever."""

KEEP_PREVIEWS: Final = timedelta(hours=24)
"""How long the answer to a preview is kept, which changed nothing; and a link from before they were encrypted."""

CHUNK: Final = 1000

# One worker at a time: two would only wait for each other's rows, in whatever order.
_MY_TURN: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay.expiry', 0))")
_INVITATIONS: Final = text(
    "UPDATE invitations SET status = 'expired' WHERE status = 'pending' AND id IN "
    "(SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= :now ORDER BY expires_at LIMIT :chunk) "
    "RETURNING true"
)
_EXPIRED: Final = (
    "DELETE FROM idempotency_keys WHERE (organization_id, sandbox, key) IN "
    "(SELECT organization_id, sandbox, key FROM idempotency_keys "
    "WHERE {} AND created_at < :before ORDER BY created_at LIMIT :chunk) RETURNING true"
)
_KEYS: Final = text(_EXPIRED.format("path NOT LIKE '%/payroll/run'"))
_SHORT_LIVED: Final = text(
    _EXPIRED.format("(path LIKE '%/payroll/preview' OR path LIKE '%/invite' AND key_id IS NULL)")
)


async def expire(database: Database, clock: Clock, *, chunk: int = CHUNK) -> Progress:
    """End what is over by the clock: at most `chunk` invitations and twice `chunk` idempotency keys.

    Does nothing while another worker is at it. Raises DatabaseUnavailable.
    """
    now = clock.now()
    async with database.transaction(None) as session:
        if not await session.scalar(_MY_TURN):
            return Progress()
        invitations = len((await session.execute(_INVITATIONS, {"now": now, "chunk": chunk})).all())
        keys = len((await session.execute(_KEYS, {"before": now - KEEP_KEYS, "chunk": chunk})).all())
        short = {"before": now - KEEP_PREVIEWS, "chunk": chunk}
        previews = len((await session.execute(_SHORT_LIVED, short)).all())
    return Progress(done=invitations + keys + previews, remaining=int(chunk in (invitations, keys, previews)))
