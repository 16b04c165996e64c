"""Members: whatever happens in whatever order, an organization keeps an owner, and an invitation works once."""

from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from hearthpay.access.actor import Actor
from hearthpay.access.plans import terms_of
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Tenant
from hearthpay.people import members, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from tests.people.test_accounts import refused
from tests.people.visitors import PASSWORD, VISIT, Newcomers, signed_in

ANA = "ana@example.com"
NEW = NewPerson("Ana Diaz", PASSWORD, "es")


async def invited(people_context: PeopleContext, who: SignedIn, email: str, role: str) -> str:
    actor = who.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        return (await members.invite_member(session, actor, people_context.clock, email, role)).token.text


async def all_members(people_context: PeopleContext, who: SignedIn) -> dict[str, members.Member]:
    actor = who.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        return {each.email: each for each in await members.list_members(session, actor)}


async def joined(people_context: PeopleContext, owner: SignedIn, email: str, role: str) -> SignedIn:
    token = await invited(people_context, owner, email, role)
    return await signed_in(
        people_context, (await sign_up.join_as_new_person(people_context, token, NEW, VISIT)).token.text
    )


async def test_an_invitation_makes_a_member_once(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection
) -> None:
    token = await invited(people_context, maria, " Ana@Example.com", "viewer")
    invitation, has_account = await sign_up.look_at_invitation(people_context, token)
    assert (invitation.organization, invitation.role, has_account) == ("Lopez", "viewer", False)
    ana = await signed_in(
        people_context, (await sign_up.join_as_new_person(people_context, token, NEW, VISIT)).token.text
    )
    assert ana.here is not None
    assert ana.here.role == "viewer"
    await refused("gone", sign_up.join_as_new_person(people_context, token, NEW, VISIT))
    await refused("gone", sign_up.join_signed_in(people_context, ana, token, VISIT))
    assert {email: each.role for email, each in (await all_members(people_context, ana)).items()} == {
        "maria@example.com": "owner",
        ANA: "viewer",
    }
    assert owner_connection.execute("SELECT action FROM audit_log ORDER BY id").fetchall() == [
        ("organization.create",),
        ("member.invite",),
        ("member.join",),
    ]


