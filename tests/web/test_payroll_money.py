"""Payrolls by direct deposit on the pages: what has to be confirmed, how far the money is, and the ways out."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.banking.accounts import AccountDetails, connect_employee_account, connect_household_account
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.service import update_employee
from hearthpay.employers.models import Employer
from hearthpay.mail.mailer import Mailer
from hearthpay.payroll.drafts import find_draft, save_draft
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.people.context import PeopleContext
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.people.visitors import PASSWORD
from tests.web.people_browser import HOME, Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import people, people_context
from tests.web.test_payroll_pages import (
    _FORM,
    _draft,
    _preview_digest,
    maria,
    payroll_of_receipt,
    world,
)
from tests.worlds.originator import ORIGINATOR
from tests.worlds.town import ROUTING, Town, Vouching

__all__ = ["maria", "people", "people_context", "world"]


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    app = create_app(
        database, clock, AppSettings(public_url=HOME, ring=ring, mailer=mailer, direct_deposit=True)
    )
    app.state.people_context = PeopleContext(
        database, clock, ring, app.state.people_context.throttle, sends_mail=True, no_sooner_than=0
    )
    return app


@pytest.fixture
def town(
    database: Database, worker_database: Database, clock: FixedClock, ring: KeyRing, tmp_path: Path
) -> Town:
    return Town(database, worker_database, clock, ring, Bank(ORIGINATOR, folder_gateway(tmp_path)), tmp_path)


@pytest.fixture
async def paid_by_bank(world: World, maria: Browser, ring: KeyRing) -> None:
    """The household and Rosa with accounts that work; she earns $150 an hour."""
    people_context, now = world.people_context, world.people_context.clock.now()
    account = AccountDetails(
        parse_number("bank_routing", ROUTING), parse_number("bank_account", "123456789"), "checking"
    )
    async with people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployee(pay_rate=Decimal(150), payment_method="direct_deposit")
        await update_employee(session, world.actor, people_context.clock, world.employee_id, changes)
        household = await session.get_one(Employer, world.household_id)
        rosa = await session.get_one(Employee, world.employee_id)
        await connect_household_account(
            session, ring, world.actor, household, account, now, verification=Vouching()
        )
        await connect_employee_account(
            session, ring, world.actor, rosa, account, now, verification=Vouching()
        )


async def _run(maria: Browser, draft: str, **confirmed: str) -> str:
    sent = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft), **confirmed)
    assert sent.status_code == 303, sent.text
    return payroll_of_receipt(sent.headers["location"])


_BOTH = {"confirm_large_payroll": "on", "confirm_ach_debit": "on"}


@pytest.mark.usefixtures("paid_by_bank")
async def test_money_leaves_only_once_all_is_confirmed_by_who_proved_herself(
    maria: Browser, world: World, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id, method="direct_deposit", regular="40", pay_date="")
    preview = (await maria.look(draft)).text
    for asked in (
        "The amount is correct",
        "I authorize this debit",
        "We debit account ending 6789.",
        "debit of your account",
        "Mon, Nov\N{NO-BREAK SPACE}23",
        "Send Rosa $",
        "Approve payroll",
    ):
        assert asked in preview
    seen = await _preview_digest(maria, draft)
    for given in ({}, {"confirm_ach_debit": "on"}, {"confirm_large_payroll": "on"}):
        refused = await maria.send(f"{draft}/run", page=_FORM, **seen, **given)
        assert refused.status_code == 400
        assert "Check this box to continue" in refused.text
    clock.advance(timedelta(minutes=20))
    assert "Confirm it&#39;s me" in (await maria.look(draft)).text
    stale = await maria.send(f"{draft}/run", page=_FORM, **seen, **_BOTH)
    assert stale.headers["location"] == f"/sign-in/again?next={draft}"
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (0,)
    again = await maria.send("/sign-in/again", page=_FORM, password=PASSWORD, next=draft)
    assert again.headers["location"] == draft
    assert (await maria.look(await _run(maria, draft, **_BOTH))).status_code == 200
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (1,)


@pytest.mark.usefixtures("paid_by_bank")
async def test_one_that_waits_says_when_the_money_leaves_and_can_be_cancelled(
    maria: Browser, world: World
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(
        maria, at, world.employee_id, method="direct_deposit", regular="40", pay_date="2026-12-11"
    )
    payroll = await _run(maria, draft, **_BOTH)
    home = (await maria.look(f"/app/{world.household_id}")).text
    assert "Next payday, Fri, Dec\N{NO-BREAK SPACE}4" in home, "the next period is paid before it"
    assert "Cost of the last six months" not in home
    page = (await maria.look(payroll)).text
    for told in (
        "Debit on Mon, Dec\N{NO-BREAK SPACE}7",
        "Arrives Fri, Dec\N{NO-BREAK SPACE}11",
        "Cancel payroll",
    ):
        assert told in page, told
    assert "Nothing of it was sent" in (await maria.look(f"{payroll}/void")).text
    await maria.send(f"{payroll}/void", page=_FORM, reason="Not this time.")
    cancelled = (await maria.look(payroll)).text
    assert "Not this time." in cancelled
    assert "Cancel payroll" not in cancelled


@pytest.mark.usefixtures("paid_by_bank")
async def test_home_says_when_the_debit_is_and_counts_the_cost_in_the_month_of_the_payday(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    home = f"/app/{world.household_id}"
    draft = await _draft(
        maria,
        f"{home}/payrolls",
        world.employee_id,
        method="direct_deposit",
        regular="40",
        pay_date="2026-12-01",
    )
    await _run(maria, draft, **_BOTH)
    row = owner_connection.execute("SELECT net_pay FROM payrolls").fetchone()
    assert row is not None
    page = (await maria.look(home)).text
    assert "debit on Nov 24" in page
    assert f'<p class="figure">${row[0] / 100:,.2f}</p>' in page
    assert "Cost of the last six months" not in page


@pytest.mark.usefixtures("paid_by_bank")
async def test_the_timeline_follows_the_money_and_a_deposit_that_is_stuck_has_ways_out(
    maria: Browser, world: World, town: Town, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id, method="direct_deposit", regular="40", pay_date="")
    payroll = await _run(maria, draft, **_BOTH)
    assert re.search("\\$[\\d,.]+ debit on Mon, Nov\N{NO-BREAK SPACE}23", (await maria.look(payroll)).text)
    await town.live_through("2026-11-20", "2026-11-25")
    assert "The money was collected" in (await maria.look(payroll)).text
    owner_connection.execute(
        "UPDATE bank_accounts SET status = 'failed' WHERE employee_id = %s", (world.employee_id,)
    )
    stuck = (await maria.look(payroll)).text
    assert "Resolve this deposit" in stuck
    deposit = f"{payroll}/deposits/{world.employee_id}"
    ways = (await maria.look(deposit)).text
    for told in ("I&#39;ll pay by check or cash", "Wait for a new account", "Refund me"):
        assert told in ways
    for wrong in ({"action": "gold"}, {"action": "wait_for_account", "until": "2030-01-01"}, {}):
        assert (await maria.send(deposit, page=_FORM, **wrong)).status_code == 400, wrong
    waits = await maria.send(deposit, page=_FORM, action="wait_for_account", until="2026-12-10")
    assert waits.status_code == 303
    settled = await maria.send(deposit, page=_FORM, action="pay_by_check")
    assert settled.status_code == 303
    assert "Resolve this deposit" not in (await maria.look(payroll)).text
    late = await maria.send(deposit, page=_FORM, action="refund")
    assert late.status_code == 400
    assert "the payroll has moved on" in late.text


@pytest.mark.usefixtures("paid_by_bank")
async def test_a_debit_that_waits_for_it_is_authorized_anew(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(
        maria, at, world.employee_id, method="direct_deposit", regular="40", pay_date="2026-12-11"
    )
    payroll = await _run(maria, draft, **_BOTH)
    owner_connection.execute("UPDATE ach_authorizations SET revoked_at = authorized_at")
    assert f'href="{payroll}/authorize"' in (await maria.look(payroll)).text
    assert (await maria.send(f"{payroll}/authorize", page=_FORM)).status_code == 400
    agreed = await maria.send(f"{payroll}/authorize", page=_FORM, agree="on")
    assert agreed.status_code == 303
    assert f'href="{payroll}/authorize"' not in (await maria.look(payroll)).text
    count = owner_connection.execute("SELECT count(*) FROM ach_authorizations WHERE revoked_at IS NULL")
    assert count.fetchone() == (1,)


@pytest.mark.usefixtures("paid_by_bank")
async def test_the_receipt_of_a_deposit_says_which_day_moves_which_money(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(
        maria, at, world.employee_id, method="direct_deposit", regular="40", pay_date="2026-12-11"
    )
    review = (await maria.look(draft)).text
    payroll = await _run(maria, draft, **_BOTH)
    receipt = (await maria.look(f"{payroll}/receipt")).text
    row = owner_connection.execute("SELECT net_pay FROM payrolls").fetchone()
    assert row is not None
    net = f"${row[0] / 100:,.2f}"
    for told in (
        f"Send Rosa {net} by direct deposit on Fri, Dec\N{NO-BREAK SPACE}11",
        "Mon, Dec\N{NO-BREAK SPACE}7",
        "account ending 6789",
    ):
        assert told in review, told
    for told in (
        f"Approved. {net} reaches Rosa on Fri, Dec\N{NO-BREAK SPACE}11.",
        "What happens on which day",
        "Debit on Mon, Dec\N{NO-BREAK SPACE}7",
        "Arrives Fri, Dec\N{NO-BREAK SPACE}11",
        "Rosa is paid to: account ending 6789",
        "You can cancel until",
        "Tax money stays in your account until you pay it.",
        "Correct this payroll",
    ):
        assert told in receipt, told
    assert "What to write on the check" not in receipt
    assert "123456789" not in review + receipt
    form_id = str(uuid4())
    owner_connection.execute("UPDATE payrolls SET metadata = %s", ('{"batch": "7"}',))
    corrected = await maria.send(f"{payroll}/correct", page=_FORM, form_id=form_id)
    assert corrected.headers["location"] == f"{at}/drafts/{form_id}/change"
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        draft_now = await find_draft(session, world.actor, UUID(form_id))
        order = replace(draft_now.order, metadata={})  # as a form sends it
        saved = await save_draft(session, world.actor, world.people_context.clock, draft_now.id, order)
    assert draft_now.order.metadata == saved.order.metadata == {"batch": "7"}
    change = (await maria.look(corrected.headers["location"])).text
    assert re.search(r'name="pay_date"[^>]*value="2026-12-11"', change)
    assert owner_connection.execute("SELECT status FROM payrolls").fetchall() == [("voided",)]


@pytest.mark.usefixtures("paid_by_bank")
async def test_a_deposit_that_was_collected_is_not_corrected_in_one_act(
    maria: Browser, world: World, town: Town, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id, method="direct_deposit", regular="40", pay_date="")
    payroll = await _run(maria, draft, **_BOTH)
    await town.live_through("2026-11-20", "2026-11-25")
    assert "Correct this payroll" not in (await maria.look(payroll)).text
    refused = await maria.send(f"{payroll}/correct", page=_FORM, form_id=str(uuid4()))
    assert refused.status_code == 400
    assert owner_connection.execute("SELECT status FROM payrolls").fetchall() == [("processing",)]
    assert owner_connection.execute(
        "SELECT count(*) FROM payroll_drafts WHERE payroll_id IS NULL"
    ).fetchone() == (0,)


async def test_what_keeps_a_deposit_from_leaving_is_told_with_the_way_to_mend_it(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    home = f"/app/{world.household_id}"
    draft = await _draft(
        maria, f"{home}/payrolls", world.employee_id, method="direct_deposit", pay_date="2026-12-11"
    )
    review = (await maria.look(draft)).text
    for told in (
        "Connect the account that wages are paid from.",
        f'href="{home}/bank/connect"',
        "Pay by check instead",
        f'href="{draft}/change"',
    ):
        assert told in review, told
    assert f'action="{draft}/run"' not in review


@pytest.mark.usefixtures("paid_by_bank")
async def test_an_employee_without_an_account_is_named_with_the_link_to_send(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute(
        "UPDATE bank_accounts SET status = 'replaced' WHERE employee_id = %s", (world.employee_id,)
    )
    home = f"/app/{world.household_id}"
    draft = await _draft(
        maria, f"{home}/payrolls", world.employee_id, method="direct_deposit", pay_date="2026-12-11"
    )
    review = (await maria.look(draft)).text
    assert "Rosa hasn&#39;t entered a bank account yet." in review
    assert f'href="{home}/employees/{world.employee_id}/invitations"' in review
