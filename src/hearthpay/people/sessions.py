"""Sessions: a browser in which someone is signed in. The cookie holds a random token, the database its hash.

A session ends when it is signed out, after thirty days, or when it hasn't been used for seven. Permissions depend on
the person's current memberships, which are read with every request.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor, Role
from hearthpay.access.plans import Terms, terms_of
from hearthpay.access.refusal import Refusal
from hearthpay.database.relations import EMPLOYEE_LINKS
from hearthpay.database.session import become_person
from hearthpay.database.statements import column_list, statement
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.models import PersonSession
from hearthpay.security.portal_tokens import PortalToken, generate_token, parse_token

LASTS: Final = datetime.timedelta(days=30)
IDLE: Final = datetime.timedelta(days=7)
PENDING_LASTS: Final = datetime.timedelta(minutes=10)
"""How long someone who entered their password has to enter the second factor."""
FRESH: Final = datetime.timedelta(minutes=10)
"""How long after confirming their identity a person needn't do so again before a sensitive change."""

_SEEN_EVERY: Final = datetime.timedelta(minutes=5)

SignInMethod = Literal["password", "passkey", "link"]


class _FindRow(NamedTuple):
    session_id: UUID
    person_id: UUID


_FIND: Final = query(_FindRow, "SELECT session_id, person_id FROM find_person_session(:token_hash)")


class _OwnRow(NamedTuple):
    membership_id: UUID
    organization_id: UUID
    organization: str
    role: str
    plan: str
    lifted_limits: dict[str, int | None]
    joined_at: datetime.datetime


_OWN: Final = query(
    _OwnRow,
    "SELECT {columns} FROM own_memberships()",
    columns=column_list(_OwnRow._fields),
)


class _SignedInRow(NamedTuple):
    stage: str
    authenticated_at: datetime.datetime
    last_seen_at: datetime.datetime
    expires_at: datetime.datetime
    chosen_organization_id: UUID | None
    in_sandbox: bool
    name: str
    email: str
    language: str
    operates: bool
    employed: bool
    membership_id: UUID | None
    organization_id: UUID
    organization: str
    role: str
    plan: str
    lifted_limits: dict[str, int | None]


_SIGNED_IN: Final = query(
    _SignedInRow,
    "SELECT s.stage, s.authenticated_at, s.last_seen_at, s.expires_at, s.chosen_organization_id, s.in_sandbox, "
    "p.name, p.email, p.language, p.operator_since IS NOT NULL AS operates, "
    "EXISTS (SELECT FROM {employee_links} l WHERE l.person_id = current_person() AND l.ended_at IS NULL) AS employed, "
    "m.membership_id, m.organization_id, m.organization, m.role, m.plan, m.lifted_limits "
    "FROM person_sessions s JOIN people p ON p.id = s.person_id LEFT JOIN own_memberships() m ON true "
    "WHERE s.id = :session AND s.person_id = :person ORDER BY m.organization",
    employee_links=EMPLOYEE_LINKS,
)
"""A session and its person, once for each of their memberships; once, with none, for somebody who has none."""

_SEEN: Final = statement("UPDATE person_sessions SET last_seen_at = :now WHERE id = :session")


