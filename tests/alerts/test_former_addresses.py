"""Which former address comes back: the one of before the week's first change, and none that was set since."""

from datetime import timedelta

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import become_person
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.employers.commands import ChangeEmployer
from hearthpay.employers.service import update_employer
from hearthpay.people.context import PeopleContext
from hearthpay.people.former_addresses import (
    TOLD_FOR,
    end_former_addresses,
    end_former_person_addresses,
    note_former_person_address,
)
from hearthpay.people.sessions import SignedIn
from tests.web.rows.world import World

OLD = "maria@example.com"
THIEF = "thief@evil.example"


@pytest.fixture
async def world(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection
) -> World:
    return await World.make(people_context, owner_connection, maria)


async def _household_moves(world: World, address: str) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployer(email=address)
        await update_employer(session, world.actor, world.people_context.clock, world.household_id, changes)


async def _employee_moves(world: World, address: str | None) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployee(email=address)
        await update_employee(session, world.actor, world.people_context.clock, world.employee_id, changes)


async def _comes_back(world: World, address: str | None, *, employee: bool = False) -> bool:
    now = world.people_context.clock.now()
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        whose = world.employee_id if employee else None
        return await end_former_addresses(session, now, world.household_id, whose, address)


async def test_an_address_that_a_thief_set_for_a_minute_does_not_come_back(
    world: World, clock: FixedClock
) -> None:
    await _household_moves(world, THIEF)
    clock.advance(timedelta(minutes=1))
    await _household_moves(world, OLD)
    clock.advance(timedelta(minutes=1))
    assert not await _comes_back(world, THIEF)
    clock.advance(TOLD_FOR - timedelta(minutes=2))
    await _household_moves(world, THIEF)
    clock.advance(timedelta(hours=1))
    assert await _comes_back(world, OLD), "she held it before the week's first change"


async def test_neither_does_one_that_he_set_where_there_was_none(world: World, clock: FixedClock) -> None:
    await _employee_moves(world, None)
    clock.advance(TOLD_FOR + timedelta(minutes=1))
    await _employee_moves(world, THIEF)
    clock.advance(timedelta(minutes=1))
    await _employee_moves(world, "rosa@example.com")
    assert not await _comes_back(world, THIEF, employee=True)
    assert await _comes_back(world, None, employee=True)


async def test_an_address_held_for_a_week_comes_back(world: World, clock: FixedClock) -> None:
    await _household_moves(world, "new@example.com")
    clock.advance(TOLD_FOR)
    await _household_moves(world, THIEF)
    assert await _comes_back(world, "new@example.com")


async def test_a_person_s_address_comes_back_by_the_same_rule(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    async with people_context.database.transaction(None) as session:
        await become_person(session, maria.person_id)
        await note_former_person_address(session, clock.now(), maria.person_id, OLD)
        clock.advance(timedelta(minutes=1))
        await note_former_person_address(session, clock.now(), maria.person_id, THIEF)
        assert not await end_former_person_addresses(session, clock.now(), maria.person_id, THIEF)
        assert await end_former_person_addresses(session, clock.now(), maria.person_id, OLD)
