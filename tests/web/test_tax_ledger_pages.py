"""Pages of tax payments and filings: their figures are the ledger's, and recording and reversing change them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from uuid import uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.service import CalendarQuery, mark_duty, read_calendar
from hearthpay.employers.service import find_employer
from hearthpay.filing.balances import AgencyBalance, PeriodBalance
from hearthpay.filing.service import balances_of_household
from hearthpay.people.sessions import SignedIn
from hearthpay.web.presentation import money_text
from tests.web.one_household import signed_in_once
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context"]

Q3, Q3_VALUE = "CA/wages-quarterly/2026-Q3", "ca-edd/sui/2026-Q3"


@pytest.fixture
async def world(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, made_once: MadeOnce
) -> World:
    """A household that paid somebody in July, August and October."""

    async def make() -> World:
        made = await World.make(app.state.people_context, owner_connection, people["owner"])
        for weeks_ago in (18, 14, 5):
            await made.pay(weeks_ago=weeks_ago)
        return made

    made = await made_once.get("household with three payrolls", make)
    return replace(made, people_context=app.state.people_context)


@pytest.fixture
async def maria(app: FastAPI, world: World, clock: FixedClock, made_once: MadeOnce) -> Browser:
    name = "household with three payrolls, browser of its owner"
    return await signed_in_once(app, "owner", clock, made_once, name)


@pytest.fixture
def here(world: World) -> Callable[[str], str]:
    return lambda path: f"/app/{world.household_id}/{path}"


async def balances_of(world: World) -> tuple[AgencyBalance, ...]:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await find_employer(session, world.actor, world.household_id)
        return await balances_of_household(session, world.actor, world.people_context.clock, employer)


async def balance_of(world: World, key: str = Q3) -> PeriodBalance:
    found = [each for agency in await balances_of(world) for each in agency.periods if each.key == key]
    return found[0]


async def item_of(world: World, key: str = Q3) -> CalendarItem:
    requested = CalendarQuery(world.household_id, date(2026, 1, 1), date(2027, 12, 31))
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        calendar = await read_calendar(session, world.actor, world.people_context.clock, requested)
    return next(each for each in calendar.items if each.key == key)


def money(cents: int) -> str:
    return money_text(cents).removeprefix("$").replace(",", "")


async def send(browser: Browser, path: str, **form: str) -> httpx.Response:
    return await browser.send(path, page="/settings/profile", **form)


def payment(**changes: str) -> dict[str, str]:
    return {
        "form_id": str(uuid4()),
        "paid_for": Q3_VALUE,
        "amount": "10.50",
        "paid_on": "2026-10-28",
        "method": "bank_account",
        "confirmation": "0-418-229-305",
    } | changes


async def test_the_page_of_taxes_shows_the_figures_of_the_ledger(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    await send(maria, here("taxes/payments/new"), **payment())
    balances = await balances_of(world)
    shown = (await maria.look(here("taxes"))).text
    keep, late = (sum(getattr(each, name) for each in balances) for name in ("keep_aside", "late"))
    assert late > 0
    assert f"<h1>You owe {money_text(keep)}. {money_text(late)} is late.</h1>" in shown
    assert f'<p class="big">{money_text(keep)}</p>' in shown
    cells = re.findall(r'<td role="cell" class="amount \w"(?: data-label="[^"]*")?>([^<]*)</td>', shown)
    sums = [sum(getattr(each, name) for each in balances) for name in ("owed", "paid", "open")]
    of_agencies = [cents for each in balances for cents in (each.owed, each.paid, each.open)]
    assert cells == [money_text(cents) for cents in [*of_agencies, *sums]]
    assert sums[0] - sums[1] == sums[2]
    open_periods = [each for agency in balances for each in agency.periods if each.keep_aside]
    links = re.findall(r"taxes/payments/new\?agency=([\w-]+)&amp;account=([\w-]+)&amp;period=([\w-]+)", shown)
    assert sorted(links) == sorted((each.agency.id, each.account, each.period) for each in open_periods)


async def test_a_payment_lowers_what_is_open_and_its_reversal_restores_it(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    before = await balance_of(world)
    form = (await maria.look(here("taxes/payments/new?agency=ca-edd&account=sui&period=2026-Q3"))).text
    assert f'<option value="{Q3_VALUE}" selected>EDD · July–September 2026: ' in form
    assert f'value="{money(before.open)}"' in form
    sent = payment(amount=money(before.open))
    for _ in ("once", "sent again"):
        answer = await send(maria, here("taxes/payments/new"), **sent)
        assert answer.headers["location"] == here("taxes")
    paid = await balance_of(world)
    assert (paid.paid, paid.open, paid.status) == (before.open, 0, "paid")
    assert "Paid. The return is still to be filed." in (await maria.look(here("taxes"))).text
    listed = (await maria.look(here("taxes/payments"))).text
    [reversal] = re.findall(rf"{here('taxes/payments')}/[0-9a-f-]+/reverse", listed)
    assert "Confirmation number 0-418-229-305" in listed
    question = (await maria.look(reversal)).text
    assert f"<dt>Open now</dt><dd>{money_text(0)}</dd>" in question
    assert f"<dt>Open after the reversal</dt><dd>{money_text(before.open)}</dd>" in question
    assert await balance_of(world) == paid
    too_long = await send(maria, reversal, reason="x" * 201)
    assert (too_long.status_code, 'id="reason-problem"' in too_long.text) == (400, True)
    assert (await send(maria, reversal, reason="Sent twice")).headers["location"] == here("taxes")
    assert await balance_of(world) == before
    again = await send(maria, reversal)
    assert (again.status_code, "This payment is already reversed." in again.text) == (400, True)
    listed = (await maria.look(here("taxes/payments"))).text
    assert "Reversed Nov 20, 2026" in listed
    assert "/reverse" not in listed


async def test_the_second_of_two_parents_who_record_one_bill_is_asked(
    app: FastAPI, maria: Browser, world: World, here: Callable[[str], str], clock: FixedClock
) -> None:
    """Each has the page open with the whole bill in it; what is paid in parts is nobody's question."""
    other = await _browser(app, "admin", clock)
    new, bill = here("taxes/payments/new"), await balance_of(world)
    forms = [payment(form_id=str(uuid4()), amount=money(bill.open)) for _ in range(4)]
    answers = await asyncio.gather(*(send(maria, new, **form) for form in forms))
    assert sorted(each.status_code for each in answers) == [303, 409, 409, 409]
    assert (await balance_of(world)).open == 0
    asked = await send(other, new, **payment(amount=money(bill.open), confirmation="later"))
    assert asked.status_code == 409
    assert "A payment for this period is already recorded." in asked.text
    assert f"It is {money_text(bill.open)}, paid on Oct 28, 2026. Nothing more was recorded." in asked.text
    assert 'value="later"' in asked.text
    assert (await balance_of(world)).paid == bill.open
    both = payment(amount=money(bill.open), confirm_another="on")
    assert (await send(other, new, **both)).status_code == 303
    assert (await balance_of(world)).open == -bill.open


