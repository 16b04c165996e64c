"""What the link of an alert takes back, act by act; that it works once, freezes for a day, and begins nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import MANAGE_ACCOUNTS, REVOKE_KEYS, RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.alerts.reversal import ReversedActs, reverse_acts
from hearthpay.alerts.sensitive_actions import SETTING_UP
from hearthpay.banking.account_changes import change_account
from hearthpay.banking.accounts import AccountDetails, connect_household_account
from hearthpay.clock import FixedClock
from hearthpay.duties.feed import make_link
from hearthpay.employees.commands import ChangeEmployee, Invite
from hearthpay.employees.invitations import Sending, invite
from hearthpay.employees.service import update_employee
from hearthpay.employers.commands import ChangeEmployer
from hearthpay.employers.models import Employer
from hearthpay.employers.service import update_employer
from hearthpay.people import members
from hearthpay.people.context import PeopleContext
from hearthpay.people.owner_removal import OWNER_WAITS
from hearthpay.people.sessions import SignedIn
from hearthpay.people.stop_links import StopActs, read_stop
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.alerts.readers import Tell
from tests.people.test_accounts import refused
from tests.people.test_at_once import joined
from tests.web.rows.world import World

Do = Callable[[World, KeyRing], Awaitable[object]]


@pytest.fixture
async def world(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> World:
    made = await World.make(people_context, owner_connection, maria)
    await _connect(made, ring)
    clock.advance(SETTING_UP)
    return made


def _details(account: str = "12345678") -> AccountDetails:
    return AccountDetails(
        parse_number("bank_routing", "121000358"), parse_number("bank_account", account), "checking"
    )


async def _connect(world: World, ring: KeyRing) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        now = world.people_context.clock.now()
        await connect_household_account(session, ring, world.actor, employer, _details("987654321"), now)


async def _household_address(world: World, ring: KeyRing) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployer(email="thief@evil.example")
        await update_employer(session, world.actor, world.people_context.clock, world.household_id, changes)


async def _employee_address(world: World, ring: KeyRing) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployee(email="thief@evil.example")
        await update_employee(session, world.actor, world.people_context.clock, world.employee_id, changes)


async def _bank_link(world: World, ring: KeyRing) -> None:
    sending = Sending("https://pay.example.com/portal", ring, None)
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        new = Invite("bank_account", send_email=False)
        await invite(
            session,
            world.actor,
            world.people_context.clock,
            sending,
            world.employee_id,
            new,
            direct_deposit_enabled=True,
        )


async def _new_account(world: World, ring: KeyRing) -> None:
    await _employee_address(world, ring)
    employee = Actor.employee(
        world.employee_id, world.actor.organization_id, world.household_id, sandbox=False, request_id="r"
    )
    async with world.people_context.database.transaction(employee.tenant) as session:
        await change_account(
            session, ring, employee, world.people_context.clock, world.employee_id, _details()
        )


async def _key(world: World, ring: KeyRing) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await create_own_key(session, world.actor, world.people_context.clock, NewKey(("payroll",)))


async def _member(world: World, ring: KeyRing) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await members.invite_member(
            session, world.actor, world.people_context.clock, "ana@example.com", "owner"
        )


async def _owner_to_leave(world: World, ring: KeyRing) -> None:
    await joined(world.people_context, world.owner, "ana@example.com", "owner")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        there = {each.email: each for each in await members.list_members(session, world.actor)}
        requested = there["ana@example.com"].membership_id
        assert (
            await members.remove_member(session, world.actor, world.people_context.clock, requested)
            == "asked"
        )


async def _calendar(world: World, ring: KeyRing) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        await make_link(session, world.actor, world.people_context.clock, employer)


ACTS: dict[str, tuple[Do, str]] = {
    "employer.update": (_household_address, "SELECT email = 'maria@example.com' FROM employers"),
    "employee.update": (_employee_address, "SELECT email = 'rosa@example.com' FROM employees"),
    "invitation.create": (_bank_link, "SELECT status = 'cancelled' FROM invitations"),
    "account_change.ask": (_new_account, "SELECT status = 'withdrawn' FROM account_changes"),
    "bank_account.connect": (_connect, "SELECT bool_and(status = 'replaced') FROM bank_accounts"),
    "key.create": (_key, "SELECT revoked_at IS NOT NULL FROM api_keys"),
    "member.invite": (_member, "SELECT status = 'withdrawn' FROM member_invitations"),
    "member.ask_to_leave": (
        _owner_to_leave,
        "SELECT count(*) = 2 FROM memberships WHERE ended_at IS NULL AND leaving_asked_at IS NULL",
    ),
    "calendar_link.create": (_calendar, "SELECT revoked_at IS NOT NULL FROM calendar_links"),
}
"""What is done, and what is true once it was taken back."""


async def _stop(people_context: PeopleContext, link: str) -> ReversedActs:
    token = link.removeprefix("/stop/")
    stop = read_stop(people_context.keys(), people_context.clock.now(), token)
    assert isinstance(stop, StopActs)
    return await reverse_acts(people_context, stop, token, "request")


@pytest.mark.parametrize("action", ACTS)
async def test_each_is_taken_back(
    action: str,
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    alerted: Tell,
    owner_connection: psycopg.Connection,
) -> None:
    do, undone = ACTS[action]
    await alerted()
    await do(world, ring)
    told = {each.to: each for each in await alerted()}
    stopped = await _stop(people_context, told["maria@example.com"].link)
    assert action in {act.action for act in stopped.taken_back}
    assert owner_connection.execute(undone).fetchone() == (True,)
    row = owner_connection.execute(
        "SELECT actor_kind, actor_id FROM audit_log WHERE action = 'alert.stop'"
    ).fetchone()
    assert row == ("system", None)


async def test_it_works_once_and_freezes_for_a_day(
    world: World, ring: KeyRing, people_context: PeopleContext, alerted: Tell, clock: FixedClock
) -> None:
    await alerted()
    await _key(world, ring)
    link = (await alerted())[0].link
    stopped = await _stop(people_context, link)
    assert stopped.frozen_until == clock.now() + timedelta(days=1)
    await refused("gone", _stop(people_context, link))
    stale = replace(world, actor=replace(world.actor, fresh=False))
    for do in (_household_address, _employee_address, _bank_link, _connect, _key, _member):
        frozen = await refused("invalid_state", do(stale, ring))
        assert frozen.details == {"frozen_until": stopped.frozen_until}, do
    await world.pay(world.employee_id)  # payroll goes on
    await _calendar(world, ring)
    told = [each for each in await alerted() if "someone reported this as wrong" in each.text]
    assert {each.to for each in told} == {"maria@example.com"}
    clock.advance(timedelta(days=1))
    for do in (_household_address, _key, _member, _connect):
        await do(world, ring)


async def test_a_warning_reaches_who_can_stop_it_even_after_twenty_more_acts(
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    alerted: Tell,
    owner_connection: psycopg.Connection,
) -> None:
    await alerted()
    await _household_address(world, ring)
    for number in range(20):
        async with people_context.database.transaction(world.actor.tenant) as session:
            changes = ChangeEmployer(email=f"thief{number}@evil.example")
            await update_employer(session, world.actor, people_context.clock, world.household_id, changes)
    told = {each.to: each for each in await alerted()}
    await _stop(people_context, told["maria@example.com"].link)
    assert owner_connection.execute("SELECT email FROM employers").fetchone() == ("maria@example.com",)
    left = owner_connection.execute("SELECT count(*) FROM former_addresses WHERE taken_back_at IS NULL")
    assert left.fetchone() == (0,), "a thief's address is told nothing more"


def test_who_holds_a_link_begins_nothing() -> None:
    holder = Actor.stop_link(UUID(int=1), sandbox=False, request_id="r")
    allow(holder, REVOKE_KEYS)
    for permission in (MANAGE_ACCOUNTS, RUN_PAYROLL):
        with pytest.raises(Refusal) as caught:
            allow(holder, permission)
        assert caught.value.code == "scope_required"


async def test_a_removed_owner_returns_by_the_own_mail_alone(
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    alerted: Tell,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    await alerted()
    await _owner_to_leave(world, ring)
    clock.advance(OWNER_WAITS)
    async with people_context.database.transaction(world.actor.tenant) as session:
        there = {each.email: each for each in await members.list_members(session, world.actor)}
        anas = there["ana@example.com"]
        assert await members.remove_member(session, world.actor, clock, anas.membership_id) == "done"
    told = {each.to: each for each in await alerted()}
    in_force = "SELECT count(*) FROM memberships WHERE ended_at IS NULL AND role = 'owner'"
    marias = await _stop(people_context, told["maria@example.com"].link)
    assert "member.remove" in {act.action for act in marias.left}
    assert owner_connection.execute(in_force).fetchone() == (1,)
    anas_stop = await _stop(people_context, told["ana@example.com"].link)
    assert "member.remove" in {act.action for act in anas_stop.taken_back}
    assert owner_connection.execute(in_force).fetchone() == (2,)
    await refused("gone", _stop(people_context, told["ana@example.com"].link))


async def test_what_the_operator_decides_is_not_stopped(
    world: World, people_context: PeopleContext, alerted: Tell, owner_connection: psycopg.Connection
) -> None:
    await joined(people_context, world.owner, "ana@example.com", "owner")
    await alerted()
    operator = Actor.operator(world.actor.organization_id, sandbox=False, request_id="r")
    async with people_context.database.transaction(operator.tenant) as session:
        there = {each.email: each for each in await members.list_members(session, world.actor)}
        requested = there["ana@example.com"].membership_id
        removed = await members.remove_member(session, operator, people_context.clock, requested)
    assert removed == "done"
    told = {each.to: each for each in await alerted()}
    assert "/stop/" not in told["ana@example.com"].text
    assert owner_connection.execute("SELECT count(*) FROM memberships WHERE ended_at IS NULL").fetchone() == (
        1,
    )
