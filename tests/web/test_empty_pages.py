"""A page that has nothing yet says what will be here, when, and the first step."""

from __future__ import annotations

import psycopg
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.service import create_employer
from hearthpay.people.sessions import SignedIn
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


async def _main(browser: Browser, path: str) -> tuple[str, dict[str, str]]:
    """The words of a page's main part, and where its links lead."""
    [main] = parsed(await browser.look(path)).iter("main")
    words = " ".join("".join(main.itertext()).split())
    return words, {" ".join("".join(a.itertext()).split()): a.get("href") or "" for a in main.iter("a")}


async def test_a_household_without_payrolls_or_employees(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    new = CreateEmployer(first_name="Ann", last_name="Ng", state="CA", email="ann@example.com")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        bare = await create_employer(session, world.actor, clock, new)
    owner = await _browser(app, "owner", clock)
    viewer = await _browser(app, "viewer", clock)

    nobody = f"/app/{bare.id}"
    words, links = await _main(owner, f"{nobody}/payrolls")
    assert "No payrolls yet Add an employee first." in words
    assert links["Add an employee"] == f"{nobody}/employees/new"
    assert "Run payroll" not in links
    words, links = await _main(owner, f"{nobody}/employees")
    assert "No employees yet The people you pay appear here" in words
    assert links["Add an employee"] == f"{nobody}/employees/new"
    words, links = await _main(viewer, f"{nobody}/employees")
    assert "No employees yet" in words
    assert "Add an employee" not in links

    root = f"/app/{world.household_id}"
    words, links = await _main(owner, f"{root}/payrolls")
    assert "No payrolls yet Run payroll to pay Rosa for Nov 9–15. You see every amount" in words
    assert "Did you pay Rosa earlier this year? Record it" in words
    assert links["Run payroll"] == f"{root}/payrolls/new"
    assert links["Record past pay"] == f"{root}/payrolls/new?kind=catch-up"
    for start, said in (
        (
            "2026-11-25",
            "The first pay period of Rosa ends on Sun, Nov 29. Run payroll when the hours are in.",
        ),
        ("2028-01-03", "Rosa starts on Jan 3, 2028. Run payroll after the first pay period."),
    ):
        owner_connection.execute(
            "UPDATE employees SET start_date = %s WHERE employer_id = %s", (start, world.household_id)
        )
        words, _ = await _main(owner, f"{root}/payrolls")
        assert said in words
    owner_connection.execute("UPDATE employees SET start_date = '2026-01-05'")
    words, links = await _main(viewer, f"{root}/payrolls")
    assert "No payrolls yet" in words
    assert "Did you pay" not in words
    assert "Run payroll" not in links
    for page, said in (
        ("taxes", "No taxes for 2026 yet After the first payroll of the year"),
        ("taxes/papers", "No documents for 2026 After the first payroll of the year"),
    ):
        words, links = await _main(owner, f"{root}/{page}")
        assert said in words, page
        assert links["Run payroll"] == f"{root}/payrolls/new", page
        _, links = await _main(owner, f"{root}/{page}?year=2025")
        assert "Run payroll" not in links, page

    await world.pay()
    words, links = await _main(owner, f"{root}/payrolls")
    assert "No payrolls yet" not in words
    assert links["Run payroll"] == f"{root}/payrolls/new"
    words, _ = await _main(owner, f"{root}/payrolls?year=2024")
    assert "No payroll like this" in words
