"""Stories of thieves, in real Chromium with a real mail server: what they try, who is told, and how it is stopped.

Each ends with the victim: by the mail alone, without signing in, or on the one page that lists every way in.
"""

from __future__ import annotations

import email.policy
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from playwright.async_api import Browser, expect

from hearthpay.access.refusal import Refusal
from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.alerts.delivery import send_alerts
from hearthpay.app import AppSettings, create_app
from hearthpay.banking.account_changes import connect_due
from hearthpay.banking.accounts import AccountDetails, connect_household_account
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.models import Employer
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.notices import NotificationSettings
from hearthpay.mail.postman import Postman
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_in import sign_in
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.alerts.readers import quiet, stop_path
from tests.mail.servers import Postbox, mail_server
from tests.people.visitors import MARIA, PASSWORD
from tests.stories.looking import pictured
from tests.stories.readers import Reader, Way
from tests.web.rows.world import World

OTHER_PASSWORD = "walnut-lantern-77"
ROSA = "rosa@example.com"
THIEF = "thief@evil.example"


@pytest.fixture
def postbox() -> Postbox:
    return Postbox()


@pytest.fixture
async def mailer(postbox: Postbox) -> AsyncIterator[Mailer]:
    async with mail_server(postbox) as url:
        yield Mailer(url, "Hearthpay <payroll@example.com>")


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing, mailer: Mailer) -> FastAPI:
    return create_app(
        database,
        clock,
        AppSettings(ring=ring, mailer=mailer, direct_deposit=True, operator="operator@example.com"),
    )


class Mail:
    """What has arrived, by its reader, once the worker has told and sent what waits."""

    def __init__(
        self,
        worker: Database,
        ring: KeyRing,
        clock: FixedClock,
        mailer: Mailer,
        app: FastAPI,
        postbox: Postbox,
        connection: psycopg.Connection,
    ) -> None:
        self._connection = connection
        self._worker, self._ring, self._clock, self._mailer = worker, ring, clock, mailer
        self._app, self._postbox = app, postbox

    async def to(self, address: str, subject: str) -> str:
        """The text of the last mail to this address about this."""
        await self._app.state.people_context.postman.settle()
        quiet(self._connection)
        await send_alerts(self._worker, self._ring, self._clock, NotificationSettings(sends=True))
        await Postman(self._worker, self._ring, self._mailer, self._clock).send_due(lambda: False)
        found = [
            each for each in self._postbox.mails if each["To"] == address and subject in str(each["Subject"])
        ]
        assert found, [(each["To"], each["Subject"]) for each in self._postbox.mails]
        body = found[-1].get_body(("plain",))
        assert isinstance(body, email.message.EmailMessage)
        return str(body.get_content())


@pytest.fixture
def mail(
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    mailer: Mailer,
    app: FastAPI,
    postbox: Postbox,
    owner_connection: psycopg.Connection,
) -> Mail:
    return Mail(worker_database, ring, clock, mailer, app, postbox, owner_connection)


async def _stop(browser: Browser, address: str, text: str) -> Reader:
    """Open the link of a warning in a browser in which nobody ever signed in, and press the button."""
    context = await browser.new_context(base_url=address, locale="en-US")
    reader = Reader(await context.new_page(), Way())
    await reader.open(stop_path(text))
    await pictured(reader.page, "stop_link")
    await reader.press("Stop it now")
    await reader.reads("It was stopped")
    return reader


async def _bank(world: World, ring: KeyRing) -> None:
    details = AccountDetails(
        parse_number("bank_routing", "121000358"), parse_number("bank_account", "12345678"), "checking"
    )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        await connect_household_account(
            session, ring, world.actor, employer, details, world.people_context.clock.now()
        )


async def _key(world: World, *scopes: str) -> dict[str, str]:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        issued = await create_own_key(session, world.actor, world.people_context.clock, NewKey(scopes))
    return {"Authorization": f"Bearer {issued.text}"}


async def test_pay_that_a_stolen_key_diverts_is_stopped_from_the_old_address(
    world: World,
    reader: Reader,
    browser: Browser,
    address: str,
    mail: Mail,
    ring: KeyRing,
    clock: FixedClock,
    worker_database: Database,
    owner_connection: psycopg.Connection,
) -> None:
    await _bank(world, ring)
    clock.advance(timedelta(days=8))
    household, rosa = f"/api/v1/employers/{world.household_id}", f"/api/v1/employees/{world.employee_id}"
    async with httpx.AsyncClient(base_url=address) as thief:
        narrow = await _key(world, "employees", "payroll")
        for path in (household, rosa):
            assert (await thief.patch(path, json={"email": THIEF}, headers=narrow)).status_code == 403
        wide = await _key(world, "employees", "payroll", "ach", "onboarding")
        for path in (household, rosa):
            assert (await thief.patch(path, json={"email": THIEF}, headers=wide)).status_code == 200
        body = {"type": "bank_account", "send_email": False}
        opened = await thief.post(f"{rosa}/invite", json=body, headers=wide)
        assert opened.status_code == 200, opened.text
    await reader.open("/portal/" + opened.json()["data"]["portal_url"].rpartition("/")[2])
    await reader.page.locator("[name=routing_number]").fill("121000358")
    await reader.page.locator("[name=account_number]").fill("000987654321")
    await reader.page.locator("[name=account_number_again]").fill("000987654321")
    await reader.page.locator("[name=account_type][value=savings]").check()
    await reader.page.locator("form button[type=submit]").last.click()
    await reader.sees(
        "An email address was changed or an account was reported a short while ago, so an owner of the household "
        "has to agree first."
    )

    warning = await mail.to(MARIA, "A sensitive setting was changed")
    assert "was changed from m... at example. com to t... at evil. example" in warning
    assert "asked to be paid to a bank account ending in 4321" in warning
    await mail.to(ROSA, "The bank account for your pay is being changed")
    clock.advance(timedelta(days=2))
    assert await connect_due(worker_database, ring, clock) == 0, "no owner has agreed"

    await _stop(browser, address, warning)
    addresses = "SELECT email FROM employers UNION ALL SELECT email FROM employees"
    assert owner_connection.execute(addresses).fetchall() == [(MARIA,), (ROSA,)]
    changes = "SELECT DISTINCT status FROM account_changes"
    assert owner_connection.execute(changes).fetchall() == [("withdrawn",)]
    keys = "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL"
    assert owner_connection.execute(keys).fetchone() == (0,)
    clock.advance(timedelta(days=1))
    assert await connect_due(worker_database, ring, clock) == 0
    assert owner_connection.execute(
        "SELECT count(*) FROM bank_accounts WHERE employee_id IS NOT NULL"
    ).fetchone() == (0,)


