"""The secret link of a household's calendar: created, renewed, revoked, and opened by anyone who has it.

A household has at most one link in force. The database keeps only a hash of its token, which nobody can read; a link
stops working the moment it is renewed or revoked.
"""

import datetime
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_CALENDAR, READ_CALENDAR, REVOKE_CALENDAR_LINK, allow
from hearthpay.clock import Clock
from hearthpay.database.session import Database, Tenant
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.duties.models import CalendarLink
from hearthpay.employers.models import Employer
from hearthpay.security.portal_tokens import PortalToken, generate_token

FEED_PATH: Final = "/calendar"
"""The start of the links; the token follows, then ``.ics``."""


class _FindRow(NamedTuple):
    link_id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool


_FIND: Final = query(
    _FindRow, "SELECT link_id, organization_id, employer_id, sandbox FROM find_calendar_link(:token_hash)"
)


@dataclass(frozen=True, slots=True)
class OpenLink:
    """A link in force, and whose it is."""

    id: UUID
    tenant: Tenant


async def make_link(session: AsyncSession, actor: Actor, clock: Clock, employer: Employer) -> PortalToken:
    """Return the token of a new link; the previous one stops working. With an audit row.

    Give it out only once the transaction has committed. Raises what `allow` raises.
    """
    allow(actor, KEEP_CALENDAR, employer.id)
    replaced = await _end(session, clock, employer)
    token, link_id = generate_token(), uuid7()
    await session.execute(
        insert(CalendarLink).values(
            id=link_id,
            organization_id=employer.organization_id,
            employer_id=employer.id,
            sandbox=employer.sandbox,
            token_hash=token.hash,
            created_at=clock.now(),
        )
    )
    await record_audit(
        session,
        actor,
        "calendar_link.create",
        employer_id=employer.id,
        subject_id=link_id,
        details={"replaced": replaced},
    )
    return token


async def revoke_link(session: AsyncSession, actor: Actor, clock: Clock, employer: Employer) -> bool:
    """End the link in force, with an audit row; return whether there was one. Raises what `allow` raises."""
    allow(actor, REVOKE_CALENDAR_LINK, employer.id)
    ended = await _end(session, clock, employer)
    if ended is None:
        return False
    await record_audit(
        session, actor, "calendar_link.revoke", employer_id=employer.id, subject_id=ended, details={}
    )
    return True


async def link_in_force(session: AsyncSession, actor: Actor, employer: Employer) -> datetime.datetime | None:
    """Return when the household's link came into force; None if there is none. Raises what `allow` raises."""
    allow(actor, READ_CALENDAR, employer.id)
    since: datetime.datetime | None = await session.scalar(
        select(CalendarLink.created_at).where(
            CalendarLink.employer_id == employer.id, CalendarLink.revoked_at.is_(None)
        )
    )
    return since


async def _end(session: AsyncSession, clock: Clock, employer: Employer) -> UUID | None:
    """Revoke the household's link, if it has one; the household is locked, so two new links are made in sequence."""
    await session.execute(
        select(Employer.id).where(Employer.id == employer.id).with_for_update(key_share=True)
    )
    statement = (
        update(CalendarLink)
        .where(CalendarLink.employer_id == employer.id, CalendarLink.revoked_at.is_(None))
        .values(revoked_at=clock.now())
        .returning(CalendarLink.id)
    )
    ended: UUID | None = await session.scalar(statement)
    return ended


async def open_link(database: Database, token: PortalToken) -> OpenLink | None:
    """Return the link in force for a token, or None."""
    async with database.transaction(None) as session:
        row = await fetch_optional(session, _FIND, {"token_hash": token.hash})
    if row is None:
        return None
    return OpenLink(row.link_id, Tenant(row.organization_id, row.sandbox, row.employer_id))
