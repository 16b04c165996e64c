"""This week's payrolls of several households are reviewed on one page, and each is run by itself, once."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from uuid_utils.compat import uuid7

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.dues_records import renew_dues
from hearthpay.people.sessions import SignedIn
from tests.database.damage import without_triggers
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context"]

NAMES = ("Ng", "Zhou", "Cruz")


@pytest.fixture
async def worlds(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    worker_database: Database,
    clock: FixedClock,
    made_once: MadeOnce,
) -> dict[str, World]:
    """Households that paid a week by check; the next payday is in six days."""

    async def pay() -> dict[str, World]:
        found = {}
        for name in NAMES:
            found[name] = await World.make(
                context, owner_connection, people["owner"], last_name=name, first_name="Ana"
            )
            await found[name].pay(hours=32)
        return found

    context = app.state.people_context
    made = await made_once.get("several payrolls", pay)
    clock.advance(timedelta(days=1))
    await made_once.get("several payrolls, dues", lambda: renew_dues(worker_database, clock))
    return {name: replace(world, people_context=context) for name, world in made.items()}


def payrolls(owner: psycopg.Connection) -> list[tuple[str, str, int]]:
    return owner.execute(
        "SELECT e.last_name, p.period_end::text, count(*)::int FROM payrolls p "
        "JOIN employers e ON e.id = p.employer_id "
        "WHERE p.period_end > '2026-11-15' GROUP BY 1, 2 ORDER BY 1"
    ).fetchall()


def selected(worlds: dict[str, World], *names: str) -> dict[str, str]:
    return {"form_id": str(uuid7())} | {f"household_{worlds[name].household_id}": "on" for name in names}


def fields(page: httpx.Response) -> dict[str, str]:
    """The form of the review as a browser would send it."""
    return {
        each.get("name") or "": each.get("value") or ""
        for each in parsed(page).iterfind(".//main//input")
        if each.get("name") != "form_token"
        and (each.get("type") == "hidden" or each.get("checked") is not None)
    }


async def test_the_list_offers_the_payrolls_of_this_week(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock
) -> None:
    page = await (await _browser(app, "owner", clock)).look("/households")
    tree = parsed(page)
    assert tree.findtext(".//h1") == "3 payrolls to run this week"
    boxes = [each.get("name") for each in tree.iterfind(".//td[@class='pick']//input")]
    assert sorted(boxes) == sorted(f"household_{each.household_id}" for each in worlds.values())
    assert page.text.count("Fri, Nov\N{NO-BREAK SPACE}27") == 3


async def test_who_may_not_run_payrolls_gets_no_boxes(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock
) -> None:
    browser = await _browser(app, "viewer", clock)
    assert parsed(await browser.look("/households")).find(".//td[@class='pick']") is None
    assert (await browser.send("/households/payrolls", **selected(worlds, "Ng"))).status_code == 403


async def test_each_selected_payroll_runs_once_with_the_hours_of_the_last_one(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    browser = await _browser(app, "owner", clock)
    form = selected(worlds, "Ng", "Zhou")
    first = await browser.send("/households/payrolls", **form)
    assert (first.status_code, first.headers["location"]) == (303, f"/households/payrolls/{form['form_id']}")
    again = await browser.send("/households/payrolls", **form)
    assert again.headers["location"] == first.headers["location"]
    page = await browser.look(first.headers["location"])
    assert parsed(page).findtext(".//h1") == "Review 2 payrolls"
    assert page.text.count("32 hours") == 2
    assert page.text.count("<b>$") == 3, "the net pay of each and of all"
    answer = fields(page)
    for _ in range(2):
        ran = await browser.send(first.headers["location"], **answer)
        assert ran.status_code == 303
    assert payrolls(owner_connection) == [("Ng", "2026-11-22", 1), ("Zhou", "2026-11-22", 1)]
    result = await browser.look(first.headers["location"])
    assert parsed(result).findtext(".//h1") == "2 payrolls were run"
    assert len(re.findall(r"/app/[0-9a-f-]+/payrolls/[0-9a-f-]{36}\"", result.text)) == 2
    assert result.text.count('/receipt"') == 2
    assert "Save and leave" in page.text
    assert "Save and leave" not in result.text, "nothing is left to save"


async def test_overtime_of_the_last_payroll_is_told_and_not_paid_again(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    with without_triggers(owner_connection):
        owner_connection.execute(
            "UPDATE payroll_entries SET overtime_hours = 4 WHERE employee_id = %s",
            (worlds["Ng"].employee_id,),
        )
    browser = await _browser(app, "owner", clock)
    location = (await browser.send("/households/payrolls", **selected(worlds, "Ng", "Zhou"))).headers[
        "location"
    ]
    page = await browser.look(location)
    assert page.text.count("32 hours") == 2
    assert page.text.count("Last time: 4 overtime hours.") == 1
    assert (await browser.send(location, **fields(page))).status_code == 303
    assert owner_connection.execute(
        "SELECT DISTINCT e.regular_hours, e.overtime_hours FROM payroll_entries e JOIN payrolls p "
        "ON p.id = e.payroll_id WHERE p.period_end > '2026-11-15'"
    ).fetchall() == [(32, 0)]
    assert "overtime hours" not in (await browser.look(location)).text


async def test_one_whose_amounts_changed_is_not_run_and_stops_no_other(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    browser = await _browser(app, "owner", clock)
    location = (await browser.send("/households/payrolls", **selected(worlds, *NAMES))).headers["location"]
    answer = fields(await browser.look(location))
    owner_connection.execute(
        "UPDATE employees SET pay_rate_cents = 4000 WHERE employer_id = %s", (worlds["Ng"].household_id,)
    )
    [(left_out,)] = owner_connection.execute(
        "SELECT id::text FROM payroll_drafts WHERE employer_id = %s", (worlds["Cruz"].household_id,)
    ).fetchall()
    del answer[f"pay_{left_out}"]
    ran = await browser.send(location, **answer)
    assert ran.status_code == 409
    assert ran.text.count("The amounts changed after your review. Nothing was paid.") == 1
    assert payrolls(owner_connection) == [("Zhou", "2026-11-22", 1)]
    page = await browser.look(location)
    assert parsed(page).findtext(".//h1") == "Review 2 payrolls"
    assert (await browser.send(location, **fields(page))).status_code == 303
    assert [count for *_, count in payrolls(owner_connection)] == [1, 1, 1]


async def test_a_period_that_was_paid_meanwhile_is_not_paid_again(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    browser = await _browser(app, "owner", clock)
    form = selected(worlds, "Ng")
    location = (await browser.send("/households/payrolls", **form)).headers["location"]
    await worlds["Ng"].pay(weeks_ago=-1, hours=8)
    page = await browser.look(location)
    assert parsed(page).findtext(".//h1") == "Nothing left to run here"
    assert parsed(page).findtext(".//p[@class='wrong']")
    [draft] = owner_connection.execute("SELECT id FROM payroll_drafts").fetchone() or ()
    refused = await browser.send(location, **{f"pay_{draft}": "on"})
    assert refused.status_code == 409
    assert payrolls(owner_connection) == [("Ng", "2026-11-22", 1)]


async def test_another_organizations_payrolls_are_not_found(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    form = selected(worlds, "Ng")
    location = (await (await _browser(app, "owner", clock)).send("/households/payrolls", **form)).headers[
        "location"
    ]
    other = await _browser(app, "other", clock)
    assert (await other.look(location)).status_code == 404
    assert (await other.send(location)).status_code == 404
    assert (await other.send("/households/payrolls", **form)).status_code == 400
    assert owner_connection.execute("SELECT count(*) FROM payroll_drafts").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("form", "words"),
    [({}, "out of date"), ({"form_id": str(uuid7())}, "Select at least one household")],
)
async def test_a_form_without_a_selection_drafts_nothing(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock, form: dict[str, str], words: str
) -> None:
    answer = await (await _browser(app, "owner", clock)).send("/households/payrolls", **form)
    assert answer.status_code == 400
    assert words in answer.text


async def test_hours_of_a_period_of_another_length_are_not_paid_again(
    app: FastAPI, worlds: dict[str, World], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute(
        "UPDATE employees SET pay_frequency = 'biweekly' WHERE id = %s", (worlds["Ng"].employee_id,)
    )
    browser = await _browser(app, "owner", clock)
    sent = await browser.send("/households/payrolls", **selected(worlds, "Ng"))
    page = await browser.look(sent.headers["location"])
    assert "32 hours" not in page.text
    assert not [name for name in fields(page) if name.startswith("pay_")]
    assert payrolls(owner_connection) == []
