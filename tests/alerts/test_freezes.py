"""A freeze: whose it is, that nobody makes it longer, and who ends it early."""

from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.accounts.freezing import end_freeze, freezes_in_force, frozen_until
from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.clock import FixedClock
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from tests.alerts.readers import Tell
from tests.alerts.test_table import press
from tests.alerts.thefts import CONTACT
from tests.people.test_accounts import refused
from tests.web.rows.world import World


@pytest.fixture
async def world(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    alerted: Tell,
) -> World:
    made = await World.make(people_context, owner_connection, maria, email=CONTACT)
    clock.advance(timedelta(days=8))
    await alerted()
    return made


async def _key(world: World) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await create_own_key(session, world.actor, world.people_context.clock, NewKey(("payroll",)))


async def _end(world: World, actor: Actor) -> bool:
    async with world.people_context.database.transaction(actor.tenant) as session:
        return await end_freeze(session, actor, world.people_context.clock, world.household_id)


async def _end_all(world: World) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        for each in await freezes_in_force(session, world.actor, world.people_context.clock.now()):
            household = each.id if each.household is not None else None
            await end_freeze(session, world.actor, world.people_context.clock, household)


async def _until(world: World) -> object:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        now = world.people_context.clock.now()
        return await frozen_until(session, world.actor.organization_id, now, world.household_id)


async def test_no_press_makes_it_longer_and_its_mail_has_no_link(
    world: World, people_context: PeopleContext, alerted: Tell, clock: FixedClock
) -> None:
    await _key(world)
    links = {each.to: each for each in await alerted()}
    first = await press(people_context, links[CONTACT])
    assert first.frozen_until == clock.now() + timedelta(days=1)
    told = await alerted()
    assert {each.to for each in told} == {CONTACT, "maria@example.com"}
    for each in told:
        assert "someone reported this as wrong" in each.text
        assert "/stop/" not in each.text
        assert "An owner can end this earlier under Settings, Members." in each.text
    clock.advance(timedelta(hours=23))
    assert (await press(people_context, links["maria@example.com"])).frozen_until is not None
    assert await _until(world) == clock.now() + timedelta(days=1), "the owner's own freeze, of all of it"
    clock.advance(timedelta(days=1))
    assert await _until(world) is None


async def test_an_owner_with_a_fresh_proof_ends_it_and_old_links_freeze_nothing(
    world: World, people_context: PeopleContext, alerted: Tell, owner_connection: psycopg.Connection
) -> None:
    await _key(world)
    first = {each.to: each for each in await alerted()}
    await _key(world)
    later = {each.to: each for each in await alerted()}
    assert (await press(people_context, first[CONTACT])).frozen_until is not None
    await refused("authentication_required", _end(world, replace(world.actor, fresh=False)))
    await refused("scope_required", _end(world, replace(world.actor, role="admin")))
    assert await _end(world, world.actor)
    assert not await _end(world, world.actor)
    assert await _until(world) is None
    await _key(world)
    assert (await press(people_context, later[CONTACT])).frozen_until is None
    again = await press(people_context, later["maria@example.com"])
    assert again.frozen_until is not None, "the organization was not frozen by these"
    await _end_all(world)
    told = {each.to: each for each in await alerted()}
    assert "was ended early for the Lopez household" in told[CONTACT].text
    trace = owner_connection.execute("SELECT count(*) FROM audit_log WHERE action LIKE '%.unfreeze'")
    assert trace.fetchone() == (2,)


async def test_what_was_done_before_a_freeze_freezes_nothing_after_it(
    world: World,
    people_context: PeopleContext,
    alerted: Tell,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    """A mailbox with a drawer of old warnings doesn't keep a household frozen day after day."""
    links = []
    for _ in range(3):
        await _key(world)
        links += [each for each in await alerted() if each.to == CONTACT]
    ends = []
    for link in links:
        stopped = await press(people_context, link)
        assert len(stopped.taken_back) == 1
        ends.append(stopped.frozen_until)
        clock.advance(timedelta(days=1, minutes=1))
    assert ends[0] is not None
    assert ends[1:] == [None, None]
    assert owner_connection.execute("SELECT count(*) FROM api_keys WHERE revoked_at IS NULL").fetchone() == (
        0,
    )
