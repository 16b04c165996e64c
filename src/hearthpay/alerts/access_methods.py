"""Access methods: everything that lets someone into a person's account or act in their name, so that one page can end
it.

Passkeys, the second factor, sessions, connected agents and created keys; recent ones are highlighted, since an
intruder would leave those behind.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import END_AGENTS, REVOKE_KEYS, may
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.own_keys import keys_made_by, revoke_own_key
from hearthpay.database.session import become_person
from hearthpay.oauth.grants import list_agents, revoke_grant
from hearthpay.people.context import PeopleContext
from hearthpay.people.credentials import do_without_second_factor
from hearthpay.people.events import Visit
from hearthpay.people.passkeys import list_passkeys, remove_passkey
from hearthpay.people.second_factor import second_factor_of
from hearthpay.people.sessions import OrganizationMembership, SignedIn, end_session, list_sessions

YOUNG_FOR: Final = datetime.timedelta(days=30)
"""How long an access method counts as new."""

WayKind = Literal["passkey", "second_factor", "agent", "key", "session"]
KINDS: Final[tuple[WayKind, ...]] = get_args(WayKind)


@dataclass(frozen=True, slots=True)
class AccessMethod:
    """One access method: its name, its start, whether it is new, and whether its person may end it.

    Keys and agents belong to an `organization`, and to one of its modes.
    """

    kind: WayKind
    id: UUID
    name: str
    since: datetime.datetime
    young: bool
    may_end: bool = True
    organization_id: UUID | None = None
    organization: str | None = None
    sandbox: bool = False


async def access_methods_of(
    people_context: PeopleContext, who: SignedIn, request_id: str
) -> Sequence[AccessMethod]:
    """Return every access method except the current session, by kind, newest first."""
    now = people_context.clock.now()
    found = [
        AccessMethod("passkey", each.id, each.name or "", each.created_at, _young(each.created_at, now))
        for each in await list_passkeys(people_context, who)
    ]
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        factor = await second_factor_of(session, who.person_id)
    if factor is not None:
        since = factor.confirmed_at or factor.created_at
        found.append(AccessMethod("second_factor", factor.id, "", since, _young(since, now)))
    found += [
        AccessMethod("session", each.id, each.device or "", each.created_at, _young(each.created_at, now))
        for each in await list_sessions(people_context, who)
        if each.id != who.session_id
    ]
    for membership in who.memberships:
        for sandbox in (False, True):
            actor = _actor(who, membership, sandbox, request_id)
            async with people_context.database.transaction(actor.tenant) as session:
                found += await _agents(session, actor, membership, now)
                if not sandbox:
                    found += await _keys(session, actor, membership, now)
    return sorted(found, key=lambda each: (KINDS.index(each.kind), -each.since.timestamp()))


async def end_access_method(
    people_context: PeopleContext, who: SignedIn, kind: str, requested: UUID, visit: Visit
) -> None:
    """End one access method. Raises `not_found` for another person's, and what the service of its kind raises."""
    request_id = visit.request_id or ""
    ways = await access_methods_of(people_context, who, request_id)
    way = next((each for each in ways if each.kind == kind and each.id == requested), None)
    if way is None:
        raise Refusal("not_found", "Page not found. Check the address.")
    match way.kind:
        case "passkey":
            await remove_passkey(people_context, who, way.id, visit)
        case "second_factor":
            await do_without_second_factor(people_context, who, visit)
        case "session":
            await end_session(people_context, who, way.id, visit)
        case "agent" | "key":
            membership = next(each for each in who.memberships if each.organization_id == way.organization_id)
            actor = _actor(who, membership, way.sandbox, request_id)
            async with people_context.database.transaction(actor.tenant) as session:
                if way.kind == "agent":
                    await revoke_grant(session, actor, people_context.clock, way.id)
                else:
                    await revoke_own_key(session, actor, people_context.clock, way.id)


async def _agents(
    session: AsyncSession, actor: Actor, membership: OrganizationMembership, now: datetime.datetime
) -> Sequence[AccessMethod]:
    return [
        AccessMethod(
            "agent",
            each.grant.id,
            each.grant.client_name,
            each.grant.created_at,
            _young(each.grant.created_at, now),
            may(actor, END_AGENTS),
            membership.organization_id,
            membership.organization,
            actor.sandbox,
        )
        for each in await list_agents(session, actor)
        if each.grant.person_id == actor.id and each.grant.ended_at is None and each.grant.expires_at > now
    ]


async def _keys(
    session: AsyncSession, actor: Actor, membership: OrganizationMembership, now: datetime.datetime
) -> Sequence[AccessMethod]:
    assert actor.id is not None
    return [
        AccessMethod(
            "key",
            each.id,
            each.last_four,
            each.created_at,
            _young(each.created_at, now),
            may(actor, REVOKE_KEYS),
            membership.organization_id,
            membership.organization,
            each.mode == "test",
        )
        for each in await keys_made_by(session, actor, actor.id)
        if each.expires_at is None or each.expires_at > now
    ]


def _actor(who: SignedIn, membership: OrganizationMembership, sandbox: bool, request_id: str) -> Actor:
    return Actor.session(
        who.person_id,
        membership.organization_id,
        membership.role,
        sandbox=sandbox,
        request_id=request_id,
        terms=membership.terms,
    )


def _young(since: datetime.datetime, now: datetime.datetime) -> bool:
    return now - since < YOUNG_FOR
