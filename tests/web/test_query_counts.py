"""No page of a household asks the database more for thirty employees and payrolls than for one."""

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.pages_by_role import ROWS
from tests.web.query_count import counted
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context, things_of

__all__ = ["app", "people", "people_context"]

MOST = 40
"""Statements of one page, those that find the visitor and the household included."""

MORE = 29


async def test_no_page_asks_more_for_more_people(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    subtests: pytest.Subtests,
) -> None:
    people_context = app.state.people_context
    world = await World.make(people_context, owner_connection, people["owner"])
    things = await things_of(world, people)
    pages = [
        page.partition(" ")[2]
        for page, row in ROWS.items()
        if page.startswith("GET /app/{household_id}") and row.owner == 200
    ]
    browser = await _browser(app, "owner", clock)
    await world.pay()
    few = {}
    for page in pages:
        with counted(people_context.database) as asked:
            await browser.look(page.format(**things))
        few[page] = len(asked)
    others = [await world.employ(f"P{number}", "Diaz") for number in range(MORE)]
    for number, employee_id in enumerate(others):
        await world.pay(employee_id, weeks_ago=number % 10)
    for page in pages:
        with subtests.test(page):
            with counted(people_context.database) as asked:
                response = await browser.look(page.format(**things))
            assert response.status_code == 200, response.text
            assert len(asked) <= min(few[page], MOST), (few[page], asked)