@dataclass(frozen=True, slots=True)
class OrganizationMembership:
    """A person's role in one organization, and the organization's terms here."""

    membership_id: UUID
    organization_id: UUID
    organization: str
    role: Role
    terms: Terms


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A signed-in person, as of this request. `here`: the organization they are viewing, if any."""

    session_id: UUID
    person_id: UUID
    name: str
    email: str
    language: str
    authenticated_at: datetime.datetime
    memberships: tuple[OrganizationMembership, ...]
    here: OrganizationMembership | None
    sandbox: bool
    operates: bool = False
    """Whether they may see what concerns the installation as a whole."""
    employed: bool = False
    """Whether an employee record of a household is theirs, or will be once the household confirms it."""
    fresh: bool = False
    """Whether they confirmed their identity recently, as of this request."""

    def is_fresh(self, now: datetime.datetime) -> bool:
        """Return whether they confirmed their identity recently."""
        return now - self.authenticated_at < FRESH

    def actor(self, request_id: str, *, of_both_modes: bool = False) -> Actor:
        """Return the person's actor; `of_both_modes` for what concerns the organization as a whole.

        Raises `not_found` if they are in no organization.
        """
        if self.here is None:
            raise Refusal("not_found", "You are in no organization.")
        return Actor.session(
            self.person_id,
            self.here.organization_id,
            self.here.role,
            sandbox=self.sandbox and not of_both_modes,
            request_id=request_id,
            terms=self.here.terms,
            fresh=self.fresh,
        )


class BegunSession(NamedTuple):
    """A session just begun, and its token."""

    session_id: UUID
    token: PortalToken


async def begin_session(
    session: AsyncSession,
    now: datetime.datetime,
    person_id: UUID,
    method: SignInMethod,
    visit: Visit,
    *,
    needs_second_factor: bool = False,
) -> BegunSession:
    """Begin a session of the transaction's person; with `needs_second_factor` it allows only that step."""
    token = generate_token()
    session_id = uuid7()
    session.add(
        PersonSession(
            id=session_id,
            person_id=person_id,
            token_hash=token.hash,
            stage="second_factor" if needs_second_factor else "full",
            method=method,
            chosen_organization_id=None,
            in_sandbox=False,
            address=(visit.address or "")[:64] or None,
            device=(visit.device or "")[:200] or None,
            created_at=now,
            authenticated_at=now,
            last_seen_at=now,
            expires_at=now + (PENDING_LASTS if needs_second_factor else LASTS),
        )
    )
    await session.flush()
    return BegunSession(session_id, token)


async def find_session(people_context: PeopleContext, presented: str | None) -> SignedIn | None:
    """Return who is signed in with this token; None if it is invalid, or its second factor is still pending."""
    token = None if presented is None else parse_token(presented)
    if token is None:
        return None
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        session_and_person = await _of_token(session, token)
        if session_and_person is None:
            return None
        session_id, person_id = session_and_person
        rows = await fetch_all(session, _SIGNED_IN, {"session": session_id, "person": person_id})
        if not rows or rows[0].stage != "full" or not _is_valid(rows[0], now):
            return None
        found = rows[0]
        if now - found.last_seen_at > _SEEN_EVERY:
            await session.execute(_SEEN, {"now": now, "session": session_id})
    memberships = tuple(_membership(row.membership_id, row) for row in rows if row.membership_id is not None)
    here = next((each for each in memberships if each.organization_id == found.chosen_organization_id), None)
    if here is None and memberships:
        here = memberships[0]
    may_test = here is not None and "test_keys" in here.terms.features
    return SignedIn(
        session_id,
        person_id,
        found.name,
        found.email,
        found.language,
        found.authenticated_at,
        memberships,
        here,
        found.in_sandbox and may_test,
        found.operates,
        found.employed,
        fresh=now - found.authenticated_at < FRESH,
    )


async def pending_session(
    session: AsyncSession, now: datetime.datetime, presented: str | None
) -> PersonSession | None:
    """Return the session that awaits its second factor; the transaction is then its person's."""
    token = None if presented is None else parse_token(presented)
    found = None if token is None else await _open(session, token, now)
    return found if found is not None and found.stage == "second_factor" else None


async def memberships_of(session: AsyncSession) -> tuple[OrganizationMembership, ...]:
    """Return the memberships of this transaction's person."""
    return tuple(_membership(row.membership_id, row) for row in await fetch_all(session, _OWN))


async def choose(
    people_context: PeopleContext, who: SignedIn, organization_id: UUID, *, sandbox: bool
) -> None:
    """Switch to this organization, to its real households or to the sandbox's.

    Raises `not_found` if the person isn't a member, `subscription_required` for a sandbox that its plan doesn't
    include.
    """
    there = next((each for each in who.memberships if each.organization_id == organization_id), None)
    if there is None:
        raise Refusal("not_found", "You are not in this organization.")
    if sandbox and "test_keys" not in there.terms.features:
        raise Refusal("subscription_required", f"The plan '{there.terms.plan}' has no sandbox.")
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        await session.execute(
            update(PersonSession)
            .where(PersonSession.id == who.session_id)
            .values(chosen_organization_id=organization_id, in_sandbox=sandbox)
        )


