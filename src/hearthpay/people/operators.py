"""What the operator may do for people, at the command line over the owner's connection; each action writes an audit
row.

A person is an operator on the pages if the command line, or the first owner's link, made them one: they see what
concerns the installation as a whole. It isn't a role in an organization, and being an owner doesn't confer it. The
service's database role can't grant it.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.session import become_person
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import mark
from hearthpay.people.address_dispute import AddressSettlement, settle
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.identity import read_address
from hearthpay.people.members import (
    SentInvitation,
    change_role,
    invite_member,
    remove_member,
    withdraw_invitations_of,
)
from hearthpay.people.models import Membership, PersonRecord, PersonSession
from hearthpay.people.second_factor import remove_second_factor, second_factor_of
from hearthpay.people.sessions import SignedIn, end_all
from hearthpay.people.sign_in import person_at, send_sign_in_notice
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

_RESET: Final = mark("a link for a new password was made")
_SESSIONS: Final = mark("all your sessions were ended")
_SECOND_FACTOR: Final = mark("two-step verification was turned off")
_OPERATES: Final = mark("you now manage this installation")
_OPERATES_NO_MORE: Final = mark("you no longer manage this installation")


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


async def remove_member_by_operator(
    session: AsyncSession, clock: Clock, organization_id: UUID, email: str
) -> None:
    """End a membership at once, an owner's too, with what the member left: connected apps, keys, and the invitations
    that they sent; the alerts email all members and the households. The transaction is the organization's.

    Raises `not_found`, and `invalid_state` for the last owner.
    """
    operator, member = await _member(session, organization_id, email)
    await withdraw_invitations_of(session, operator, clock, member.person_id)
    await remove_member(session, operator, clock, member.id)


async def change_role_by_operator(
    session: AsyncSession, clock: Clock, organization_id: UUID, email: str, role: str
) -> None:
    """Give a member another role at once; the alerts email all members and the households. The transaction is the
    organization's.

    Raises `not_found`, `validation_error`, and `invalid_state` for the last owner.
    """
    operator, member = await _member(session, organization_id, email)
    await change_role(session, operator, clock, member.id, role)


async def reset_by_operator(session: AsyncSession, people_context: PeopleContext, email: str) -> PortalToken:
    """Return a one-time token for a new password of the person with this address, and tell them. Raises `not_found`."""
    person, now = await _person(session, email), people_context.clock.now()
    token = await leave_token(session, now, "reset", email=person.email, person_id=person.id)
    await _note(session, people_context, person, "reset.by_operator", _RESET)
    return token


async def end_sessions_by_operator(session: AsyncSession, people_context: PeopleContext, email: str) -> int:
    """End every session of the person, and tell them; return how many. Raises `not_found`."""
    person = await _person(session, email)
    ended = await end_all(session, people_context.clock.now(), person.id)
    if ended:
        details = {"sessions": ended}
        await _note(session, people_context, person, "session.end_by_operator", _SESSIONS, details)
    return ended


async def remove_second_factor_by_operator(
    session: AsyncSession, people_context: PeopleContext, email: str
) -> bool:
    """Remove the second factor of a person who lost it, so that the password is enough, and tell them; return whether
    there was one. Raises `not_found`.
    """
    person = await _person(session, email)
    if await second_factor_of(session, person.id) is None:
        return False
    await remove_second_factor(session, people_context.clock.now(), person.id)
    await _note(session, people_context, person, "second_factor.remove_by_operator", _SECOND_FACTOR)
    return True


async def settle_address_by_operator(
    session: AsyncSession, people_context: PeopleContext, email: str, choice: str
) -> AddressSettlement:
    """Decide which address of a person is right; `email` is the current one. Raises `not_found`, and what `settle`
    raises.
    """
    person = await _person(session, email)
    return await settle(people_context, session, person.id, choice, _AT_THE_COMMAND_LINE, by="operator")


async def make_operator(session: AsyncSession, people_context: PeopleContext, email: str) -> bool:
    """Make the person an operator, who sees what concerns the installation as a whole, and tell them; return whether
    they weren't one before. Raises `not_found`.
    """
    person = await _person(session, email)
    if person.operator_since is not None:
        return False
    person.operator_since = people_context.clock.now()
    await session.flush()
    await _note(session, people_context, person, "operator.make", _OPERATES)
    return True


async def unmake_operator(session: AsyncSession, people_context: PeopleContext, email: str) -> bool:
    """Remove the person as an operator, effective with the next request, and tell them; return whether they were one.
    Raises `not_found`.
    """
    person = await _person(session, email)
    if person.operator_since is None:
        return False
    person.operator_since = None
    await session.flush()
    await _note(session, people_context, person, "operator.unmake", _OPERATES_NO_MORE)
    return True


async def _note(
    session: AsyncSession,
    people_context: PeopleContext,
    person: PersonRecord,
    action: str,
    what: str,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Record what was done to the person's account, and tell them by mail."""
    await note_event(session, person.id, _AT_THE_COMMAND_LINE, action, details)
    now = people_context.clock.now()
    await send_sign_in_notice(people_context, session, now, person.id, "by_operator", what=what)


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


async def _member(session: AsyncSession, organization_id: UUID, email: str) -> tuple[Actor, Membership]:
    """Return the operator in the organization, and its member with this address."""
    address = read_address(email)
    found: Membership | None = await session.scalar(
        select(Membership)
        .join(PersonRecord, PersonRecord.id == Membership.person_id)
        .where(
            Membership.organization_id == organization_id,
            PersonRecord.email == address,
            Membership.ended_at.is_(None),
        )
    )
    if found is None:
        raise Refusal("not_found", "There is no member with this address.")
    return Actor.operator(organization_id, sandbox=False, request_id=""), found


async def _person(session: AsyncSession, email: str) -> PersonRecord:
    found: PersonRecord | None = await session.scalar(
        select(PersonRecord).where(PersonRecord.id == await person_at(session, read_address(email)))
    )
    if found is None:
        raise Refusal("not_found", "There is nobody with this address.")
    return found
