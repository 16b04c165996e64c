"""The members of an organization: invited, accepting, given another role, leaving, removed. The last owner stays.

The database, too, ensures that an organization with people keeps an owner, for every writer.
"""

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast, get_args
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor, Role
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import (
    KEEP_MEMBERS,
    LEAVE,
    READ_MEMBERS,
    WITHDRAW_INVITATIONS,
    allow,
)
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.accounts.freezing import refuse_frozen, refuse_frozen_organization
from hearthpay.accounts.own_keys import revoke_keys_made_by
from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.database.audit import ActorKind
from hearthpay.database.session import Tenant, become
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.languages.catalogue import mark
from hearthpay.people.events import Visit, note_event
from hearthpay.people.identity import masked, read_new_address
from hearthpay.people.models import MemberInvitation, Membership, PersonRecord
from hearthpay.people.owner_removal import RemovalStep, in_force, may_go, members_in_turn
from hearthpay.security.portal_tokens import PortalToken, generate_token, parse_token

INVITED_FOR: Final = datetime.timedelta(days=7)
MOST_INVITATIONS: Final = 50
"""The most pending invitations of an organization."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)

_RANK: Final = {role: rank for rank, role in enumerate(ROLES)}


class _EndAgentsRow(NamedTuple):
    grant_id: UUID
    employer_id: UUID
    sandbox: bool
    client_name: str


_END_AGENTS: Final = query(
    _EndAgentsRow,
    "SELECT {columns} FROM end_agents_of_member(:person, :now)",
    columns=column_list(_EndAgentsRow._fields),
)


class _FindRow(NamedTuple):
    invitation_id: UUID
    organization_id: UUID
    organization: str
    email: str
    role: str
    status: str
    expires_at: datetime.datetime


_FIND: Final = query(
    _FindRow,
    "SELECT {columns} FROM find_member_invitation(:token_hash)",
    columns=column_list(_FindRow._fields),
)
_OVER: Final = mark("This invitation was used, withdrawn, or has expired.")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an organization."""

    membership_id: UUID
    person_id: UUID
    name: str
    email: str
    role: Role
    joined_at: datetime.datetime
    leaving_asked_at: datetime.datetime | None = None
    """For an owner: when another owner asked to remove or demote them."""
    disputed_address: str | None = None
    """The address before the current one, if it is in dispute which is right."""


@dataclass(frozen=True, slots=True)
class OpenMemberInvitation:
    """An invitation that can be accepted."""

    id: UUID
    organization_id: UUID
    organization: str
    email: str
    role: Role


@dataclass(frozen=True, slots=True)
class SentInvitation:
    """An invitation just created; the token is in the link, and nowhere else."""

    id: UUID
    email: str
    token: PortalToken


async def list_members(session: AsyncSession, actor: Actor) -> Sequence[Member]:
    """Return the members of the actor's organization, by name."""
    allow(actor, READ_MEMBERS)
    rows = await session.execute(
        select(Membership, PersonRecord)
        .join(PersonRecord, PersonRecord.id == Membership.person_id)
        .where(Membership.organization_id == actor.organization_id, Membership.ended_at.is_(None))
        .order_by(PersonRecord.name, Membership.id)
    )
    return [
        Member(
            membership.id,
            person.id,
            person.name,
            person.email,
            cast(Role, membership.role),
            membership.joined_at,
            membership.leaving_asked_at,
            person.disputed_address,
        )
        for membership, person in rows
    ]


async def list_member_invitations(
    session: AsyncSession, actor: Actor, clock: Clock
) -> Sequence[MemberInvitation]:
    """Return the pending invitations, oldest first."""
    allow(actor, READ_MEMBERS)
    waiting = select(MemberInvitation).where(
        MemberInvitation.organization_id == actor.organization_id,
        MemberInvitation.status == "pending",
        MemberInvitation.expires_at > clock.now(),
    )
    return (await session.scalars(waiting.order_by(MemberInvitation.id))).all()


async def invite_member(
    session: AsyncSession, actor: Actor, clock: Clock, email: str, role: str
) -> SentInvitation:
    """Invite the person with this address; a pending invitation of the same address is replaced.

    Raises `validation_error` for an invalid address or role, or for an existing member, and `invalid_state` if too
    many are pending.
    """
    allow(actor, KEEP_MEMBERS)
    address, requested = read_new_address(email), _role(role)
    await refuse_frozen(session, actor, clock.now())
    await members_in_turn(session, actor.organization_id)
    if any(member.email == address for member in await list_members(session, actor)):
        raise invalid("email", "already belongs to a member")
    now = clock.now()
    await session.execute(
        update(MemberInvitation)
        .where(
            MemberInvitation.organization_id == actor.organization_id,
            MemberInvitation.status == "pending",
            (MemberInvitation.email == address) | (MemberInvitation.expires_at <= now),
        )
        .values(status="withdrawn", ended_at=now)
    )
    waiting = await session.scalar(
        select(func.count())
        .select_from(MemberInvitation)
        .where(
            MemberInvitation.organization_id == actor.organization_id, MemberInvitation.status == "pending"
        )
    )
    if (waiting or 0) >= MOST_INVITATIONS:
        raise Refusal("invalid_state", f"{MOST_INVITATIONS} invitations wait already; withdraw some first.")
    token = generate_token()
    invitation = MemberInvitation(
        id=uuid7(),
        organization_id=actor.organization_id,
        email=address,
        role=requested,
        status="pending",
        token_hash=token.hash,
        invited_by=actor.id if actor.kind == "user" else None,
        created_at=now,
        expires_at=now + INVITED_FOR,
    )
    session.add(invitation)
    await session.flush()
    details: dict[str, object] = {"role": requested, "email": masked(address)}
    await _record(session, actor, "member.invite", invitation.id, details)
    return SentInvitation(invitation.id, address, token)


