"""The cases of `docs/how-to/regain-access.md` and of the administrators' page, tried from beginning to end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import psycopg
import pyotp
import pytest

from hearthpay.access.actor import Actor
from hearthpay.banking.account_changes import approve_change, change_account, connect_due
from hearthpay.banking.accounts import AccountDetails
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.people import credentials, members, operators, sign_in, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.people.test_accounts import refused
from tests.people.test_at_once import all_members, joined
from tests.people.test_stop_powers import HOME, NEW_PASSWORD, OTHER, Account
from tests.people.visitors import HERE, MARIA, PASSWORD, VISIT, Newcomers, link_in, mails, signed_in
from tests.web.rows.world import World

HEIR = NewPerson("Lena Lopez", PASSWORD, "en")


@pytest.fixture
def operating(people_context: PeopleContext, owner_database: Database) -> PeopleContext:
    """As the command line has it: the same service, over the owner's connection."""
    return replace(people_context, database=owner_database)


@pytest.mark.parametrize("codes", [True, False], ids=["a recovery code", "nothing left"])
async def test_a_lost_phone_and_a_lost_mailbox(
    codes: bool,
    operating: PeopleContext,
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    account = await Account.make(people_context, owner_connection, ring, clock)
    maria = await account.at_home()
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    kept = await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), HOME)
    clock.advance(timedelta(days=30))
    if codes:
        begun = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
        assert begun.needs_second_factor
        entered = await sign_in.sign_in_with_code(people_context, begun.token.text, kept[0], VISIT)
    else:
        async with operating.database.transaction(None) as session:
            assert await operators.remove_second_factor_by_operator(session, operating, MARIA)
            link = await operators.reset_by_operator(session, operating, MARIA)
        entered = await credentials.reset_password(people_context, link.text, NEW_PASSWORD, VISIT)
        assert not entered.needs_second_factor
    maria = await signed_in(people_context, entered.token.text)
    await credentials.ask_for_new_email(people_context, maria, OTHER, HERE, VISIT)
    token = link_in(account.mailed(OTHER)[-1])
    await credentials.confirm_new_email(people_context, maria, token, VISIT)
    assert account.mailed(MARIA)[-1]["subject"] == "Your account has a new address"
    await credentials.change_password(people_context, maria, NEW_PASSWORD + "!", VISIT)
    assert account.mailed(OTHER)[-1]["subject"] == "Your account was changed"


async def test_two_mailboxes_and_nobody_who_can_sign_in(
    operating: PeopleContext,
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    account = await Account.make(people_context, owner_connection, ring, clock)
    await account.move(await account.at_home(), OTHER)
    owner_connection.execute(
        "UPDATE people SET disputed_address = %s, disputed_at = %s WHERE id = %s",
        (MARIA, clock.now(), account.person_id),
    )
    async with operating.database.transaction(None) as session:
        for address, choice, code in (
            ("nobody@example.com", "former", "not_found"),
            (OTHER, "mine", "validation_error"),
        ):
            await refused(code, operators.settle_address_by_operator(session, operating, address, choice))
        settled = await operators.settle_address_by_operator(session, operating, MARIA, "former")
        assert settled.address == MARIA
        link = await operators.reset_by_operator(session, operating, MARIA)
    await credentials.reset_password(people_context, link.text, NEW_PASSWORD, VISIT)
    for mailbox in (MARIA, OTHER):
        assert "The address of your account" in {each["subject"] for each in account.mailed(mailbox)}


async def test_the_only_owner_died(
    operating: PeopleContext,
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
) -> None:
    assert maria.here is not None
    organization = maria.here.organization_id
    world = await World.make(people_context, owner_connection, maria)
    async with operating.database.transaction(Tenant(organization, False)) as session:
        refusal = operators.remove_member_by_operator(session, operating.clock, organization, MARIA)
        await refused("invalid_state", refusal)
        sent = await operators.invite_by_operator(
            session, operating.clock, organization, "lena@example.com", "owner"
        )
    entered = await sign_up.join_as_new_person(people_context, sent.token.text, HEIR, VISIT)
    async with operating.database.transaction(Tenant(organization, False)) as session:
        await operators.remove_member_by_operator(session, operating.clock, organization, MARIA)
    lena = await signed_in(people_context, entered.token.text)
    assert set(await all_members(people_context, lena)) == {"lena@example.com"}
    # The estate's household beside the old one, which keeps its payrolls and its EIN.
    estate = await World.make(
        people_context, owner_connection, lena, first_name="Estate of", last_name="Lopez"
    )
    assert estate.household_id != world.household_id


async def test_an_employees_mailbox_was_stolen(
    people_context: PeopleContext,
    maria: SignedIn,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    world = await World.make(people_context, owner_connection, maria)
    clock.advance(timedelta(days=8))
    async with people_context.database.transaction(world.actor.tenant) as session:
        await update_employee(
            session, world.actor, clock, world.employee_id, ChangeEmployee(email="rosa.new@example.com")
        )
    employee = Actor.employee(
        world.employee_id, world.actor.organization_id, world.household_id, sandbox=False, request_id="r"
    )
    details = AccountDetails(
        parse_number("bank_routing", "121000358"), parse_number("bank_account", "12345678"), "checking"
    )
    async with people_context.database.transaction(employee.tenant) as session:
        asked = await change_account(session, ring, employee, clock, world.employee_id, details)
    assert asked.waiting is not None, "even the first account waits"
    clock.advance(timedelta(days=2))
    assert await connect_due(worker_database, ring, clock) == 0
    async with people_context.database.transaction(world.actor.tenant) as session:
        assert await approve_change(session, world.actor, clock, world.employee_id)
    assert await connect_due(worker_database, ring, clock) == 1


async def test_of_two_who_part_each_has_an_organization(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    clock.advance(timedelta(minutes=1))
    max_ = await joined(people_context, maria, "max@example.com", "owner")
    there = await all_members(people_context, maria)
    actor = maria.actor("r")
    for _ in range(2):
        async with people_context.database.transaction(actor.tenant) as session:
            await members.remove_member(session, actor, clock, there["max@example.com"].membership_id)
        clock.advance(timedelta(days=1))
    assert set(await all_members(people_context, maria)) == {MARIA}
    own = await sign_up.begin_own_organization(people_context, max_, "Max", VISIT)
    assert maria.here is not None
    assert own != maria.here.organization_id
    assert mails(owner_connection, ring)
    other = await Newcomers(people_context, owner_connection, ring).make("ana@example.com", "Ana")
    assert set(await all_members(people_context, other)) == {"ana@example.com"}
