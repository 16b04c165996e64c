"""What expires by time: unused invitations, idempotency keys, ended sessions."""

from __future__ import annotations

import datetime
from typing import Final

from sqlalchemy import text

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.employees.invitations import expire_invitations
from hearthpay.http.idempotency_expiry import forget_keys, forget_short_lived_keys
from hearthpay.oauth.expiry import forget_agents
from hearthpay.people.expiry import forget_addresses, forget_sessions, forget_tokens
from hearthpay.worker.duty import Progress

KEEP_KEYS: Final = datetime.timedelta(days=30)
"""How long an idempotency key guards a request. Those of payroll runs are kept for ever."""

KEEP_PREVIEWS: Final = datetime.timedelta(hours=24)
"""How long the answer to a preview is kept, which changed nothing; and a link from before they were encrypted."""

KEEP_SESSIONS: Final = datetime.timedelta(days=30)
"""How long the database remembers a session, or a link, after it has ended."""

CHUNK: Final = 1000

# One worker at a time: two would only wait for each other's rows.
_MY_TURN: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay.expiry', 0))")


async def expire(database: Database, clock: Clock, *, chunk: int = CHUNK) -> Progress:
    """End what has expired by the clock: at most `chunk` of each kind, twice as many idempotency keys.

    Does nothing while another worker does it. Raises DatabaseUnavailable.
    """
    now = clock.now()
    async with database.transaction(None) as session:
        if not await session.scalar(_MY_TURN):
            return Progress()
        invitations = await expire_invitations(session, now, limit=chunk)
        keys = await forget_keys(session, now - KEEP_KEYS, limit=chunk)
        previews = await forget_short_lived_keys(session, now - KEEP_PREVIEWS, limit=chunk)
        tokens = await forget_tokens(session, now - KEEP_SESSIONS, limit=chunk)
        sessions = await forget_sessions(session, now - KEEP_SESSIONS, limit=chunk)
        agents = await forget_agents(session, now, limit=chunk)
        addresses = await forget_addresses(session, now, limit=chunk)
    done = (invitations, keys, previews, tokens, sessions, addresses, *agents)
    return Progress(done=sum(done), remaining=int(chunk in done))
