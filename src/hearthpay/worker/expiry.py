"""What time does away with: invitations that nobody used, and idempotency keys that nobody repeats any more."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import text

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.worker.duty import Progress

KEEP_KEYS: Final = timedelta(days=30)
"""How long an idempotency key guards a request. Those of payrolls are kept for ever."""

CHUNK: Final = 1000

# One worker at a time: two would only wait for each other's rows, in whatever order.
_MY_TURN: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay.expiry', 0))")
_INVITATIONS: Final = text(
    "UPDATE invitations SET status = 'expired' WHERE status = 'pending' AND id IN "
    "(SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= :now ORDER BY expires_at LIMIT :chunk) "
    "RETURNING true"
)
_KEYS: Final = text(
    "DELETE FROM idempotency_keys WHERE (organization_id, sandbox, key) IN "
    "(SELECT organization_id, sandbox, key FROM idempotency_keys "
    "WHERE path NOT LIKE '%/payroll%' AND created_at < :before ORDER BY created_at LIMIT :chunk) RETURNING true"
)


async def expire(database: Database, clock: Clock, *, chunk: int = CHUNK) -> Progress:
    """End what is over by the clock: at most `chunk` invitations and `chunk` idempotency keys.

    Does nothing while another worker is at it. Raises DatabaseUnavailable.
    """
    now = clock.now()
    async with database.transaction(None) as session:
        if not await session.scalar(_MY_TURN):
            return Progress()
        invitations = len((await session.execute(_INVITATIONS, {"now": now, "chunk": chunk})).all())
        keys = len((await session.execute(_KEYS, {"before": now - KEEP_KEYS, "chunk": chunk})).all())
    return Progress(done=invitations + keys, remaining=int(chunk in (invitations, keys)))
