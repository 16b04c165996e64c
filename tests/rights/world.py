"""The doctor's books with people: each right in them was given on the way on which it is given."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
from fastapi import FastAPI

from hearthpay.access.actor import Actor
from hearthpay.access.plans import terms_of
from hearthpay.accounts import service as accounts
from hearthpay.accounts.models import Organization
from hearthpay.accounts.own_keys import NewKey, create_own_key, revoke_own_key
from hearthpay.app import AppSettings, create_app
from hearthpay.employees.commands import AddEmployee
from hearthpay.employees.own_account import make_own_account, request_account
from hearthpay.employees.service import create_employee
from hearthpay.mail.mailer import Mailer
from hearthpay.people import credentials, members, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.operators import make_operator, unmake_operator
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from tests.doctor.books import Books
from tests.http.api import Caller, data
from tests.oauth.dance import Dance
from tests.people.visitors import (
    HERE,
    MARIA,
    PASSWORD,
    VISIT,
    Newcomers,
    at_the_command_line,
    link_in,
    mails,
    signed_in,
)
from tests.web.people_browser import HOME, Browser
from tests.worlds.inviting import invite

OTHER_PASSWORD = "lantern-walrus-73"


@dataclass
class Household:
    """Maria, who owns an organization, and whom she let in."""

    books: Books
    app: FastAPI
    people_context: PeopleContext
    connection: psycopg.Connection
    maria: SignedIn
    dance: Dance

    def actor(self, *, of_both_modes: bool = False) -> Actor:
        found = self.maria.actor("r", of_both_modes=of_both_modes)
        return replace(found, terms=terms_of("professional", {}))

    def newest_link(self) -> str:
        return link_in(mails(self.connection, self.books.ring)[-1])


async def let_people_in(books: Books, connection: psycopg.Connection) -> Household:
    """Two owners of two organizations, a member who was a viewer, an employee with an account, keys and agents."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    app = create_app(books.service, books.clock, AppSettings(public_url=HOME, ring=books.ring, mailer=mailer))
    throttle = app.state.people_context.throttle
    people_context = PeopleContext(
        books.service, books.clock, books.ring, throttle, sends_mail=True, no_sooner_than=0
    )
    app.state.people_context = people_context
    newcomers = Newcomers(people_context, connection, books.ring)
    maria = await newcomers.make(MARIA)
    await newcomers.make("other@example.com", "Another")
    assert maria.here is not None
    async with books.owner.transaction(None) as session:
        organization = await session.get_one(Organization, maria.here.organization_id)
        await accounts.set_plan(session, organization, "professional")
        await make_operator(session, at_the_command_line(books.owner, books.clock), MARIA)
        await make_operator(session, at_the_command_line(books.owner, books.clock), "other@example.com")
        await unmake_operator(session, at_the_command_line(books.owner, books.clock), "other@example.com")
    browser = Browser.of(app)
    await browser.sign_in(MARIA, PASSWORD)
    world = Household(
        books,
        app,
        people_context,
        connection,
        maria,
        await Dance.begin(app, books.service, books.clock, maria, browser),
    )
    await _let_agents_in(world)
    await _let_members_in(world)
    await _employ(world, await _make_keys(world))
    await _skip(world)
    return world


async def _skip(world: Household) -> None:
    """Somebody skips whatever begins within three weeks."""
    flying = (
        "SELECT employer_id, employee_id FROM autopilot_enrollments WHERE status = 'active' "
        "ORDER BY id DESC LIMIT 1"
    )
    [(employer_id, employee_id)] = world.connection.execute(flying).fetchall()
    asked = {
        "employer_id": str(employer_id),
        "employee_id": str(employee_id),
        "through_date": (world.books.clock.today() + timedelta(days=21)).isoformat(),
    }
    response = await world.books.test.post("/autopilot/skip", asked)
    assert response.status_code == 200, response.text


async def _let_agents_in(world: Household) -> None:
    await world.dance.tokens("household:read")
    await world.dance.tokens("payroll:run", demands_preview="on")
    gone = await world.dance.tokens("household:read")
    [(grant,)] = world.connection.execute("SELECT id FROM agent_grants ORDER BY id DESC LIMIT 1").fetchall()
    assert gone["access_token"]
    left = await world.dance.browser.send(
        f"/settings/agents/{grant}/disconnect", page=f"/settings/agents/{grant}"
    )
    assert left.status_code == 303, left.text


async def _let_members_in(world: Household) -> None:
    books = world.books
    new = NewPerson("Vera Klein", OTHER_PASSWORD, "en")
    for email, role in (("vera@example.com", "viewer"), ("adam@example.com", "viewer")):
        actor = world.actor(of_both_modes=True)
        async with books.service.transaction(actor.tenant) as session:
            sent = await members.invite_member(session, actor, books.clock, email, role)
        entered = await sign_up.join_as_new_person(world.people_context, sent.token.text, new, VISIT)
        joined = await signed_in(world.people_context, entered.token.text)
    await credentials.change_password(world.people_context, joined, "kettle-orbit-912", VISIT)
    actor = world.actor(of_both_modes=True)
    async with books.service.transaction(actor.tenant) as session:
        found = {each.email: each for each in await members.list_members(session, actor)}
        await members.change_role(
            session, actor, books.clock, found["adam@example.com"].membership_id, "admin"
        )
        await members.invite_member(session, actor, books.clock, "waits@example.com", "viewer")


async def _make_keys(world: Household) -> Caller:
    books, actor = world.books, world.actor()
    async with books.service.transaction(actor.tenant) as session:
        wide = await create_own_key(session, actor, books.clock, NewKey(("employees",)))
        await create_own_key(
            session, actor, books.clock, NewKey(("payroll",), world.dance.household_id, confined=True)
        )
        gone = await create_own_key(session, actor, books.clock, NewKey(("employees",)))
        await revoke_own_key(session, actor, books.clock, gone.id)
    return Caller(books.client, wide.text, wide.id)


async def _employ(world: Household, caller: Caller) -> UUID:
    books, actor = world.books, world.actor()
    new = AddEmployee(
        first_name="Rosa",
        last_name="Diaz",
        employer_id=world.dance.household_id,
        email="rosa@example.com",
        pay_rate=Decimal("28.50"),
        pay_frequency="weekly",
        start_date=date(2026, 1, 5),
    )
    async with books.service.transaction(actor.tenant) as session:
        rosa = (await create_employee(session, actor, books.clock, new)).employee
    told: dict[str, Any] = data(await invite(caller, {"id": rosa.id}, send_email=False))
    token = str(told["portal_url"]).rpartition("/")[2]
    await request_account(world.people_context, token, "rosa@example.com", "en", HERE, VISIT)
    person = NewPerson("Rosa Diaz", OTHER_PASSWORD, "es")
    await make_own_account(world.people_context, token, world.newest_link(), person, VISIT)
    return rosa.id
