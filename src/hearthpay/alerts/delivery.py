"""The worker's duty that sends security alerts: one mail per reader with an organization's new sensitive actions.

Many actions can't suppress a warning: the first few mails of a day are sent at once, later ones hourly, each listing
everything since the one before.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.alerts.sensitive_actions import acts_of, alert_recipients
from hearthpay.alerts.wording import alert_mail
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.mail.bounces import hash_of_address
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import SECURITY_ALERT, Notice, NotificationSettings, queue_notice
from hearthpay.people.stop_links import StopActs, stop_link
from hearthpay.security.key_ring import KeyRing

CHUNK: Final = 100
"""Organizations handled in one round, the one whose oldest action has waited longest first."""
AT_ONCE: Final = 5
"""Mails of a day that are sent at once; later ones are PAUSE apart."""
PAUSE: Final = datetime.timedelta(hours=1)
_DAY: Final = datetime.timedelta(hours=24)
_MOST_STOPPED: Final = 30
"""The most actions that one link stops: a link has to fit on one line."""

_WAITING: Final = text(
    "SELECT w.organization_id FROM (SELECT DISTINCT ON (organization_id) organization_id, id FROM security_alerts "
    "WHERE told_at IS NULL ORDER BY organization_id, id) w "
    "CROSS JOIN LATERAL (SELECT count(DISTINCT t.told_at) AS mails, max(t.told_at) AS latest "
    "FROM security_alerts t WHERE t.organization_id = w.organization_id AND t.told_at > :day) told "
    "WHERE told.mails < :at_once OR told.latest <= :pause ORDER BY w.id LIMIT :limit"
)
_IN_TURN: Final = text(
    "SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay alerts ' || :organization, 0))"
)
_CLAIM: Final = text(
    "UPDATE security_alerts SET told_at = :now WHERE organization_id = :organization AND told_at IS NULL RETURNING id"
)
_log = structlog.get_logger("hearthpay.alerts")


@dataclass(frozen=True, slots=True)
class AlertRound:
    """How many organizations were alerted, how many failed, and at least how many are left."""

    told: int = 0
    failed: int = 0
    remaining: int = 0


async def send_alerts(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    *,
    limit: int = CHUNK,
) -> AlertRound:
    """Queue the mails about sensitive actions, one transaction per organization.

    `database` acts as the worker's role; of concurrent workers, one sends. Raises DatabaseUnavailable.
    """
    now = clock.now()
    values = {"day": now - _DAY, "pause": now - PAUSE, "at_once": AT_ONCE, "limit": limit}
    async with database.transaction(None) as session:
        waiting = list(await session.scalars(_WAITING, values))
    sent = failed = 0
    for organization in waiting:
        try:
            async with database.transaction(None) as session:
                sent += await _send(session, ring, notifications, now, organization)
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("alerts could not be told", organization_id=str(organization), exc_info=error)
            failed += 1
    return AlertRound(sent, failed, int(len(waiting) == limit))


async def _send(
    session: AsyncSession,
    ring: KeyRing,
    notifications: NotificationSettings,
    now: datetime.datetime,
    organization: UUID,
) -> bool:
    if not await session.scalar(_IN_TURN, {"organization": str(organization)}):
        return False
    ids: Sequence[UUID] = sorted(await session.scalars(_CLAIM, {"organization": organization, "now": now}))
    if not ids:
        return False
    acts = await acts_of(session, ids)
    recipients = await alert_recipients(session, now, acts)
    for each in recipients:
        stop = StopActs(organization, tuple(act.id for act in each.acts[-_MOST_STOPPED:]))
        link = stop_link(ring, now, notifications.links_begin, stop)
        mail = alert_mail(each.reader, each.acts, link=link, operator=notifications.operator)
        key = f"alert:{ids[0]}:{hash_of_address(mail.to).hex()[:16]}"
        await queue_notice(
            session, ring, notifications, now, _notice(key, organization, each.acts[0].employer_id, mail)
        )
    if not recipients:
        _log.warning("nobody has an address to be alerted at", organization_id=str(organization))
    return True


def _notice(key: str, organization: UUID, employer: UUID | None, mail: Mail) -> Notice:
    return Notice(key, SECURITY_ALERT, "person", mail, organization, employer, urgent=True)
