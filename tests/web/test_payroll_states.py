"""What pages say of a payroll's state and its next payday: nothing is paid before it is, and the list is by payday."""

from __future__ import annotations

import datetime
import re
from datetime import date
from uuid import UUID

import psycopg
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.doctor.lifecycle_checks import handed_over
from hearthpay.payroll.payroll_lists import PaydayPlace
from tests.web.one_household import maria, world
from tests.web.people_browser import Browser, typed_in
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context
from tests.web.test_payroll_pages import _FORM, _draft, _preview_digest

__all__ = ["app", "maria", "people", "people_context", "world"]

NBSP = "\u00a0"
PAID = '<span class="soft">Paid</span>'
_PAYROLL = re.compile(r"/payrolls/([0-9a-f-]{36})(?:/receipt)?$")


async def run(maria: Browser, world: World, **pay: str) -> str:
    """Run a payroll by check; return its path."""
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id, **pay)
    ran = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft))
    found = _PAYROLL.search(ran.headers["location"])
    assert found is not None, ran.text
    return f"{at}/{found[1]}"


async def test_a_check_that_is_dated_ahead_is_to_hand_over_through_its_day(
    app: FastAPI, maria: Browser, world: World, clock: FixedClock
) -> None:
    payroll = await run(maria, world)
    waits = f"To hand over on Fri, Nov{NBSP}27"
    assert "Mark as handed over" in (await maria.look(f"{payroll}/receipt")).text
    at = f"/app/{world.household_id}"
    for page in (payroll, f"{payroll}/receipt", f"{at}/payrolls"):
        shown = (await maria.look(page)).text
        assert waits in shown, page
        assert PAID not in shown, page
    assert f"· {waits}" in (await maria.look(f"{at}/search?q=rosa")).text
    clock.advance(datetime.timedelta(days=6, hours=15))  # the evening before in California
    assert clock.today() == date(2026, 11, 27)
    browser = await _browser(app, "owner", clock)
    assert waits in (await browser.look(payroll)).text
    clock.advance(datetime.timedelta(hours=12))
    shown = (await browser.look(payroll)).text
    assert waits in shown
    assert "Mark as handed over" in shown
    assert "Pay Rosa" in (await browser.look(at)).text
    clock.advance(datetime.timedelta(hours=24))
    shown = (await browser.look(payroll)).text
    assert waits not in shown
    assert PAID in shown
    assert "· Paid<" in (await browser.look(f"{at}/search?q=rosa")).text
    assert "Mark as handed over" not in shown


async def test_somebody_says_that_a_check_was_handed_over(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    payroll = await run(maria, world)
    assert "Mark as handed over" in (await maria.look(payroll)).text
    for _ in range(2):
        marked = await maria.send(f"{payroll}/hand-over", page=_FORM)
        assert marked.headers["location"] == payroll
    shown = (await maria.look(payroll)).text
    assert PAID in shown
    assert "Handed over" in shown
    assert "Mark as handed over" not in shown
    noted = owner_connection.execute(
        "SELECT subject_id::text, details ->> 'pay_date' FROM audit_log WHERE action = 'payroll.hand_over'"
    ).fetchall()
    assert noted == [(payroll.rpartition("/")[2], "2026-11-27")]
    assert owner_connection.execute("SELECT status FROM payrolls").fetchall() == [("completed",)]
    assert owner_connection.execute(handed_over()).fetchall() == []
    # It can still be voided; then nobody can say so any more.
    voided = await maria.send(f"{payroll}/void", page=_FORM, reason="Wrong hours.")
    assert voided.status_code == 303
    refused = await maria.send(f"{payroll}/hand-over", page=_FORM)
    assert refused.status_code in (400, 409)


async def test_a_period_that_has_not_ended_is_warned_of_at_review_only(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    warned = "This pay period ends on Nov 22, 2026"
    draft = await _draft(maria, at, world.employee_id)
    review = (await maria.look(draft)).text
    assert warned in review
    assert "Record payroll" in review
    ran = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft))
    assert ran.status_code == 303
    stored = owner_connection.execute("SELECT warnings::text FROM paychecks").fetchall()
    assert "ends on" not in str(stored)
    over = {"start": "2026-11-09", "end": "2026-11-15", "pay_date": "2026-11-20"}
    assert (
        warned.partition(" Nov")[0]
        not in (await maria.look(await _draft(maria, at, world.employee_id, **over))).text
    )


async def test_the_next_payroll_is_filled_in_by_the_frequency(maria: Browser, world: World) -> None:
    await run(maria, world)
    form = typed_in(await maria.look(f"/app/{world.household_id}/payrolls/new"))
    assert (form["start"], form["end"], form["pay_date"]) == ("2026-11-23", "2026-11-29", "2026-12-04")
    assert form[f"pay_{world.employee_id}"] == "on"
    home = (await maria.look(f"/app/{world.household_id}/payrolls")).text
    assert f"Next payroll to run: Fri, Dec{NBSP}4" in home


async def test_setup_is_complete_once_there_is_a_payroll(maria: Browser, world: World) -> None:
    page = f"/app/{world.household_id}/setup"
    assert "You’re ready for the first payroll" in (await maria.look(page)).text
    await run(maria, world)
    shown = (await maria.look(page)).text
    assert "Setup is complete" in shown
    assert "first payroll" not in shown


async def test_past_pay_proposes_the_oldest_period_without_a_payroll(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("UPDATE employees SET start_date = '2026-10-26'")
    await run(maria, world, start="2026-11-09", end="2026-11-15", pay_date="2026-11-20")
    page = await maria.look(f"/app/{world.household_id}/payrolls/new?kind=catch-up")
    form = typed_in(page)
    assert (form["start"], form["end"]) == ("2026-10-26", "2026-11-01")
    assert "2 past pay periods have no payroll yet. This is the oldest." in page.text


async def test_the_list_is_by_payday_page_by_page(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    for weeks_ago in (2, 9, 4):
        await world.pay(world.employee_id, weeks_ago=weeks_ago)
    days = owner_connection.execute(
        "SELECT id::text, pay_date FROM payrolls ORDER BY pay_date DESC"
    ).fetchall()
    shown = re.findall(r'href="[^"]*/payrolls/([0-9a-f-]{36})"', (await maria.look(at)).text)
    assert shown == [payroll for payroll, _ in days]
    first, day = days[0]
    rest = await maria.look(f"{at}?cursor={PaydayPlace(day, UUID(first)).encode()}")
    assert re.findall(r'href="[^"]*/payrolls/([0-9a-f-]{36})"', rest.text) == [each for each, _ in days[1:]]
    for wrong in ("x", "AAAA", first.replace("-", "")):
        assert (await maria.look(f"{at}?cursor={wrong}")).status_code == 404
