"""An account by the link alone, where no mail is sent: who gets one, what it shows, and who is told."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant, become_person
from hearthpay.people.context import PeopleContext
from hearthpay.security.key_ring import KeyRing
from hearthpay.todos.records import find_recorded_to_dos
from tests.http.api import Account, data
from tests.people.visitors import PASSWORD
from tests.web.people_browser import Browser
from tests.web.test_portal import link
from tests.worlds.households import payroll_of

EMAIL = "rosa@example.com"


@pytest.fixture
def without_mail(app: FastAPI) -> PeopleContext:
    """An installation without a mail server."""
    found: PeopleContext = replace(app.state.people_context, sends_mail=False, no_sooner_than=0)
    app.state.people_context = found
    return found


@pytest.fixture
def unknown_address(owner_connection: psycopg.Connection, rosa: dict[str, Any]) -> dict[str, Any]:
    """Rosa, of whom the household has no address."""
    owner_connection.execute("UPDATE employees SET email = NULL WHERE id = %s", (rosa["id"],))
    return rosa


async def make(
    browser: Browser, url: str, email: str | None = EMAIL, password: str = PASSWORD
) -> httpx.Response:
    """Make the account at the page that the link leads to."""
    path = f"{httpx.URL(url).path}/account"
    typed = {"name": "Rosa Diaz", "password": password}
    return await browser.send(path, page=path, **typed | ({} if email is None else {"email": email}))


async def kinds(database: Database, account: Account, clock: FixedClock, household: str) -> list[str]:
    async with database.transaction(Tenant(account.organization_id, False)) as session:
        found = await find_recorded_to_dos(session, [UUID(household)], clock.now(), clock.today())
    return [each.kind for each in found]


def linked(connection: psycopg.Connection) -> tuple[UUID, UUID]:
    """The one connection of a person to an employee, and the person."""
    [(found, person)] = connection.execute("SELECT id, person_id FROM employee_links").fetchall()
    return found, person


async def test_it_shows_no_pay_until_the_household_has_confirmed_it(
    app: FastAPI,
    account: Account,
    unknown_address: dict[str, Any],
    without_mail: PeopleContext,
    database: Database,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    rosa, household = unknown_address, unknown_address["employer_id"]
    data(await account.live.post("/payroll/run", payroll_of(household, rosa["id"])))
    browser = Browser.of(app)
    url = await link(account, rosa)
    made = await make(browser, url)
    assert (made.status_code, made.headers.get("location")) == (303, "/my")
    assert "The household must confirm" in (await browser.look("/my")).text
    assert (await browser.look("/home")).headers["location"] == "/my"
    for part in ("", "/pay/2026", "/details", "/certificates", "/bank"):
        assert (await browser.look(f"/my/{rosa['id']}{part}")).status_code in (303, 404)
    found, person = linked(owner_connection)
    async with database.transaction(Tenant(account.organization_id, False, UUID(household))) as session:
        await become_person(session, person)
        connection = await session.connection()
        for table in ("paychecks", "employees", "vault", "documents"):
            rows = await connection.exec_driver_sql(f"SELECT count(*) FROM {table}")
            assert rows.scalar_one() == 0, table
    assert "account_to_confirm" in await kinds(database, account, clock, household)
    actions = (
        "SELECT action FROM audit_log WHERE action LIKE 'employee.%link' OR action LIKE '%confirm_account'"
    )
    assert owner_connection.execute(actions).fetchall() == [("employee.link",)]
    owner_connection.execute("UPDATE employee_links SET awaits_household = false WHERE id = %s", (found,))
    assert (await browser.look("/my")).headers["location"] == f"/my/{rosa['id']}"
    assert "Your last payday" in (await browser.look(f"/my/{rosa['id']}")).text
    assert "account_to_confirm" not in await kinds(database, account, clock, household)


async def test_the_person_cannot_confirm_the_account(
    app: FastAPI,
    account: Account,
    unknown_address: dict[str, Any],
    without_mail: PeopleContext,
    database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    await make(Browser.of(app), await link(account, unknown_address))
    _, person = linked(owner_connection)
    tenant = Tenant(account.organization_id, False, UUID(unknown_address["employer_id"]))

    async def confirm() -> None:
        async with database.transaction(tenant) as session:
            await become_person(session, person)
            connection = await session.connection()
            await connection.exec_driver_sql("UPDATE employee_links SET awaits_household = false")

    with pytest.raises(DBAPIError, match="row-level security"):
        await confirm()
    waits = owner_connection.execute("SELECT awaits_household FROM employee_links").fetchall()
    assert waits == [(True,)]


async def test_a_link_makes_one_account(
    app: FastAPI,
    account: Account,
    unknown_address: dict[str, Any],
    without_mail: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    url = await link(account, unknown_address)
    assert (await make(Browser.of(app), url)).status_code == 303
    second = await make(Browser.of(app), url, "second@example.com")
    assert second.status_code == 400
    assert "belongs to another account already" in second.text
    owner_connection.execute("UPDATE employee_links SET ended_at = now()")
    third = await make(Browser.of(app), url, "third@example.com")
    assert third.status_code == 410
    assert owner_connection.execute("SELECT count(*) FROM people").fetchone() == (
        1,
    )  # nothing is left of them
    late = await link(account, unknown_address)
    clock.advance(timedelta(days=7))
    assert (await Browser.of(app).look(f"{httpx.URL(late).path}/account")).status_code == 410


async def test_the_address_on_record_is_the_accounts_and_is_not_shown(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    without_mail: PeopleContext,
    owner_connection: psycopg.Connection,
) -> None:
    url = await link(account, rosa)
    browser = Browser.of(app)
    page = (await browser.look(f"{httpx.URL(url).path}/account")).text
    assert "r…@example.com" in page
    assert "rosa.diaz@example.com" not in page
    assert 'name="email"' not in page
    assert (await make(browser, url, "thief@example.com")).status_code == 303
    assert owner_connection.execute("SELECT email FROM people").fetchall() == [("rosa.diaz@example.com",)]


async def test_an_address_with_an_account_and_a_weak_password_are_refused(
    app: FastAPI,
    account: Account,
    unknown_address: dict[str, Any],
    without_mail: PeopleContext,
    owner_connection: psycopg.Connection,
) -> None:
    url = await link(account, unknown_address)
    weak = await make(Browser.of(app), url, password="short")
    assert weak.status_code == 400
    assert 'id="password-problem"' in weak.text
    owner_connection.execute(
        "INSERT INTO people VALUES (%s, %s, 'Somebody', 'en', now(), now())", (uuid4(), EMAIL)
    )
    taken = await make(Browser.of(app), url)
    assert taken.status_code == 400
    assert "There is an account with this address" in taken.text
    assert owner_connection.execute("SELECT count(*) FROM employee_links").fetchone() == (0,)


async def test_where_mail_is_sent_the_link_alone_makes_none(
    app: FastAPI,
    account: Account,
    unknown_address: dict[str, Any],
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    app.state.people_context = replace(app.state.people_context, sends_mail=True, no_sooner_than=0)
    answered = await make(Browser.of(app), await link(account, unknown_address))
    assert answered.status_code == 200
    assert "Check your email" in answered.text
    assert owner_connection.execute("SELECT count(*) FROM people").fetchone() == (0,)