async def list_sessions(people_context: PeopleContext, who: SignedIn) -> Sequence[PersonSession]:
    """Return the person's active sessions, the most recently used first."""
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        in_force = select(PersonSession).where(
            PersonSession.person_id == who.person_id,
            PersonSession.ended_at.is_(None),
            PersonSession.expires_at > now,
            PersonSession.last_seen_at > now - IDLE,
            PersonSession.stage == "full",
        )
        return (await session.scalars(in_force.order_by(PersonSession.last_seen_at.desc()))).all()


async def end_session(people_context: PeopleContext, who: SignedIn, session_id: UUID, visit: Visit) -> None:
    """End one session of the person. Raises `not_found` for an id that isn't one of theirs."""
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        ended = await session.scalar(
            update(PersonSession)
            .where(PersonSession.id == session_id, PersonSession.person_id == who.person_id)
            .where(PersonSession.ended_at.is_(None))
            .values(ended_at=now)
            .returning(PersonSession.id)
        )
        if ended is None:
            raise Refusal("not_found", "Session not found.")
        action = "session.sign_out" if session_id == who.session_id else "session.end"
        await note_event(session, who.person_id, visit, action, {"session_id": str(session_id)})


async def end_other_sessions(people_context: PeopleContext, who: SignedIn, visit: Visit) -> int:
    """End all of the person's sessions except this one; return how many."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        ended = await end_all(session, people_context.clock.now(), who.person_id, but=who.session_id)
        await note_event(session, who.person_id, visit, "session.end_others", {"sessions": ended})
        return ended


async def replace_session(people_context: PeopleContext, former: SignedIn, visit: Visit) -> None:
    """End the session that a browser had before it was given another, for any person; also if it has already ended."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, former.person_id)
        ended = await session.scalar(
            update(PersonSession)
            .where(PersonSession.id == former.session_id, PersonSession.ended_at.is_(None))
            .values(ended_at=people_context.clock.now())
            .returning(PersonSession.id)
        )
        if ended is not None:
            details = {"session_id": str(former.session_id)}
            await note_event(session, former.person_id, visit, "session.sign_out", details)


async def end_all(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, *, but: UUID | None = None
) -> int:
    """End the sessions of the person whose transaction it is, in that transaction; return how many."""
    statement = (
        update(PersonSession)
        .where(PersonSession.person_id == person_id, PersonSession.ended_at.is_(None))
        .values(ended_at=now)
        .returning(PersonSession.id)
    )
    if but is not None:
        statement = statement.where(PersonSession.id != but)
    return len((await session.scalars(statement)).all())


async def _open(session: AsyncSession, token: PortalToken, now: datetime.datetime) -> PersonSession | None:
    """Return the session of a token if it is still valid; the transaction is then its person's."""
    row = await _of_token(session, token)
    if row is None:
        return None
    found = await session.get_one(PersonSession, row.session_id)
    return found if _is_valid(found, now) else None


async def _of_token(session: AsyncSession, token: PortalToken) -> _FindRow | None:
    """Return whose session has this token, if it wasn't ended; the transaction is then that person's."""
    row = await fetch_optional(session, _FIND, {"token_hash": token.hash})
    if row is not None:
        await become_person(session, row.person_id)
    return row


def _is_valid(found: PersonSession | _SignedInRow, now: datetime.datetime) -> bool:
    return found.expires_at > now and now - found.last_seen_at < IDLE


def _membership(membership_id: UUID, row: _OwnRow | _SignedInRow) -> OrganizationMembership:
    return OrganizationMembership(
        membership_id,
        row.organization_id,
        row.organization,
        cast(Role, row.role),
        terms_of(row.plan, row.lifted_limits),
    )
