"""The home page of a household tells what the books hold, and the households stand side by side with what waits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


async def _world(app: FastAPI, connection: psycopg.Connection, people: dict[str, SignedIn]) -> World:
    return await World.make(app.state.people_context, connection, people["owner"])


def heading_of(page: Any) -> str:
    return " ".join("".join(parsed(page).find(".//h1").itertext()).split())


async def test_an_empty_household_says_what_comes_first(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await _world(app, owner_connection, people)
    browser = await _browser(app, "owner", clock)
    page = await browser.look(f"/app/{world.household_id}")
    assert (
        heading_of(page) == "4 things are overdue."
    )  # nobody was paid, but the state wants returns all the same
    assert f"/app/{world.household_id}/payrolls/new" in page.text
    assert "All clear" not in page.text
    assert "Ask Rosa Diaz for a Social Security number" in page.text
    assert "Add your EIN" not in page.text  # nobody was paid yet


async def test_costs_stand_by_month_and_a_void_takes_them_out(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    from hearthpay.payroll.voiding import void_payroll

    world = await _world(app, owner_connection, people)
    await world.pay(weeks_ago=6)
    await world.pay(weeks_ago=1)
    last = await world.pay()
    browser = await _browser(app, "owner", clock)
    page = await browser.look(f"/app/{world.household_id}")
    tree = parsed(page)
    rows = owner_connection.execute(
        "SELECT date_trunc('month', p.pay_date)::date, sum(c.total_cost)::int FROM paychecks c "
        "JOIN payrolls p ON p.id = c.payroll_id GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert len(rows) == 2
    words = " ".join("".join(tree.itertext()).split())
    for _, cost in rows:
        assert f"${cost // 100:,}.{cost % 100:02d}" in words
    # Three pots of each month, and of the check that is to be handed over today.
    assert page.text.count('<rect class="p') == 9
    assert "Add your EIN" in words

    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await void_payroll(session, world.actor, clock, last, "wrong hours")
    words = (await browser.look(f"/app/{world.household_id}")).text
    november = rows[1][1] // 2
    assert f"${november // 100:,}.{november % 100:02d}" in words
    assert f"/payrolls/{last}" not in words


async def test_several_households_stand_side_by_side(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await _world(app, owner_connection, people)
    second = await World.make(
        world.people_context, owner_connection, world.owner, first_name="Ana", last_name="Ng", state="NY"
    )
    browser = await _browser(app, "viewer", clock)
    page = await browser.look("/home")
    assert page.status_code == 200
    for each in (world, second):
        assert f"/app/{each.household_id}" in page.text
    assert page.text.count(">SSN missing<") == 2
    found = await browser.look("/households?q=ny ana")
    assert f"/app/{second.household_id}" in found.text
    assert f"/app/{world.household_id}" not in found.text
    assert "No households match" in (await browser.look("/households?q=zz")).text


async def test_a_payroll_that_is_late_stands_where_the_next_payday_would(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await _world(app, owner_connection, people)
    await world.pay(weeks_ago=1)
    clock.advance(timedelta(days=3))
    browser = await _browser(app, "owner", clock)
    page = await browser.look(f"/app/{world.household_id}")
    assert "Payroll to run: payday was Fri, Nov\N{NO-BREAK SPACE}20" in page.text
    assert "Nothing scheduled" not in page.text


async def test_a_check_that_is_to_be_handed_over_is_the_next_payday_with_its_three_pots(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await _world(app, owner_connection, people)
    ahead = await world.pay(weeks_ago=-1)
    browser = await _browser(app, "owner", clock)
    root = f"/app/{world.household_id}"

    async def pots() -> list[str]:
        tree = parsed(await browser.look(root))
        return [
            "".join(each.itertext())
            for each in tree.iterfind(".//dl[@class='pots']//dd")
            if each.text[0] == "$"
        ]

    [amounts] = owner_connection.execute(
        "SELECT net_pay, gross_pay - net_pay, employer_taxes, gross_pay + employer_taxes FROM payrolls"
    ).fetchall()
    assert await pots() == [f"${cents / 100:,.2f}" for cents in amounts]
    page = await browser.look(root)
    assert f'href="{root}/payrolls/{ahead}"' in page.text
    assert "Next payday, Fri, Nov\N{NO-BREAK SPACE}27" in page.text
    sent = await browser.send(f"{root}/payrolls/{ahead}/hand-over", page="/settings/profile")
    assert sent.status_code == 303, sent.text
    assert await pots() == []
    assert "Next payday, Fri, Dec\N{NO-BREAK SPACE}4" in (await browser.look(root)).text