async def withdraw_member_invitation(
    session: AsyncSession, actor: Actor, clock: Clock, invitation_id: UUID
) -> None:
    """Withdraw a pending invitation. Raises `not_found` if it isn't pending."""
    allow(actor, WITHDRAW_INVITATIONS)
    withdrawn = await session.scalar(
        update(MemberInvitation)
        .where(
            MemberInvitation.id == invitation_id,
            MemberInvitation.organization_id == actor.organization_id,
            MemberInvitation.status == "pending",
        )
        .values(status="withdrawn", ended_at=clock.now())
        .returning(MemberInvitation.id)
    )
    if withdrawn is None:
        raise Refusal("not_found", "We couldn't find that invitation.")
    await _record(session, actor, "member.uninvite", invitation_id, {})


async def change_role(
    session: AsyncSession, actor: Actor, clock: Clock, membership_id: UUID, role: str
) -> RemovalStep:
    """Give a member another role; demoting an owner must first be requested, like removing one.

    Raises `not_found`, `validation_error`, and `invalid_state` for the last owner, for an owner before their day has
    passed, and while the organization is frozen.
    """
    allow(actor, KEEP_MEMBERS)
    requested = _role(role)
    await members_in_turn(session, actor.organization_id)
    member = await _member(session, actor.organization_id, membership_id)
    if member.role == requested:
        return "done"
    if _RANK[requested] > _RANK[_role(member.role)]:
        await refuse_frozen(session, actor, clock.now())
    if requested != "owner":
        await _require_another_owner(session, member)
        if not await may_go(session, actor, clock.now(), member):
            return "asked"
    change = {"before": {"role": member.role}, "after": {"role": requested}}
    member.role = requested
    member.role_since = clock.now()
    member.leaving_asked_at = member.leaving_asked_by = None
    await session.flush()
    by_operator = actor.kind == "operator"
    action = "member.change_role_by_operator" if by_operator else "member.change_role"
    await _record(session, actor, action, member.person_id, change)
    return "done"


async def remove_member(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    membership_id: UUID,
    *,
    keep_keys: Collection[UUID] = (),
) -> RemovalStep:
    """End a membership at once, with the member's agents and the keys they created except `keep_keys`.

    Removing an owner must first be requested: it is done once a day has passed and it is requested again, or at once
    if another owner requests it too. Raises `not_found`, and `invalid_state` for the last owner, and for an owner
    before their day has passed.
    """
    allow(actor, KEEP_MEMBERS)
    await members_in_turn(session, actor.organization_id)
    member = await _member(session, actor.organization_id, membership_id)
    await _require_another_owner(session, member)
    if not await may_go(session, actor, clock.now(), member):
        return "asked"
    await revoke_keys_made_by(session, actor, clock, member.person_id, keep=keep_keys)
    by_operator = actor.kind == "operator"
    action = "member.remove_by_operator" if by_operator else "member.remove"
    await _end(session, actor, clock, member, action)
    return "done"


async def withdraw_invitations_of(session: AsyncSession, actor: Actor, clock: Clock, person_id: UUID) -> int:
    """Withdraw the pending invitations that a member sent; return how many. Raises what `allow` raises."""
    allow(actor, WITHDRAW_INVITATIONS)
    sent = await session.scalars(
        update(MemberInvitation)
        .where(
            MemberInvitation.organization_id == actor.organization_id,
            MemberInvitation.invited_by == person_id,
            MemberInvitation.status == "pending",
        )
        .values(status="withdrawn", ended_at=clock.now())
        .returning(MemberInvitation.id)
    )
    withdrawn = sorted(sent)
    for invitation_id in withdrawn:
        await _record(session, actor, "member.uninvite", invitation_id, {})
    return len(withdrawn)


async def leave(session: AsyncSession, actor: Actor, clock: Clock) -> None:
    """End one's own membership, and the agents one connected.

    Raises `not_found`, and `invalid_state` for the last owner.
    """
    allow(actor, LEAVE)
    await members_in_turn(session, actor.organization_id)
    own = await session.scalar(
        in_force(actor.organization_id).where(Membership.person_id == actor.id).with_for_update()
    )
    if own is None:
        raise Refusal("not_found", "You are not a member here.")
    await _end(session, actor, clock, own, "member.leave")


