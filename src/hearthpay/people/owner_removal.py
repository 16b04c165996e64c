"""How an owner is removed or demoted: an owner asks, a day passes or another owner asks too, and it is asked again.

Only owners of a week count, and the one who has been an owner for the longest: who took over an account yesterday, or
was invited by its thief, votes nobody out. The owner concerned can stop it once, signed in or by the link of the
warning, also within a week after it was done; an owner who must go doesn't stay by doing that again and again. What
the operator decides isn't stopped.
"""

import datetime
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import Select, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import WITHDRAW_INVITATIONS, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.people.models import Membership

OWNER_WAITS: Final = datetime.timedelta(hours=24)
"""How long an owner stays after another owner asked to remove or demote them."""
ASKED_FOR: Final = datetime.timedelta(days=7)
"""How long the removal or demotion can be made after that."""
COUNTS_AFTER: Final = datetime.timedelta(days=7)
"""How long somebody has to be an owner before they can have another removed or demoted."""
RESTORED_FOR: Final = datetime.timedelta(days=7)
"""How long after it was done a removed or demoted owner can return by the link of the warning."""

RemovalStep = Literal["done", "asked"]
"""Whether a change of members was made, or only requested."""

_IN_TURN: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('hearthpay members ' || :organization_id, 0))"
)


def in_force(organization_id: UUID) -> Select[Membership]:
    """Return the statement for the memberships of the organization that have not ended."""
    return select(Membership).where(
        Membership.organization_id == organization_id, Membership.ended_at.is_(None)
    )


async def members_in_turn(session: AsyncSession, organization_id: UUID) -> None:
    """Serialize changes of an organization's members: if two owners leave at once, one stays."""
    await session.execute(_IN_TURN, {"organization_id": str(organization_id)})


async def owner_counts_from(
    session: AsyncSession, organization_id: UUID, person_id: UUID | None
) -> datetime.datetime | None:
    """Return from when on this owner can have another one removed; None if they aren't an owner.

    The owner who has been one for the longest always can.
    """
    since = func.coalesce(Membership.role_since, Membership.joined_at)
    owners = (
        await session.execute(
            select(Membership.person_id, since)
            .where(
                Membership.organization_id == organization_id,
                Membership.ended_at.is_(None),
                Membership.role == "owner",
            )
            .order_by(since, Membership.id)
        )
    ).all()
    for place, (owner, owner_since) in enumerate(owners):
        if owner == person_id:
            return owner_since if place == 0 else owner_since + COUNTS_AFTER
    return None


async def refuse_young_owner(session: AsyncSession, actor: Actor, now: datetime.datetime) -> None:
    """Raise `invalid_state` for an owner who has not been one for COUNTS_AFTER; the operator is allowed through."""
    if actor.kind == "operator":
        return
    counts_from = await owner_counts_from(session, actor.organization_id, actor.id)
    if counts_from is None or counts_from > now:
        raise Refusal(
            "invalid_state",
            "Only an owner of a week or more can have another owner removed or demoted, or keep them.",
            details={} if counts_from is None else {"possible_from": counts_from},
        )


async def may_go(session: AsyncSession, actor: Actor, now: datetime.datetime, member: Membership) -> bool:
    """Return whether a member may be removed or demoted now; for an owner it must first be requested.

    Raises `invalid_state` if the same owner asks again before the day has passed, and for an owner who doesn't count
    yet.
    """
    if member.role != "owner" or actor.kind == "operator" or actor.id == member.person_id:
        return True
    await refuse_young_owner(session, actor, now)
    asked_at, asked_by = member.leaving_asked_at, member.leaving_asked_by
    if asked_at is None or now >= asked_at + OWNER_WAITS + ASKED_FOR:
        member.leaving_asked_at, member.leaving_asked_by = now, actor.id
        await session.flush()
        details: dict[str, object] = {"possible_from": now + OWNER_WAITS}
        await _record(session, actor, "member.ask_to_leave", member.person_id, details)
        return False
    if asked_by == actor.id and now < asked_at + OWNER_WAITS:
        raise Refusal(
            "invalid_state",
            "An owner is removed or made less a day after it was asked for, or at once where another owner asks too.",
            details={"possible_from": asked_at + OWNER_WAITS},
        )
    return True


async def keep_member(
    session: AsyncSession, actor: Actor, clock: Clock, person_id: UUID, *, holder: UUID | None = None
) -> bool:
    """Keep an owner whom another owner asked to remove or demote; return whether there was such a request.

    `holder` is the member to whom a warning's link was mailed; without it the actor is who keeps them. The owner
    concerned can do it once. Raises what `allow` raises, and `invalid_state` for the second time and for an owner who
    doesn't count yet.
    """
    allow(actor, WITHDRAW_INVITATIONS)
    now, keeper = clock.now(), holder or actor.id
    await members_in_turn(session, actor.organization_id)
    member: Membership | None = await session.scalar(
        in_force(actor.organization_id)
        .where(Membership.person_id == person_id, Membership.leaving_asked_at.is_not(None))
        .with_for_update()
    )
    if member is None:
        return False
    if keeper == person_id:
        _use_once(member, now)
    elif actor.kind != "operator":
        counts_from = await owner_counts_from(session, actor.organization_id, keeper)
        if counts_from is None or counts_from > now:
            raise Refusal("invalid_state", "Only an owner of a week or more can keep another owner.")
    member.leaving_asked_at = member.leaving_asked_by = None
    await session.flush()
    await _record(session, actor, "member.stay", person_id, {})
    return True


async def restore_owner(session: AsyncSession, actor: Actor, clock: Clock, person_id: UUID) -> bool:
    """Make a person an owner again who was removed or demoted within the week; return whether they were.

    Only by the link that the person was mailed themselves, and once; agents and keys that ended stay ended. Raises
    what `allow` raises, and `invalid_state` for the second time.
    """
    allow(actor, WITHDRAW_INVITATIONS)
    now = clock.now()
    await members_in_turn(session, actor.organization_id)
    member: Membership | None = await session.scalar(
        select(Membership)
        .where(Membership.organization_id == actor.organization_id, Membership.person_id == person_id)
        .order_by(Membership.ended_at.is_(None).desc(), Membership.ended_at.desc())
        .limit(1)
        .with_for_update()
    )
    if member is None or (member.ended_at is not None and member.ended_at < now - RESTORED_FOR):
        return False
    if member.ended_at is None and member.role == "owner":
        return False
    _use_once(member, now)
    await session.execute(
        update(Membership)
        .where(Membership.id == member.id)
        .values(ended_at=None, role="owner", leaving_asked_at=None, leaving_asked_by=None, kept_at=now)
    )
    await _record(session, actor, "member.return", person_id, {"role": "owner"})
    return True


def _use_once(member: Membership, now: datetime.datetime) -> None:
    if member.kept_at is not None:
        raise Refusal("invalid_state", "This owner has stopped their own removal once before.")
    member.kept_at = now


async def _record(
    session: AsyncSession, actor: Actor, action: str, subject_id: UUID, details: dict[str, object]
) -> None:
    await record_audit(session, actor, action, employer_id=None, subject_id=subject_id, details=details)
