"""What the operator does to an account or a member: those concerned are told, and what a removed one left is over."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pyotp
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.alerts.delivery import send_alerts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.doctor.rights_checks import member_rights
from hearthpay.mail.notices import NotificationSettings
from hearthpay.people import credentials, members, operators, sign_in
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn, find_session
from hearthpay.security.key_ring import KeyRing
from tests.alerts.readers import alerts_in
from tests.people.test_accounts import refused
from tests.people.test_members import invited, joined
from tests.people.visitors import MARIA, PASSWORD, VISIT, events_of, mails

Deed = Callable[[AsyncSession, PeopleContext], Awaitable[Any]]

DEEDS: dict[str, tuple[Deed, str]] = {
    "reset": (
        lambda session, context: operators.reset_by_operator(session, context, MARIA),
        "a link for a new password was made",
    ),
    "end-sessions": (
        lambda session, context: operators.end_sessions_by_operator(session, context, MARIA),
        "all your sessions were ended",
    ),
    "remove-second-factor": (
        lambda session, context: operators.remove_second_factor_by_operator(session, context, MARIA),
        "two-step verification was turned off",
    ),
    "operator": (
        lambda session, context: operators.make_operator(session, context, MARIA),
        "you now manage this installation",
    ),
    "operator --remove": (
        lambda session, context: operators.unmake_operator(session, context, MARIA),
        "you no longer manage this installation",
    ),
}
"""The commands about a person, and what the mail says."""


async def test_the_person_is_told_of_each_command_and_of_none_that_changed_nothing(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    owner_connection.execute(
        "INSERT INTO former_person_addresses (id, person_id, address, changed_at, told_until) "
        "VALUES (gen_random_uuid(), %s, 'old@example.com', %s, %s::timestamptz + interval '7 days')",
        (maria.person_id, clock.now(), clock.now()),
    )
    context = replace(people_context, database=owner_database, operator="operator@example.com")
    for deed, what in DEEDS.values():
        for times in range(2):
            before, events = len(mails(owner_connection, ring)), events_of(owner_connection, maria.person_id)
            async with owner_database.transaction(None) as session:
                done = await deed(session, context)
            told = mails(owner_connection, ring)[before:]
            if times and what != "a link for a new password was made":
                assert not done
                assert told == []
                assert events_of(owner_connection, maria.person_id) == events
                continue
            assert sorted(each["to"] for each in told) == [MARIA, "old@example.com"]
            assert {each["subject"] for each in told} == {"Your administrator changed your account"}
            assert all(what in each["text"] and "operator@example.com" in each["text"] for each in told)
            assert all("/stop/" not in each["text"] for each in told)


async def _world(people_context: PeopleContext, maria: SignedIn) -> dict[str, SignedIn]:
    found = {"maria": maria}
    for name, role in (("hostile", "owner"), ("admin", "admin"), ("viewer", "viewer")):
        found[name] = await joined(people_context, maria, f"{name}@example.com", role)
    return found


async def test_an_owner_who_must_go_is_removed_at_once_with_what_they_left(
    people_context: PeopleContext,
    maria: SignedIn,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    """Against his will, while he keeps himself by his own link; all are told, viewers and households too."""
    people = await _world(people_context, maria)
    hostile = people["hostile"]
    assert hostile.here is not None
    organization = hostile.here.organization_id
    actor = hostile.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        await create_own_key(session, actor, clock, NewKey(("payroll",)))
    await invited(people_context, hostile, "hostile-again@example.com", "owner")
    owner_connection.execute(
        "INSERT INTO employers (id, organization_id, sandbox, first_name, last_name, email, state, created_at) "
        "SELECT gen_random_uuid(), %s, false, 'H', 'H' || n, 'home' || n || '@example.com', 'CA', now() "
        "FROM generate_series(1, 5) n",
        (organization,),
    )
    settings = NotificationSettings(sends=True)
    await send_alerts(worker_database, ring, clock, settings)
    before = len(alerts_in(owner_connection, ring))

    async with people_context.database.transaction(Tenant(organization, False)) as session:
        await operators.remove_member_by_operator(session, clock, organization, hostile.email)

    left = owner_connection.execute(
        "SELECT (SELECT count(*) FROM memberships WHERE person_id = %(who)s AND ended_at IS NULL), "
        "(SELECT count(*) FROM api_keys WHERE made_by = %(who)s AND revoked_at IS NULL), "
        "(SELECT count(*) FROM member_invitations WHERE invited_by = %(who)s AND status = 'pending'), "
        "(SELECT count(*) FROM agent_grants WHERE person_id = %(who)s AND ended_at IS NULL)",
        {"who": hostile.person_id},
    ).fetchone()
    assert left == (0, 0, 0, 0)
    audited = owner_connection.execute(
        "SELECT actor_kind, subject_id FROM audit_log WHERE action = 'member.remove_by_operator'"
    ).fetchall()
    assert audited == [("operator", hostile.person_id)]
    assert owner_connection.execute(member_rights()).fetchall() == [], "the doctor knows of it"
    async with people_context.database.transaction(actor.tenant) as session:
        assert hostile.email not in {
            each.email for each in await members.list_members(session, maria.actor("r"))
        }

    await send_alerts(worker_database, ring, clock, settings)
    told = alerts_in(owner_connection, ring)[before:]
    assert sorted(each.to for each in told) == sorted(
        [*(each.email for each in people.values()), *(f"home{number}@example.com" for number in range(1, 6))]
    )
    for each in told:
        sentences = ("your administrator: Ana Diaz was removed.", "su administrador: se quitó a Ana Diaz.")
        assert any(sentence in each.text for sentence in sentences)


async def test_an_owner_is_demoted_at_once_and_the_last_one_stays(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    people = await _world(people_context, maria)
    assert maria.here is not None
    organization = maria.here.organization_id

    async def change(email: str, role: str) -> None:
        async with people_context.database.transaction(Tenant(organization, False)) as session:
            await operators.change_role_by_operator(session, clock, organization, email, role)

    async def remove(email: str) -> None:
        async with people_context.database.transaction(Tenant(organization, False)) as session:
            await operators.remove_member_by_operator(session, clock, organization, email)

    await change(people["hostile"].email, "viewer")
    assert owner_connection.execute(member_rights()).fetchall() == []
    await refused("invalid_state", change(MARIA, "admin"))
    await refused("invalid_state", remove(MARIA))
    await refused("validation_error", change(MARIA, "king"))
    await refused("not_found", remove("nobody@example.com"))
    owner_connection.execute(
        "UPDATE memberships SET ended_at = now() WHERE person_id = %s", _id(people["admin"])
    )
    await refused("not_found", remove(people["admin"].email))
    roles = owner_connection.execute(
        "SELECT p.email, m.role FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.ended_at IS NULL "
        "ORDER BY 1"
    ).fetchall()
    assert roles == [("hostile@example.com", "viewer"), (MARIA, "owner"), ("viewer@example.com", "viewer")]
    audited = owner_connection.execute(
        "SELECT actor_kind, details -> 'after' ->> 'role' FROM audit_log "
        "WHERE action = 'member.change_role_by_operator'"
    ).fetchall()
    assert audited == [("operator", "viewer")]


def _id(who: SignedIn) -> tuple[UUID]:
    return (who.person_id,)


@pytest.mark.parametrize("signed_in_again", [False, True])
async def test_a_session_of_the_removed_member_shows_nothing_of_the_organization(
    people_context: PeopleContext,
    maria: SignedIn,
    clock: FixedClock,
    signed_in_again: bool,
) -> None:
    hostile = await joined(people_context, maria, "hostile@example.com", "owner")
    begun = await sign_in.sign_in(people_context, hostile.email, PASSWORD, VISIT)
    assert hostile.here is not None
    async with people_context.database.transaction(hostile.actor("r").tenant) as session:
        await operators.remove_member_by_operator(session, clock, hostile.here.organization_id, hostile.email)
    if signed_in_again:
        begun = await sign_in.sign_in(people_context, hostile.email, PASSWORD, VISIT)
    found = await find_session(people_context, begun.token.text)
    assert found is not None
    assert found.here is None
