"""The worker's duty that sends security alerts: one mail per reader with an organization's new sensitive actions.

What one visit of a signed-in person did is in one mail.

Many actions can't suppress a warning: the first few mails of a day are sent at once, later ones hourly, each listing
everything since the one before.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.alerts.reach import holder_of
from hearthpay.alerts.reversal import stoppable
from hearthpay.alerts.sensitive_actions import AlertReader, SensitiveAct, acts_of, alert_recipients
from hearthpay.alerts.wording import alert_mail
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.statements import statement
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
QUIET: Final = datetime.timedelta(minutes=5)
"""How long after a person's last action their visit counts as over."""
MOST_WAIT: Final = datetime.timedelta(minutes=15)
"""How long a visit can hold back its report: a thief who continues doesn't delay it further."""
_MOST_STOPPED: Final = 24
"""The most actions that one link stops: a link has to fit on one line."""

# What signed-in people did waits until their visit is quiet, so that it is one mail, but for MOST_WAIT at the longest;
# what moves a warning's address, and what anyone else did, doesn't wait. The times are the database's, as in the log.
_WAITING: Final = statement(
    "SELECT w.organization_id FROM (SELECT s.organization_id, min(s.created_at) AS since "
    "FROM security_alerts s JOIN audit_log a ON a.id = s.id "
    "WHERE s.told_at IS NULL GROUP BY s.organization_id HAVING bool_or(a.actor_kind <> 'user') "
    "OR bool_or(a.details -> 'before' ? 'email') "
    "OR max(s.created_at) <= now() - CAST(:quiet AS interval) "
    "OR min(s.created_at) <= now() - CAST(:most_wait AS interval)) w "
    "CROSS JOIN LATERAL (SELECT count(DISTINCT t.told_at) AS mails, max(t.told_at) AS latest "
    "FROM security_alerts t WHERE t.organization_id = w.organization_id AND t.told_at > :day) told "
    "WHERE told.mails < :at_once OR told.latest <= :pause ORDER BY w.since, w.organization_id LIMIT :limit"
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
    values = {
        "day": now - _DAY,
        "pause": now - PAUSE,
        "at_once": AT_ONCE,
        "limit": limit,
        "quiet": QUIET,
        "most_wait": MOST_WAIT,
    }
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
        stop = await _stop_of(session, now, organization, each)
        link = None if stop is None else stop_link(ring, now, notifications.links_begin, stop)
        covered = () if stop is None else stop.acts
        mail = alert_mail(each.reader, each.acts, link=link, covered=covered, operator=notifications.operator)
        key = f"alert:{ids[0]}:{hash_of_address(mail.to).hex()[:16]}"
        await queue_notice(
            session, ring, notifications, now, _notice(key, organization, each.acts[0].employer_id, mail)
        )
    if not recipients:
        _log.warning("nobody has an address to be alerted at", organization_id=str(organization))
    return True


async def _stop_of(
    session: AsyncSession, now: datetime.datetime, organization: UUID, reader: AlertReader
) -> StopActs | None:
    """Return what the reader may stop of these actions; None if there is nothing."""
    stop = StopActs(organization, (), reader.reader.address.lower(), reader.member)
    holder = await holder_of(session, now, stop, reader.acts)
    reached = [act for act in reader.acts if holder.reaches(act)]
    if not reached or not (holder.manages or any(stoppable(act, holder.member) for act in reached)):
        return None
    return replace(stop, acts=_chosen(reached, holder.member))


def _chosen(acts: Sequence[SensitiveAct], member: UUID | None) -> tuple[UUID, ...]:
    """Return the actions that the link names, if there are too many: however often addresses change, only the first
    change of each can be reversed, so these come first, and then what was done last.
    """
    if len(acts) <= _MOST_STOPPED:
        return tuple(act.id for act in acts)
    first_moves = {act.subject_id: act.id for act in reversed(acts) if "email" in act.changes}
    others = [act.id for act in acts if stoppable(act, member) and "email" not in act.changes]
    moves = sorted(first_moves.values())[:_MOST_STOPPED]
    return tuple(sorted((*moves, *others[len(others) - max(0, _MOST_STOPPED - len(moves)) :])))


def _notice(key: str, organization: UUID, employer: UUID | None, mail: Mail) -> Notice:
    return Notice(key, SECURITY_ALERT, "person", mail, organization, employer, urgent=True)
