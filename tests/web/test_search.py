"""The search finds a household's own employees and payrolls, its pages and help, and nothing of anybody else."""

from __future__ import annotations

from datetime import date

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from hearthpay.web.search.pages import HOUSEHOLD_PAGES, find_pages
from hearthpay.web.search.reading import cents_in, days_in
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-11-27", (date(2026, 11, 27), date(2026, 11, 27))),
        ("11/27/2025", (date(2025, 11, 27), date(2025, 11, 27))),
        ("11/27", (date(2026, 11, 27), date(2026, 11, 27))),
        ("Nov 27", (date(2026, 11, 27), date(2026, 11, 27))),
        ("nov 27, 2024", (date(2024, 11, 27), date(2024, 11, 27))),
        ("27 de noviembre", (date(2026, 11, 27), date(2026, 11, 27))),
        ("27 noviembre de 2025", (date(2025, 11, 27), date(2025, 11, 27))),
        ("January 8", (date(2027, 1, 8), date(2027, 1, 8))),
        ("June", (date(2026, 6, 1), date(2026, 6, 30))),
        ("febrero 2028", (date(2028, 2, 1), date(2028, 2, 29))),
        ("2026", (date(2026, 1, 1), date(2026, 12, 31))),
        ("13/45", None),
        ("Rosa", None),
        ("March Rosa", None),
        ("2026-02-30", None),
        ("", None),
    ],
)
def test_a_day_a_month_or_a_year_is_read_in_either_language(
    text: str, days: tuple[date, date] | None
) -> None:
    assert days_in(text, TODAY) == days


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("$969.44", (96944, 96944)),
        ("969.44", (96944, 96944)),
        ("969", (96900, 96999)),
        ("$1,227.21", (122721, 122721)),
        ("1,22", None),
        ("969.4", None),
        ("Rosa", None),
        ("-5", None),
    ],
)
def test_an_amount_is_read(text: str, cents: tuple[int, int] | None) -> None:
    assert cents_in(text) == cents


def test_pages_are_found_in_either_language_and_only_by_who_may_open_them() -> None:
    def allowed(permission: object) -> bool:
        return permission is not None

    found = [each.address for each in find_pages("calendario", HOUSEHOLD_PAGES, allowed)]
    assert found == ["/calendar", "/calendar/link"]
    assert "/payrolls/new" in [each.address for each in find_pages("run", HOUSEHOLD_PAGES, allowed)]
    assert find_pages("run", HOUSEHOLD_PAGES, lambda _: False) == []
    assert find_pages("", HOUSEHOLD_PAGES, allowed) == []


async def test_employees_and_payrolls_are_found_by_name_day_and_amount(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    other = await world.employ("José", "Muñoz-Rivera")
    paid = await world.pay(weeks_ago=2)
    both = await world.pay(world.employee_id, other, weeks_ago=1)
    browser = await _browser(app, "owner", clock)
    at = f"/app/{world.household_id}"

    async def found(text: str) -> str:
        answer = await browser.client.get(f"{at}/search", params={"q": text})
        assert answer.status_code == 200
        return answer.text.partition("<main")[2]

    assert f"{at}/employees/{other}" in await found("jose munoz")
    assert f"{at}/payrolls/{both}" in await found("JOSÉ")
    assert f"{at}/payrolls/{paid}" not in await found("JOSÉ")
    assert f"{at}/employees/{world.employee_id}" not in await found("jose")
    [(day, net)] = owner_connection.execute(
        "SELECT pay_date, net_pay FROM payrolls WHERE id = %s", (paid,)
    ).fetchall()
    assert f"{at}/payrolls/{paid}" in await found(day.isoformat())
    assert f"{at}/payrolls/{paid}" in await found(f"${net // 100:,}.{net % 100:02d}")
    assert "Nothing matches" in await found("zeppelin")
    assert f"{at}/taxes/papers" in await found("W-2")
    assert "/help/year-end-forms" in await found("W-2")
    assert "/help/terms/net-pay" in await found("net pay")
    assert "<script" not in await found("<script>alert(1)</script>")


async def test_a_search_finds_nothing_of_another_household(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    """Neither of the same organization nor of another one."""
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    beside = await World.make(
        app.state.people_context, owner_connection, people["owner"], first_name="Ann", last_name="Ng"
    )
    foreign = await World.make(app.state.people_context, owner_connection, people["other"])
    for each in (world, beside, foreign):
        await each.pay(weeks_ago=1)
    browser = await _browser(app, "owner", clock)
    for text in ("rosa", "906", "2026", "November"):
        page = (await browser.look(f"/app/{world.household_id}/search?q={text}")).text
        for each in (beside, foreign):
            assert str(each.employee_id) not in page
            assert str(each.household_id) not in page
        if text != "906":
            assert str(world.household_id) in page.partition("<main")[2], text
    assert (await browser.look(f"/app/{foreign.household_id}/search?q=rosa")).status_code == 404
    several = (await browser.look("/search?q=ann")).text
    assert f"/app/{beside.household_id}" in several
    assert str(foreign.household_id) not in (await browser.look("/search?q=rosa")).text


async def test_with_one_household_the_search_is_its_own(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    browser = await _browser(app, "owner", clock)
    answer = await browser.look("/search?q=rosa+diaz")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/app/{world.household_id}/search?q=rosa+diaz"
