"""What the operator may do for people, at the command line and over the owner's connection; each leaves its row."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.people.events import Visit, note_event
from hearthpay.people.health import name_operator
from hearthpay.people.identity import read_address
from hearthpay.people.members import SentInvitation, invite_member
from hearthpay.people.models import Membership, PersonRecord, PersonSession
from hearthpay.people.second_factor import remove_second_factor
from hearthpay.people.sessions import end_all
from hearthpay.people.tokens import leave_token
from hearthpay.security.portal_tokens import PortalToken

_AT_THE_COMMAND_LINE: Final = Visit(None, None, None)


@dataclass(frozen=True, slots=True)
class PersonSummary:
    """A person as the operator's list shows her."""

    id: UUID
    email: str
    name: str
    organizations: int
    last_seen_at: datetime | None


async def list_people(session: AsyncSession) -> Sequence[PersonSummary]:
    """Return everybody who can sign in, by address, with where they are members and when they were seen last."""
    belongs = (
        select(func.count())
        .where(Membership.person_id == PersonRecord.id, Membership.ended_at.is_(None))
        .scalar_subquery()
    )
    seen = (
        select(func.max(PersonSession.last_seen_at))
        .where(PersonSession.person_id == PersonRecord.id)
        .scalar_subquery()
    )
    rows = await session.execute(
        select(PersonRecord.id, PersonRecord.email, PersonRecord.name, belongs, seen).order_by(
            PersonRecord.email
        )
    )
    return [PersonSummary(*row) for row in rows]


async def invite_by_operator(
    session: AsyncSession, clock: Clock, organization_id: UUID, email: str, role: str
) -> SentInvitation:
    """Invite somebody into an organization; the operator hands the link over. Raises `validation_error`."""
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
    """Let the person in by her password alone, who has lost her second factor. Raises `not_found`."""
    person = await _person(session, email)
    await remove_second_factor(session, clock.now(), person.id)
    await note_event(session, person.id, _AT_THE_COMMAND_LINE, "second_factor.remove_by_operator")


async def name_operator_by_operator(session: AsyncSession, clock: Clock, email: str, *, named: bool) -> None:
    """Let the person look at how the installation goes, or no more. Raises `not_found`."""
    await name_operator(session, clock, await _person(session, email), named=named)


async def _person(session: AsyncSession, email: str) -> PersonRecord:
    found: PersonRecord | None = await session.scalar(
        select(PersonRecord).where(PersonRecord.email == read_address(email))
    )
    if found is None:
        raise Refusal("not_found", "There is nobody with this address.")
    return found