async def test_a_bill_that_is_paid_in_parts_is_recorded_without_a_question(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    new, bill = here("taxes/payments/new"), await balance_of(world)
    for form in (
        payment(amount="2", paid_on="2026-10-30"),
        payment(amount="2", paid_on="2026-10-31"),
        payment(amount=money(bill.open - 400)),
    ):
        assert (await send(maria, new, **form)).status_code == 303
    assert (await balance_of(world)).open == 0
    # The same amount on the same day is asked about, although the bill isn't paid.
    listed = (await maria.look(here("taxes/payments"))).text
    for reversal in re.findall(rf"{here('taxes/payments')}/[0-9a-f-]+/reverse", listed):
        assert (await send(maria, reversal)).status_code == 303
    statuses = [(await send(maria, new, **payment(amount="2"))).status_code for _ in range(2)]
    assert statuses == [303, 409]


async def test_errors_stand_beside_their_fields_and_values_are_kept(
    maria: Browser, world: World, here: Callable[[str], str], owner_connection: psycopg.Connection
) -> None:
    for field, text, sentence in (
        ("paid_for", "", "Choose what the payment was for."),
        ("paid_for", "ca-edd/sui/2026-Q9", "Choose what the payment was for."),
        ("paid_for", "ca-edd/sui/2012-Q3", ""),
        ("amount", "", "Fill in this field."),
        ("amount", "ten", "Enter an amount, like 28.50."),
        ("amount", "1e2", "Enter an amount, like 28.50."),
        ("amount", "1_0", "Enter an amount, like 28.50."),
        ("amount", "1,2,3", "Enter an amount, like 28.50."),
        ("amount", "0", "Enter an amount above 0."),
        ("amount", "-1", "Enter an amount above 0."),
        ("amount", "1.005", "Use at most 2 decimals."),
        ("paid_on", "", "Fill in this field."),
        ("paid_on", "2026-11-21", "Enter today's date or an earlier one."),
        ("paid_on", "2026-06-30", "Enter a date on or after Jul 1, 2026, when the period begins."),
        ("method", "barter", "Choose one."),
        ("confirmation", "x" * 61, ""),
        ("confirmation", "123-45-6789", ""),
    ):
        answer = await send(maria, here("taxes/payments/new"), **payment(**{field: text}))
        assert answer.status_code == 400, (field, text)
        shown = answer.text.replace("&#39;", "'")
        assert f'<p class="problem" id="{field}-problem">{sentence}' in shown, (field, text, shown)
        assert shown.count('class="problem"') == 1, (field, text)
        if field != "amount":
            assert 'value="10.50"' in shown
        if field != "confirmation":
            assert 'value="0-418-229-305"' in shown
    assert owner_connection.execute("SELECT count(*) FROM tax_payments").fetchall() == [(0,)]


async def test_late_short_overpaid_and_marked_periods_are_told_with_the_next_step(
    maria: Browser, world: World, here: Callable[[str], str], clock: FixedClock
) -> None:
    shown = (await maria.look(here("taxes"))).text
    assert "days late" in shown
    assert "The agency usually sends a bill with a penalty and interest." in shown
    before = await balance_of(world)
    await send(maria, here("taxes/payments/new"), **payment(amount="1"))
    shown = (await maria.look(here("taxes"))).text
    assert f"You paid $1.00 of {money_text(before.owed)}." in shown
    too_much = payment(amount=money(before.owed), confirm_another="on")
    await send(maria, here("taxes/payments/new"), **too_much)
    item = await item_of(world)
    await send(maria, here(f"calendar/{item.uid}/filed"), filed_on="2026-10-28")
    shown = (await maria.look(here("taxes"))).text
    assert "You paid $1.00 too much. Ask the agency for a refund or a credit." in shown
    i3 = await balance_of(world, "US/estimated-tax/2026-I3")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employer = await find_employer(session, world.actor, world.household_id)
        key = "US/estimated-tax/2026-I3"
        await mark_duty(session, world.actor, clock, employer, key=key, done_on=date(2026, 9, 15))
    shown = (await maria.look(here("taxes"))).text
    assert "Marked as done, without an amount. Record what you paid." in shown
    keep = sum(each.keep_aside for each in await balances_of(world))
    assert f'<p class="big">{money_text(keep)}</p>' in shown
    assert i3.open > 0
    assert "Open also counts what you paid too much" in shown


async def test_a_filing_keeps_its_figures_until_it_is_reversed(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    item = await item_of(world)
    page = here(f"calendar/{item.uid}")
    opened = (await maria.look(page)).text
    assert "I filed it" in opened
    assert "agency=ca-edd&amp;account=sui&amp;period=2026-Q3" in opened
    for form, field, sentence in (
        ({"filed_on": ""}, "filed_on", "Fill in this field."),
        ({"filed_on": "2026-11-21"}, "filed_on", "Enter today's date or an earlier one."),
        ({"filed_on": "2026-06-30"}, "filed_on", "Enter a date on or after Jul 1, 2026"),
        ({"filed_on": "2026-10-27", "confirmation": "x" * 61}, "confirmation", ""),
    ):
        wrong = await send(maria, f"{page}/filed", **({"confirmation": "kept"} | form))
        assert wrong.status_code == 400
        shown = wrong.text.replace("&#39;", "'")
        assert f'<p class="problem" id="{field}-problem">{sentence}' in shown, (form, shown)
        assert f'value="{form["filed_on"]}"' in shown
    sent = await send(maria, f"{page}/filed", filed_on="2026-10-27", confirmation="0-418-229-304")
    assert sent.headers["location"] == page
    shown = (await maria.look(page)).text
    assert "I filed it" not in shown
    assert f"<dt>Total as filed</dt><dd>{money_text(item.amount)}</dd>" in shown
    assert "0-418-229-304" in shown
    again = await send(maria, f"{page}/filed", filed_on="2026-10-28")
    assert again.status_code == 400
    assert "already recorded as filed on Oct 27, 2026" in again.text

    # A payroll of the quarter that is run late: what was filed stays, and is to be amended.
    await world.pay(weeks_ago=13)
    await send(maria, here("taxes/payments/new"), **payment(amount=money((await balance_of(world)).open)))
    changed = await item_of(world)
    assert changed.amount is not None
    assert item.amount is not None
    assert changed.amount > item.amount
    shown = (await maria.look(page)).text
    assert f"<dt>Total as filed</dt><dd>{money_text(item.amount)}</dd>" in shown
    assert "Filed an amended return?" in shown
    assert "File an amended return, then record it." in (await maria.look(here("taxes"))).text

    [reversal] = re.findall(rf"{here('taxes/filings')}/[0-9a-f-]+/reverse", shown)
    assert "The calendar then asks you to file again." in (await maria.look(reversal)).text
    assert (await send(maria, reversal)).headers["location"] == here("taxes/filings")
    assert (await item_of(world)).filed_on is None
    assert "Reversed Nov 20, 2026" in (await maria.look(here("taxes/filings"))).text
    assert "I filed it" in (await maria.look(page)).text
    again = await send(maria, reversal)
    assert (again.status_code, "This filing is already reversed." in again.text) == (400, True)


async def test_the_calendar_lists_what_is_left_to_pay(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    item = await item_of(world)
    await send(maria, here("taxes/payments/new"), **payment())
    left = (await balance_of(world)).open
    assert item.amount is not None
    assert left == item.amount - 1050
    listed = (await maria.look(here("calendar"))).text
    row = listed[listed.index(f"{item.uid}") :].partition("</li>")[0]
    assert f'<p class="sum">{money_text(left)}</p>' in row


async def test_what_is_paid_is_no_return_to_file(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    item = await item_of(world, "US/estimated-tax/2026-I3")
    page = here(f"calendar/{item.uid}")
    assert "I filed it" not in (await maria.look(page)).text
    assert (await send(maria, f"{page}/filed", filed_on="2026-11-01")).status_code == 404


async def test_another_households_payment_and_filing_are_not_found(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    item = await item_of(world)
    await send(maria, here("taxes/payments/new"), **payment())
    await send(maria, here(f"calendar/{item.uid}/filed"), filed_on="2026-10-27")
    neighbour = await World.make(world.people_context, world.connection, world.owner, first_name="Ann")
    for part in ("payments", "filings"):
        listed = (await maria.look(here(f"taxes/{part}"))).text
        [own] = re.findall(rf"/taxes/{part}/[0-9a-f-]+/reverse", listed)
        foreign = f"/app/{neighbour.household_id}{own}"
        assert (await maria.look(foreign)).status_code == 404
        assert (await send(maria, foreign)).status_code == 404
        assert (await maria.look(f"/app/{world.household_id}{own}")).status_code == 200


async def test_a_viewer_sees_the_ledger_without_forms(
    app: FastAPI, maria: Browser, world: World, here: Callable[[str], str], clock: FixedClock
) -> None:
    item = await item_of(world)
    await send(maria, here("taxes/payments/new"), **payment())
    await send(maria, here(f"calendar/{item.uid}/filed"), filed_on="2026-10-27")
    viewer = await _browser(app, "viewer", clock)
    for path in ("taxes", "taxes/payments", "taxes/filings", f"calendar/{item.uid}"):
        shown = await viewer.look(here(path))
        assert shown.status_code == 200
        assert "/reverse" not in shown.text, path
        assert "payments/new" not in shown.text, path
        assert f"{item.uid}/filed" not in shown.text, path


async def test_every_page_is_said_in_spanish(
    maria: Browser, world: World, here: Callable[[str], str]
) -> None:
    await maria.send("/settings/profile", page="/settings/profile", name="Maria", language="es")
    item = await item_of(world)
    wrong = await send(
        maria, here("taxes/payments/new"), **payment(paid_on="2026-06-30", confirmation="x" * 61)
    )
    assert "Escriba una fecha a partir del 1 de julio de 2026, cuando empieza el período." in wrong.text
    assert "characters" not in wrong.text
    await send(maria, here("taxes/payments/new"), **payment())
    await send(maria, here(f"calendar/{item.uid}/filed"), filed_on="2026-10-27")
    again = await send(maria, here(f"calendar/{item.uid}/filed"), filed_on="2026-10-27")
    assert "Ya está registrado como presentado el 27 de octubre de 2026." in again.text
    payments, filings = [
        re.findall(rf"taxes/{part}/[0-9a-f-]+/reverse", (await maria.look(here(f"taxes/{part}"))).text)[0]
        for part in ("payments", "filings")
    ]
    for path, words in (
        ("taxes", "Usted debe"),
        ("taxes", "julio–septiembre de 2026"),
        ("taxes", "días de atraso"),
        ("taxes/payments", "se pagó el 28 oct 2026"),
        ("taxes/payments/new?agency=ca-edd&account=sui&period=2026-Q3", "Impuestos de nómina"),
        (payments, "Pendiente después de revertirlo"),
        ("taxes/filings", "se presentó el 27 oct 2026"),
        (filings, "Total presentado"),
        (f"calendar/{item.uid}", "Lo que presentó"),
    ):
        shown = (await maria.look(here(path))).text
        assert '<html lang="es">' in shown
        assert words in shown, path
