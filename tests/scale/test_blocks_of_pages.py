"""No page of a household reads more because there are other households."""

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.scale.blocks import Blocks, blocks_of, grown, within
from tests.scale.crowd import add_copies
from tests.web.conftest import made_once, ring
from tests.web.pages_by_role import ROWS
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context, things_of
from tests.worlds.snapshots import snapshots

__all__ = ["app", "made_once", "people", "people_context", "ring", "snapshots"]

FEW, MANY = 20, 1_000
SEARCH = "/app/{household_id}/search"
WEEKS = 10


async def test_no_page_reads_more_where_others_are_many(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    subtests: pytest.Subtests,
) -> None:
    people_context = app.state.people_context
    world = await World.make(people_context, owner_connection, people["owner"])
    things = await things_of(world, people)
    for week in range(WEEKS):
        await world.pay(weeks_ago=week)
    pages = [
        page.partition(" ")[2]
        for page, row in ROWS.items()
        if page.startswith("GET /app/{household_id}") and row.owner == 200
    ]
    pages += [f"{SEARCH}?q={text}" for text in ("rosa", "906", "november")]
    browser = await _browser(app, "owner", clock)
    add_copies(owner_connection, world.household_id, 1, FEW)
    alone: dict[str, Blocks] = {}
    for page in pages:
        await browser.look(page.format(**things))
        with blocks_of(people_context.database) as alone[page]:
            await browser.look(page.format(**things))
    add_copies(owner_connection, world.household_id, FEW + 1, MANY)
    for page in pages:
        with subtests.test(page):
            for _ in range(4):  # each connection plans a function's statements again when it is first called
                with blocks_of(people_context.database) as found:
                    response = await browser.look(page.format(**things))
                if found.total <= within(alone[page]):
                    break
            assert response.status_code == 200, response.text
            assert found.total <= within(alone[page]), grown(alone[page], found)