async def open_invitation(
    session: AsyncSession, now: datetime.datetime, presented: str
) -> OpenMemberInvitation:
    """Return the invitation of a link that can still be accepted. Raises `not_found` and `gone`."""
    token = parse_token(presented)
    row = None if token is None else await fetch_optional(session, _FIND, {"token_hash": token.hash})
    if row is None:
        raise Refusal("not_found", "Link not found.")
    if row.status != "pending" or row.expires_at <= now:
        raise Refusal("gone", _OVER)
    return OpenMemberInvitation(
        row.invitation_id, row.organization_id, row.organization, row.email, cast(Role, row.role)
    )


async def accept(
    session: AsyncSession,
    now: datetime.datetime,
    invitation: OpenMemberInvitation,
    person_id: UUID,
    visit: Visit,
) -> None:
    """Make the person whose transaction it is a member; it becomes the organization's transaction too. Raises
    `gone`.
    """
    await note_event(session, person_id, visit, "member.join", {"role": invitation.role})
    await become(session, Tenant(invitation.organization_id, False))
    await members_in_turn(session, invitation.organization_id)
    await refuse_frozen_organization(session, invitation.organization_id, now)
    accepted = await session.scalar(
        update(MemberInvitation)
        .where(
            MemberInvitation.id == invitation.id,
            MemberInvitation.status == "pending",
            MemberInvitation.expires_at > now,
        )
        .values(status="accepted", ended_at=now)
        .returning(MemberInvitation.id)
    )
    if accepted is None:
        raise Refusal("gone", _OVER)
    there = await session.scalar(
        in_force(invitation.organization_id).where(Membership.person_id == person_id)
    )
    if there is not None:
        raise Refusal("gone", "You are a member already.")
    session.add(
        Membership(
            id=uuid7(),
            organization_id=invitation.organization_id,
            person_id=person_id,
            role=invitation.role,
            joined_at=now,
        )
    )
    await session.flush()
    # Ends agents connected during an earlier membership, including any connected at the very moment the
    # person left.
    joined = _Change("user", person_id, visit.request_id)
    await _end_agents(session, joined, Tenant(invitation.organization_id, False), now, person_id)
    await audit.record(
        session,
        actor_kind="user",
        actor_id=person_id,
        organization_id=invitation.organization_id,
        employer_id=None,
        sandbox=None,
        action="member.join",
        subject_id=person_id,
        request_id=visit.request_id,
        details={"role": invitation.role},
    )


async def _member(session: AsyncSession, organization_id: UUID, membership_id: UUID) -> Membership:
    found: Membership | None = await session.scalar(
        in_force(organization_id).where(Membership.id == membership_id).with_for_update()
    )
    if found is None:
        raise Refusal("not_found", "Member not found.")
    return found


async def _require_another_owner(session: AsyncSession, member: Membership) -> None:
    if member.role != "owner":
        return
    others = in_force(member.organization_id).where(Membership.role == "owner", Membership.id != member.id)
    if await session.scalar(others.limit(1)) is None:
        raise Refusal("invalid_state", "An organization needs an owner. Make someone else an owner first.")


async def _end(session: AsyncSession, actor: Actor, clock: Clock, member: Membership, action: str) -> None:
    await _require_another_owner(session, member)
    now = member.ended_at = clock.now()
    await session.flush()
    await _record(session, actor, action, member.person_id, {"role": member.role})
    deed = _Change(actor.kind, actor.id, actor.request_id)
    await _end_agents(session, deed, actor.tenant, now, member.person_id)


class _Change(NamedTuple):
    """The actor of a change, as the audit trail identifies them."""

    actor_kind: ActorKind
    actor_id: UUID | None
    request_id: str | None


async def _end_agents(
    session: AsyncSession, deed: _Change, tenant: Tenant, now: datetime.datetime, person_id: UUID
) -> None:
    """End the agents that the person connected in the tenant's organization: after returning, they must connect them
    again.

    Agents of the other mode are ended too, each recorded under its own tenant; afterward the transaction is the
    tenant's again.
    """
    ended = await fetch_all(session, _END_AGENTS, {"person": person_id, "now": now})
    for each in ended:
        await become(session, Tenant(tenant.organization_id, each.sandbox))
        await audit.record(
            session,
            **deed._asdict(),
            organization_id=tenant.organization_id,
            employer_id=each.employer_id,
            sandbox=each.sandbox,
            action="agent.end",
            subject_id=each.grant_id,
            details={"client": each.client_name, "reason": "left"},
        )
    if ended:
        await become(session, tenant)


async def _record(
    session: AsyncSession, actor: Actor, action: str, subject_id: UUID, details: dict[str, object]
) -> None:
    await record_audit(session, actor, action, employer_id=None, subject_id=subject_id, details=details)


def _role(text_: str) -> Role:
    for role in ROLES:
        if text_ == role:
            return role
    raise invalid("role", f"Choose one of {', '.join(ROLES)}.")
