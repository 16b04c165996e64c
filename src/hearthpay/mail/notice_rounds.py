"""News: notices of routine events, each sent separately, so that one that fails doesn't delay the others."""

import datetime
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock
from hearthpay.database.household_clocks import OF_THIS_CLOCK
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.statements import statement
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.security.key_ring import KeyRing

AT_ONCE: Final = 100
"""How many news items of a kind one round sends."""

_IN_TURN: Final = statement(
    "SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay news ' || :kind || {of_this_clock}, 0))",
    of_this_clock=OF_THIS_CLOCK,
)
_log = structlog.get_logger("hearthpay.mail")

Find = Callable[[AsyncSession, datetime.datetime, int], Awaitable[Sequence[Sequence[Notice]]]]
"""Returns the notices for up to a number of unsent news items, a sequence for each item."""


@dataclass(frozen=True, slots=True)
class NoticeRound:
    """What one round sent, what failed, and at least how much it left."""

    told: int = 0
    failed: int = 0
    remaining: int = 0


async def send_notices(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    kind: str,
    find: Find,
) -> NoticeRound:
    """Queue up to AT_ONCE news items of the kind; of several workers at once, only one does.

    `database` acts as the worker's role. Raises DatabaseUnavailable.
    """
    now = clock.now()
    try:
        async with database.transaction(None) as session:
            if not await session.scalar(_IN_TURN, {"kind": kind}):
                return NoticeRound()
            found = await find(session, now, AT_ONCE)
            for notices in found:
                for notice in notices:
                    await queue_notice(session, ring, notifications, now, notice)
        return NoticeRound(len(found), 0, 1 if len(found) == AT_ONCE else 0)
    except DatabaseUnavailable:
        raise
    except Exception:  # noqa: BLE001 - one of them is at fault, found by telling them apart
        _log.warning("news are told one by one", kind=kind, exc_info=True)
    return await _send_each(database, ring, notifications, kind, find, now)


async def _send_each(
    database: Database,
    ring: KeyRing,
    notifications: NotificationSettings,
    kind: str,
    find: Find,
    now: datetime.datetime,
) -> NoticeRound:
    async with database.transaction(None) as session:
        found = await find(session, now, AT_ONCE)
    told = failed = 0
    for notices in found:
        try:
            async with database.transaction(None) as session:
                for notice in notices:
                    await queue_notice(session, ring, notifications, now, notice)
            told += 1
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("news could not be told", kind=kind, key=notices[0].key, exc_info=error)
            failed += 1
    return NoticeRound(told, failed, 0)
