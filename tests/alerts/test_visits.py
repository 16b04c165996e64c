"""What one visit did is one mail, that nobody can hold back; and nobody is alarmed of their own answers."""

from datetime import timedelta
from decimal import Decimal

import psycopg
import pytest

from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.alerts.delivery import MOST_WAIT, QUIET, send_alerts
from hearthpay.alerts.sensitive_actions import SETTING_UP
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.feed import make_link
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.service import terminate_employee, update_employee
from hearthpay.employers.commands import ChangeEmployer
from hearthpay.employers.models import Employer
from hearthpay.employers.service import update_employer
from hearthpay.payroll.set_asides.escrow import set_rule
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.alerts.readers import DESK, Tell
from tests.people.test_members import joined
from tests.web.rows.world import World

MARIA = "maria@example.com"
ROSA = "rosa@example.com"
W4 = {"elected": True, "filing_status": "single", "extra_withholding": Decimal(10)}


@pytest.fixture
async def world(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection
) -> World:
    return await World.make(people_context, owner_connection, maria)


async def _key(world: World) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await create_own_key(session, world.actor, world.people_context.clock, NewKey(("payroll",)))


async def _calendar(world: World) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        await make_link(session, world.actor, world.people_context.clock, employer)


async def _change(world: World, **changes: object) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        clock = world.people_context.clock
        await update_employee(session, world.actor, clock, world.employee_id, ChangeEmployee(**changes))  # type: ignore[arg-type]


async def test_nobody_is_alarmed_of_their_own_answers_while_setting_up(
    world: World, people_context: PeopleContext, alerted: Tell, clock: FixedClock
) -> None:
    await _calendar(world)
    await _key(world)
    assert await alerted() == []
    await joined(people_context, world.owner, "ana@example.com", "admin")
    await _calendar(world)
    told = {each.to for each in await alerted()}
    assert told == {"ana@example.com", MARIA}, "of Ana, Maria is told, and of all of that visit"
    await _calendar(world)
    assert {each.to for each in await alerted()} == {"ana@example.com"}
    clock.advance(SETTING_UP)
    await _key(world)
    assert {each.to for each in await alerted()} == {"ana@example.com", MARIA}, (
        "a thief may be in her account"
    )


async def test_a_visit_is_one_mail_once_it_is_quiet_and_no_later_than_its_bound(
    world: World,
    ring: KeyRing,
    clock: FixedClock,
    alerted: Tell,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    clock.advance(SETTING_UP)
    await alerted()

    async def told() -> int:
        return (await send_alerts(worker_database, ring, clock, DESK)).told

    def minutes(number: int) -> None:
        owner_connection.execute(
            "UPDATE security_alerts SET created_at = created_at - make_interval(mins => %s) WHERE told_at IS NULL",
            (number,),
        )

    await _calendar(world)
    assert await told() == 0
    minutes(4)
    await _key(world)
    minutes(4)
    assert await told() == 0, "the visit goes on"
    minutes(1)
    assert await told() == 1
    assert timedelta(minutes=5) == QUIET

    for _ in range(4):
        await _calendar(world)
        minutes(4)
    assert timedelta(minutes=15) == MOST_WAIT
    assert await told() == 1, "whoever goes on and on delays nothing"

    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployer(email="new@example.com")
        await update_employer(session, world.actor, clock, world.household_id, changes)
    assert await told() == 1, "where warnings go is told at once"


async def test_the_employee_alone_is_told_of_form_w4_set_asides_and_the_end_of_the_job(
    world: World, people_context: PeopleContext, alerted: Tell, clock: FixedClock
) -> None:
    clock.advance(SETTING_UP)
    await alerted()
    await _change(world, federal_withholding=W4)
    async with people_context.database.transaction(world.actor.tenant) as session:
        employee = await session.get_one(Employee, world.employee_id)
        await set_rule(session, world.actor, employee, SetAsideRule(rate=None, amount_cents=1000))
        await set_rule(session, world.actor, employee, SetAsideRule(rate=None, amount_cents=1000))
        await terminate_employee(session, world.actor, clock, world.employee_id)
    (mail,) = await alerted()
    assert mail.to == ROSA
    assert "Form W-4" in mail.text
    assert mail.text.count("what is set aside from the pay of Rosa Diaz was changed") == 1
    assert "the job of Rosa Diaz with the Lopez household was ended" in mail.text
    assert "/stop/" not in mail.text, "nothing of it is taken back by a link"
    assert "tell the household at once" in mail.text


async def test_of_what_is_entered_while_a_record_is_set_up_the_employee_is_not_told(
    world: World, alerted: Tell, clock: FixedClock
) -> None:
    clock.advance(SETTING_UP - timedelta(minutes=1))
    await alerted()
    await _change(world, federal_withholding=W4)
    assert await alerted() == []


async def test_only_the_settings_that_changed_are_named(
    world: World, alerted: Tell, clock: FixedClock
) -> None:
    clock.advance(SETTING_UP)
    await alerted()
    await _change(world, email="new@example.com", city="Oakland")
    for mail in await alerted():
        assert "the email address, from" in mail.text
        assert "the pay" not in mail.text
