"""What the operator may do for people, at the command line over the owner's connection; each action writes an audit
row.

A person is an operator on the pages if the command line, or the first owner's link, made them one: they see what
concerns the installation as a whole. It isn't a role in an organization, and being an owner doesn't confer it. The
service's database role can't grant it.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.session import become_person
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.identity import read_address
from hearthpay.people.members import SentInvitation, invite_member
from hearthpay.people.models import Membership, PersonRecord, PersonSession
from hearthpay.people.second_factor import remove_second_factor
from hearthpay.people.sessions import SignedIn, end_all
from hearthpay.people.tokens import leave_token
from hearthpay.security.portal_tokens import PortalToken, parse_token

NOT_SENT_FOR: Final = datetime.timedelta(days=30)
"""How far back unsent mail is shown."""
MOST_SHOWN: Final = 200


class _NotSentRow(NamedTuple):
    mail_id: UUID
    organization: str | None
    kind: str
    recipient: str
    status: str
    reason: str
    created_at: datetime.datetime
    finished_at: datetime.datetime | None


_NOT_SENT: Final = query(
    _NotSentRow,
    "SELECT {columns} FROM mails_not_sent(:since, :most)",
    columns=column_list(_NotSentRow._fields),
)


_FIRST: Final = text("SELECT become_first_operator(:token_hash, :now)")
_AT_THE_COMMAND_LINE: Final = Visit(None, None, None)


@dataclass(frozen=True, slots=True)
class PersonSummary:
    """A person in the operator's list."""

    id: UUID
    email: str
    name: str
    organizations: int
    last_seen_at: datetime.datetime | None
    operates: bool


async def list_people(session: AsyncSession) -> Sequence[PersonSummary]:
    """Return everyone who can sign in, by address, with their memberships and when they were last seen."""
    belongs = (
        select(func.count())
        .where(Membership.person_id == PersonRecord.id, Membership.ended_at.is_(None))
        .scalar_subquery()
    )
    last_seen = (
        select(func.max(PersonSession.last_seen_at))
        .where(PersonSession.person_id == PersonRecord.id)
        .scalar_subquery()
    )
    rows = await session.execute(
        select(
            PersonRecord.id,
            PersonRecord.email,
            PersonRecord.name,
            belongs,
            last_seen,
            PersonRecord.operator_since.is_not(None),
        ).order_by(PersonRecord.email)
    )
    return [PersonSummary(*row) for row in rows]


async def invite_by_operator(
    session: AsyncSession, clock: Clock, organization_id: UUID, email: str, role: str
) -> SentInvitation:
    """Invite someone into an organization; the operator hands over the link. Raises `validation_error`."""
    operator = Actor.operator(organization_id, sandbox=False, request_id="")
    return await invite_member(session, operator, clock, email, role)


async def reset_by_operator(session: AsyncSession, clock: Clock, email: str) -> PortalToken:
    """Return a one-time token for a new password of the person with this address. Raises `not_found`."""
    person = await _person(session, email)
    token = await leave_token(session, clock.now(), "reset", email=person.email, person_id=person.id)
    await note_event(session, person.id, _AT_THE_COMMAND_LINE, "reset.by_operator")
    return token


async def end_sessions_by_operator(session: AsyncSession, clock: Clock, email: str) -> int:
    """End every session of the person; return how many. Raises `not_found`."""
    person = await _person(session, email)
    ended = await end_all(session, clock.now(), person.id)
    await note_event(session, person.id, _AT_THE_COMMAND_LINE, "session.end_by_operator", {"sessions": ended})
    return ended


async def remove_second_factor_by_operator(session: AsyncSession, clock: Clock, email: str) -> None:
    """Remove the second factor of a person who lost it, so that the password is enough. Raises `not_found`."""
    person = await _person(session, email)
    await remove_second_factor(session, clock.now(), person.id)
    await note_event(session, person.id, _AT_THE_COMMAND_LINE, "second_factor.remove_by_operator")


async def make_operator(session: AsyncSession, clock: Clock, email: str) -> None:
    """Make the person an operator, who sees what concerns the installation as a whole. Raises `not_found`."""
    person = await _person(session, email)
    person.operator_since = person.operator_since or clock.now()
    await session.flush()
    await note_event(session, person.id, _AT_THE_COMMAND_LINE, "operator.make")


async def unmake_operator(session: AsyncSession, email: str) -> None:
    """Remove the person as an operator; effective with the next request. Raises `not_found`."""
    person = await _person(session, email)
    person.operator_since = None
    await session.flush()
    await note_event(session, person.id, _AT_THE_COMMAND_LINE, "operator.unmake")


async def operate_first(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, presented: str, visit: Visit
) -> None:
    """Make the person who used the first owner's link an operator, unless there is one; the transaction is theirs."""
    token = parse_token(presented)
    if token is not None and await session.scalar(_FIRST, {"token_hash": token.hash, "now": now}):
        await note_event(session, person_id, visit, "operator.make")


def require_operator(who: SignedIn) -> None:
    """Raise `not_found` for a person who isn't an operator, so that the page's existence isn't revealed."""
    if not who.operates:
        raise Refusal("not_found", "Page not found. Check the address.")


@dataclass(frozen=True, slots=True)
class UnsentMail:
    """A mail that was refused, given up, or put into the folder; without the recipient."""

    id: UUID
    organization: str | None
    kind: str
    recipient: str
    status: str
    reason: str
    created_at: datetime.datetime


async def mails_not_sent(people_context: PeopleContext, who: SignedIn) -> Sequence[UnsentMail]:
    """Return the mail that wasn't sent within NOT_SENT_FOR, newest first, of every organization. Raises `not_found`."""
    require_operator(who)
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        rows = await fetch_all(
            session, _NOT_SENT, {"since": people_context.clock.now() - NOT_SENT_FOR, "most": MOST_SHOWN}
        )
        return [
            UnsentMail(
                row.mail_id,
                row.organization,
                row.kind,
                row.recipient,
                row.status,
                row.reason,
                row.created_at,
            )
            for row in rows
        ]


async def _person(session: AsyncSession, email: str) -> PersonRecord:
    found: PersonRecord | None = await session.scalar(
        select(PersonRecord).where(PersonRecord.email == read_address(email))
    )
    if found is None:
        raise Refusal("not_found", "There is nobody with this address.")
    return found
