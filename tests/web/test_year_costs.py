"""The taxes page sets a year's cost beside that of the year before, once both have any."""

from __future__ import annotations

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("language", ["en", "es"])
async def test_two_years_are_a_chart_and_a_table(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    language: str,
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    await world.pay(weeks_ago=4)
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    viewer = await _browser(app, "viewer", clock)
    at = f"/app/{world.household_id}/taxes"
    assert "years-title" not in (await viewer.look(at)).text
    owner_connection.execute("UPDATE employees SET start_date = '2025-01-06'")
    await world.pay(weeks_ago=48)
    page = await viewer.look(at)
    assert page.status_code == 200, page.text
    tree = parsed(page)
    (chart,) = (
        each for each in tree.iter(f"{_SVG}svg") if each.get("aria-labelledby") == "years-title years-desc"
    )
    drawn = [each.get("class") for each in chart.iter(f"{_SVG}rect")]
    assert drawn.count("y1") == drawn.count("y2") == drawn.count("hatch") == 1
    (table,) = (each for each in tree.iter("table") if "2025" in "".join(each.find("thead").itertext()))
    rows = [["".join(cell.itertext()) for cell in row] for row in table.find("tbody")]
    assert len(rows) == 12
    paid = [(row[0], [cell != "$0.00" for cell in row[1:]]) for row in rows if set(row[1:]) != {"$0.00"}]
    assert [(name[:3].lower(), cells) for name, cells in paid] == [
        ("oct", [True, False]),
        ("dec" if language == "en" else "dic", [False, True]),
    ]