async def test_an_old_session_changes_no_address(
    reader: Reader, world: World, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    await reader.sign_in(MARIA, PASSWORD)
    clock.advance(timedelta(minutes=11))
    await reader.open(f"/app/{world.household_id}/household")
    await reader.page.locator("[name=email]").fill(THIEF)
    await reader.page.locator("main form button[type=submit]").first.click()
    await reader.reads("Confirm it's you")
    await reader.open(f"/app/{world.household_id}/employees/{world.employee_id}/invitations")
    assert owner_connection.execute("SELECT email FROM employers").fetchone() == (MARIA,)


async def test_a_stolen_account_is_taken_back_by_the_mail_alone_and_made_safe_on_one_page(
    world: World,
    reader: Reader,
    browser: Browser,
    address: str,
    mail: Mail,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    maria: SignedIn,
) -> None:
    await reader.sign_in(MARIA, PASSWORD)
    await reader.page.wait_for_url("**/app/**")
    await reader.open("/settings/profile")
    await reader.press("Sign out")
    clock.advance(timedelta(days=8))
    stranger = await browser.new_context(base_url=address, locale="en-US", user_agent="Stranger")
    thief = Reader(await stranger.new_page(), Way())
    await thief.sign_in(MARIA, PASSWORD)
    await thief.open("/settings/keys")
    await thief.check("Payroll")
    await thief.press("Make the key")
    await thief.open("/settings/profile")
    await thief.fill("New email address", THIEF)
    await thief.press("Send the link")
    await thief.reads("Check your email")
    link = (await mail.to(THIEF, "Confirm your new address")).split("/new-email/")[1].split()[0]
    await thief.open(f"/new-email/{link}")
    await thief.press("Use this address")
    assert owner_connection.execute("SELECT email FROM people").fetchone() == (THIEF,)

    await _stop(browser, address, await mail.to(MARIA, "Your account has a new address"))
    await thief.open("/settings/profile")
    await thief.reads("Sign in")
    await thief.sign_in(THIEF, PASSWORD)
    await thief.sees("This password was reported as known to somebody else.")

    disputed = await mail.to(MARIA, "Which address is yours?")
    assert "operator@example.com" in disputed
    assert "/reset/" not in disputed + await mail.to(THIEF, "Which address is yours?")
    await reader.open("/settings/address")
    await reader.fill("Email address", MARIA)
    await reader.fill("Password", PASSWORD)
    await reader.press("Sign in")
    await reader.reads("Which address is yours?")
    await pictured(reader.page, "disputed_address")
    await reader.press(f"Return to {MARIA}")
    await reader.reads("Password and two-step verification")
    assert owner_connection.execute("SELECT email FROM people").fetchone() == (MARIA,)
    await mail.to(THIEF, "The address of your account")
    await reader.page.locator("[name=password]").fill(OTHER_PASSWORD)
    await reader.page.locator("main form button[type=submit]").first.click()
    await reader.sees("Saved.")
    await reader.open("/settings/secure")
    await reader.sees("API keys that you made")
    await expect(reader.page.get_by_text(reader.words("New"), exact=True).first).to_be_visible()
    await reader.page.locator('form[action*="/settings/secure/key/"] button').first.click()
    await reader.reads("Secure my account")
    keys = "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL"
    assert owner_connection.execute(keys).fetchone() == (0,)
    await stranger.close()


async def test_a_stranger_locks_nobody_out_of_her_own_browser(
    reader: Reader, browser: Browser, address: str, app: FastAPI, maria: SignedIn
) -> None:
    await reader.sign_in(MARIA, PASSWORD)
    await reader.page.wait_for_url("**/app/start")
    await reader.open("/settings/profile")
    await reader.press("Sign out")
    await reader.reads("Sign in")
    for number in range(8):
        with pytest.raises(Refusal, match="don't match"):
            await sign_in(app.state.people_context, MARIA, "wrong", Visit(f"203.0.113.{number}"))
    async with await browser.new_context(base_url=address, locale="en-US") as strange:
        stranger = Reader(await strange.new_page(), Way())
        await stranger.sign_in(MARIA, PASSWORD)
        await stranger.sees("Too many attempts. Wait a few minutes, then try again.")
    await reader.sign_in(MARIA, PASSWORD)
    await reader.page.wait_for_url("**/app/start")
