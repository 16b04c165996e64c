"""How far the holder of a link reaches, from the attacker's side: a mailbox gives no power over anything else."""

from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.alerts.reversal import stop_record
from hearthpay.banking.account_changes import approve_change, change_account, connect_due
from hearthpay.banking.accounts import connect_household_account
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.commands import ChangeEmployee, Invite
from hearthpay.employees.invitations import Sending, invite
from hearthpay.employees.models import Employee
from hearthpay.employees.own_notices import notify_of_account
from hearthpay.employees.service import update_employee
from hearthpay.employers.commands import ChangeEmployer
from hearthpay.employers.models import Employer
from hearthpay.employers.service import update_employer
from hearthpay.people import members
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.stop_links import StopRecord, read_stop
from hearthpay.security.key_ring import KeyRing
from tests.alerts.readers import Tell, stop_path
from tests.alerts.test_table import press
from tests.alerts.thefts import CONTACT, EMPLOYEE, MINUTE, OTHER, THIEF, details, settle
from tests.people.test_accounts import refused
from tests.people.test_members import joined
from tests.people.visitors import mails
from tests.web.rows.world import World


@pytest.fixture
async def world(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> World:
    """A household with an address of its own; what follows is done a week after it was set up."""
    made = await World.make(people_context, owner_connection, maria, email=CONTACT)
    clock.advance(timedelta(days=8))
    return made


async def _move_household(world: World, address: str) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployer(email=address)
        await update_employer(session, world.actor, world.people_context.clock, world.household_id, changes)


async def _move_employee(world: World, **changes: object) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        clock = world.people_context.clock
        await update_employee(session, world.actor, clock, world.employee_id, ChangeEmployee(**changes))  # type: ignore[arg-type]


async def _key(world: World) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await create_own_key(session, world.actor, world.people_context.clock, NewKey(("payroll",)))


def _employee(world: World) -> Actor:
    return Actor.employee(
        world.employee_id, world.actor.organization_id, world.household_id, sandbox=False, request_id="r"
    )


async def _enter_account(world: World, ring: KeyRing, account: str) -> object:
    actor = _employee(world)
    async with world.people_context.database.transaction(actor.tenant) as session:
        clock = world.people_context.clock
        return await change_account(session, ring, actor, clock, world.employee_id, details(account))


async def test_the_only_household_s_address_stops_a_key_but_touches_no_member(
    world: World, people_context: PeopleContext, alerted: Tell, owner_connection: psycopg.Connection
) -> None:
    await alerted()
    await _key(world)
    await joined(people_context, world.owner, "ana@example.com", "admin")
    told = {each.to: each for each in await alerted()}
    assert "The link doesn't stop all of this. An owner can stop the rest." in told[CONTACT].text
    stopped = await press(people_context, told[CONTACT])
    assert {act.action for act in stopped.taken_back} == {"key.create"}
    assert {act.action for act in stopped.left} == set()
    frozen = "SELECT count(*) FROM employers WHERE frozen_until IS NOT NULL"
    assert owner_connection.execute(frozen).fetchone() == (1,)


async def test_the_link_of_a_mailbox_dies_with_its_place(
    world: World, people_context: PeopleContext, alerted: Tell, clock: FixedClock
) -> None:
    await _move_household(world, MINUTE)
    await alerted()
    await _key(world)
    told = {each.to: each for each in await alerted()}
    clock.advance(timedelta(minutes=1))
    await _move_household(world, CONTACT)
    later = {each.to: each for each in await alerted()}
    assert "/stop/" not in later[MINUTE].text, "it is told, and stops nothing"
    await refused("gone", press(people_context, told[MINUTE]))


async def test_an_admin_s_link_dies_with_the_membership(
    world: World, people_context: PeopleContext, alerted: Tell
) -> None:
    ben = await joined(people_context, world.owner, "ben@example.com", "admin")
    await alerted()
    await _key(world)
    told = {each.to: each for each in await alerted()}
    async with people_context.database.transaction(world.actor.tenant) as session:
        there = {each.email: each for each in await members.list_members(session, world.actor)}
        membership = there[ben.email].membership_id
        await members.remove_member(session, world.actor, people_context.clock, membership)
    await refused("gone", press(people_context, told["ben@example.com"]))


async def test_a_minute_s_address_of_an_owner_stops_nothing(
    world: World,
    people_context: PeopleContext,
    alerted: Tell,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    await alerted()
    await _key(world)
    owner_connection.execute("UPDATE people SET email = %s", (MINUTE,))
    told = {each.to: each for each in await alerted()}
    owner_connection.execute(
        "INSERT INTO former_person_addresses (id, person_id, address, changed_at, told_until, held_since) "
        "SELECT new_id(), id, %s, %s, %s, %s FROM people",
        (MINUTE, clock.now(), clock.now() + timedelta(days=7), clock.now() - timedelta(minutes=1)),
    )
    owner_connection.execute("UPDATE people SET email = 'maria@example.com'")
    await refused("gone", press(people_context, told[MINUTE]))
    await _key(world)
    later = {each.to: each for each in await alerted()}
    assert "/stop/" not in later[MINUTE].text
    assert "/stop/" in later["maria@example.com"].text


async def test_both_addresses_are_told_of_a_restoration_and_neither_can_stop_it(
    world: World,
    people_context: PeopleContext,
    alerted: Tell,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    await alerted()
    for address in (MINUTE, THIEF):
        await _move_household(world, address)
    await _move_employee(world, email="rosa@evil.example")
    told = {each.to: each for each in await alerted()}
    await press(people_context, told[CONTACT])
    assert owner_connection.execute("SELECT email FROM employers").fetchone() == (CONTACT,)
    later = {each.to: each for each in await alerted()}
    for address in (CONTACT, MINUTE, THIEF):
        assert "the email address of the Lopez household was restored" in later[address].text
        assert "/stop/" not in later[address].text
    for address in (EMPLOYEE, "rosa@evil.example"):
        assert "the email address of Rosa Diaz was restored" in later[address].text
        assert "/stop/" not in later[address].text
    clock.advance(timedelta(days=1))
    await _key(world)
    assert {each.to for each in await alerted()} == {CONTACT, "maria@example.com"}, "they are told once"


async def test_an_owner_with_a_fresh_proof_corrects_an_address_during_a_freeze(
    world: World, people_context: PeopleContext, alerted: Tell, owner_connection: psycopg.Connection
) -> None:
    await alerted()
    await _move_household(world, "new@example.com")  # from a stolen mailbox
    told = {each.to: each for each in await alerted()}
    await press(people_context, told[CONTACT])  # which takes it back
    for actor in (replace(world.actor, fresh=False), replace(world.actor, role="admin")):
        await refused("invalid_state", _move_household(replace(world, actor=actor), THIEF))
    await _move_household(world, "new@example.com")
    assert owner_connection.execute("SELECT email FROM employers").fetchone() == ("new@example.com",)


async def test_after_a_stop_there_is_no_first_account(
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    alerted: Tell,
    clock: FixedClock,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    await _enter_account(world, ring, "12345678")
    told = {each.to: each for each in await alerted()}
    assert "nothing is paid to or from a bank account that was reported" in told[CONTACT].text
    await press(people_context, told[CONTACT])
    assert owner_connection.execute("SELECT status, reason FROM bank_accounts").fetchall() == [
        ("replaced", "reported")
    ]
    await refused("invalid_state", _enter_account(world, ring, "55556666"))
    clock.advance(timedelta(days=30))
    await _enter_account(world, ring, "55556666")
    clock.advance(timedelta(days=2))
    assert await connect_due(worker_database, ring, clock) == 0, "no owner has agreed"
    async with people_context.database.transaction(world.actor.tenant) as session:
        assert await approve_change(session, world.actor, clock, world.employee_id)
    assert await connect_due(worker_database, ring, clock) == 1
    owner_connection.execute("UPDATE bank_accounts SET status = 'replaced' WHERE status <> 'replaced'")
    await _enter_account(world, ring, "77778888")
    digits = "SELECT last_four FROM bank_accounts WHERE status = 'verifying'"
    assert owner_connection.execute(digits).fetchall() == [("8888",)], "as if nothing had been reported"


async def test_after_a_stop_an_owner_connects_the_household_s_next_account(
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    alerted: Tell,
    clock: FixedClock,
) -> None:
    async def connect(actor: Actor) -> None:
        async with people_context.database.transaction(actor.tenant) as session:
            employer = await session.get_one(Employer, world.household_id)
            await connect_household_account(session, ring, actor, employer, details("12345678"), clock.now())

    await connect(world.actor)
    await press(people_context, {each.to: each for each in await alerted()}[CONTACT])
    await refused("invalid_state", connect(world.actor))
    clock.advance(timedelta(days=1))
    await refused("scope_required", connect(replace(world.actor, role="admin")))
    await refused("authentication_required", connect(replace(world.actor, fresh=False)))
    await connect(world.actor)
    await connect(replace(world.actor, role="admin"))


async def test_another_household_is_neither_told_nor_frozen(
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    alerted: Tell,
    owner_connection: psycopg.Connection,
) -> None:
    await settle(world, ring)
    await alerted()
    await _move_employee(world, email="rosa@evil.example")
    told = {each.to: each for each in await alerted()}
    assert OTHER not in told
    await press(people_context, told[EMPLOYEE])
    frozen = owner_connection.execute("SELECT last_name FROM employers WHERE frozen_until IS NOT NULL")
    assert frozen.fetchall() == [("Lopez",)]
    assert owner_connection.execute("SELECT frozen_until FROM organizations").fetchone() == (None,)
    await _key(world)  # what concerns all of an agency goes on
    assert OTHER in {each.to for each in await alerted()}


async def test_the_link_about_a_held_account_dies_with_its_mailbox(
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    """A mailbox that was the employee's for a minute cancels no account of theirs."""

    async def link_to(address: str) -> StopRecord:
        people = replace(people_context, sends_mail=True)
        async with people.database.transaction(world.actor.tenant) as session:
            employee = await session.get_one(Employee, world.employee_id)
            await notify_of_account(
                people, session, employee, None, old="1", new="2", start=clock.now(), kind="bank_changed"
            )
        text = [each for each in mails(owner_connection, ring) if each["to"] == address][-1]["text"]
        if "/stop/" not in text:
            raise LookupError(address)
        stop = read_stop(ring, clock.now(), stop_path(text).removeprefix("/stop/"))
        assert isinstance(stop, StopRecord)
        return stop

    await _move_employee(world, email=MINUTE)
    link = await link_to(MINUTE)
    clock.advance(timedelta(minutes=1))
    await _move_employee(world, email=EMPLOYEE)
    await _enter_account(world, ring, "12345678")
    await refused("gone", stop_record(people_context, link, "r"))
    with pytest.raises(LookupError):
        await link_to(MINUTE)
    assert await stop_record(people_context, await link_to(EMPLOYEE), "r")


async def test_the_address_of_an_employee_s_account_reaches_what_concerns_them(
    world: World,
    ring: KeyRing,
    people_context: PeopleContext,
    alerted: Tell,
    owner_connection: psycopg.Connection,
) -> None:
    async with people_context.database.transaction(world.actor.tenant) as session:
        sending, new = (
            Sending("https://pay.example.com/portal", ring, None),
            Invite("tax_info", send_email=False),
        )
        clock = people_context.clock
        await invite(
            session, world.actor, clock, sending, world.employee_id, new, direct_deposit_enabled=True
        )
    owner_connection.execute(
        "WITH p AS (INSERT INTO people (id, email, name, language, created_at, updated_at) "
        "VALUES (new_id(), 'own@example.com', 'Rosa Diaz', 'es', now(), now()) RETURNING id) "
        "INSERT INTO employee_links (id, organization_id, employer_id, sandbox, employee_id, person_id, linked_at, "
        "invitation_id, awaits_household) SELECT new_id(), i.organization_id, i.employer_id, i.sandbox, "
        "i.employee_id, p.id, now(), i.id, false FROM invitations i, p"
    )
    await alerted()
    await _move_employee(world, email="rosa@evil.example")
    await _key(world)
    told = {each.to: each for each in await alerted()}
    stopped = await press(people_context, told["own@example.com"])
    assert [act.action for act in stopped.taken_back] == ["employee.update"]
    assert stopped.left == ()