async def test_an_invitation_is_for_its_address_alone(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    other = await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    token = await invited(people_context, maria, ANA, "owner")
    await refused("gone", sign_up.join_signed_in(people_context, other, token, VISIT))
    replaced = await invited(people_context, maria, ANA, "viewer")
    await refused("gone", sign_up.join_as_new_person(people_context, token, NEW, VISIT))
    clock.advance(members.INVITED_FOR)
    await refused("gone", sign_up.join_as_new_person(people_context, replaced, NEW, VISIT))
    with_account = await invited(people_context, maria, "other@example.com", "admin")
    await refused("invalid_state", sign_up.join_as_new_person(people_context, with_account, NEW, VISIT))
    await sign_up.join_signed_in(people_context, other, with_account, VISIT)
    assert (await all_members(people_context, maria))["other@example.com"].role == "admin"
    await refused("validation_error", invited(people_context, maria, "other@example.com", "owner"))


async def test_only_an_owner_keeps_members(people_context: PeopleContext, maria: SignedIn) -> None:
    there = await all_members(people_context, maria)
    for number, role in enumerate(("admin", "viewer")):
        who = await joined(people_context, maria, f"{role}@example.com", role)
        actor = who.actor("r")
        async with people_context.database.transaction(actor.tenant) as session:
            marias = there["maria@example.com"].membership_id
            await refused(
                "scope_required", members.invite_member(session, actor, people_context.clock, ANA, "viewer")
            )
            await refused(
                "scope_required", members.remove_member(session, actor, people_context.clock, marias)
            )
            await refused(
                "scope_required", members.change_role(session, actor, people_context.clock, marias, "viewer")
            )
            await refused(
                "scope_required",
                members.withdraw_member_invitation(session, actor, people_context.clock, uuid4()),
            )
            assert len(await members.list_members(session, actor)) == number + 2


async def test_who_is_removed_is_out_at_once(people_context: PeopleContext, maria: SignedIn) -> None:
    token = await invited(people_context, maria, ANA, "admin")
    entered = await sign_up.join_as_new_person(people_context, token, NEW, VISIT)
    anas = (await all_members(people_context, maria))[ANA]
    actor = maria.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        await members.remove_member(session, actor, people_context.clock, anas.membership_id)
    ana = await signed_in(people_context, entered.token.text)
    assert ana.here is None
    with pytest.raises(Refusal):
        ana.actor("r")


async def test_another_organizations_members_are_out_of_reach(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    other = await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    assert set(await all_members(people_context, other)) == {"other@example.com"}
    foreign = (await all_members(people_context, maria))["maria@example.com"].membership_id
    actor = other.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        await refused("not_found", members.remove_member(session, actor, people_context.clock, foreign))
        await refused(
            "not_found", members.change_role(session, actor, people_context.clock, foreign, "viewer")
        )
        seen = await session.execute(text("SELECT count(*) FROM people"))
        assert seen.scalar_one() == 1


async def test_the_database_itself_keeps_the_last_owner(
    people_context: PeopleContext, maria: SignedIn
) -> None:
    assert maria.here is not None
    for change in ("ended_at = now()", "role = 'viewer'"):
        with pytest.raises(DBAPIError, match="the last owner stays"):
            async with people_context.database.transaction(
                Tenant(maria.here.organization_id, False)
            ) as session:
                await session.execute(text(f"UPDATE memberships SET {change}"))


_DEEDS = st.tuples(
    st.sampled_from(["invite", "role", "leave", "remove"]),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(members.ROLES),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(_DEEDS, min_size=3, max_size=12))
async def test_any_sequence_keeps_an_owner(
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    deeds: list[tuple[str, int, int, str]],
) -> None:
    """Four people do to each other whatever occurs to them; what is refused changes nothing."""
    organization_id, people = _four(owner_connection)
    for deed, who, whom, role in deeds:
        before = _roles(owner_connection, organization_id)
        try:
            await _do(people_context, organization_id, people, before, deed, who, whom, role)
        except Refusal:
            assert _roles(owner_connection, organization_id) == before
        assert "owner" in _roles(owner_connection, organization_id).values()


def _four(connection: psycopg.Connection) -> tuple[UUID, list[UUID]]:
    """An organization of four, of whom the first is the owner."""
    organization_id, people = uuid4(), [uuid4() for _ in range(4)]
    connection.execute(
        "INSERT INTO organizations (id, name) VALUES (%s, %s)", (organization_id, str(organization_id))
    )
    for place, person in enumerate(people):
        connection.execute(
            "INSERT INTO people VALUES (%s, %s, 'A', 'en', now(), now())", (person, f"{person}@example.com")
        )
        connection.execute(
            "INSERT INTO memberships VALUES (gen_random_uuid(), %s, %s, %s, now(), NULL)",
            (organization_id, person, "viewer" if place else "owner"),
        )
    return organization_id, people


def _roles(connection: psycopg.Connection, organization_id: UUID) -> dict[UUID, str]:
    rows = connection.execute(
        "SELECT person_id, role FROM memberships WHERE organization_id = %s AND ended_at IS NULL",
        (organization_id,),
    )
    return dict(rows.fetchall())


async def _do(
    people_context: PeopleContext,
    organization_id: UUID,
    people: list[UUID],
    roles: dict[UUID, str],
    deed: str,
    who: int,
    whom: int,
    role: str,
) -> None:

    if people[who] not in roles:
        return
    actor = Actor.session(
        people[who],
        organization_id,
        roles[people[who]],  # type: ignore[arg-type]
        sandbox=False,
        request_id="r",
        terms=terms_of("professional", {}),
    )
    async with people_context.database.transaction(actor.tenant) as session:
        there = {each.person_id: each for each in await members.list_members(session, actor)}
        target = there[people[whom]].membership_id if people[whom] in there else uuid4()
        if deed == "leave":
            await members.leave(session, actor, people_context.clock)
        elif deed == "remove":
            await members.remove_member(session, actor, people_context.clock, target)
        elif deed == "role":
            await members.change_role(session, actor, people_context.clock, target, role)
        else:
            sent = await members.invite_member(
                session, actor, people_context.clock, f"{uuid4()}@example.com", role
            )
            await members.withdraw_member_invitation(session, actor, people_context.clock, sent.id)
