"""Settings: what a key may do is told in words, and what happened; browsers are called by their names."""

from datetime import timedelta
from decimal import Decimal

import psycopg
from fastapi import FastAPI

from hearthpay.access.permissions import SCOPES
from hearthpay.clock import FixedClock
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.people.sessions import SignedIn
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

NOT_YET = "Your plan does not have this"


async def test_each_scope_is_told_and_whether_the_plan_has_it(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    browser = await _browser(app, "owner", clock)
    for plan, missing in (("professional", 0), ("free", len(SCOPES) - 1)):
        owner_connection.execute("UPDATE organizations SET plan = %s", (plan,))
        page = await browser.look("/settings/keys")
        hints = [
            "".join(each.itertext())
            for each in parsed(page).iter("p")
            if (each.get("id") or "").startswith("scope_")
        ]
        assert len(hints) == len(SCOPES)
        assert sum(NOT_YET in hint for hint in hints) == missing


async def test_history_and_sessions_are_told_in_words(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    browser = await _browser(app, "owner", clock)
    browser.client.headers["User-Agent"] = (
        "Mozilla/5.0 (Windows NT 10.0; rv:136.0) Gecko/20100101 Firefox/136.0"
    )
    await browser.sign_in("maria@example.com", "orchid-tractor-58")
    history = await browser.look("/settings/audit")
    assert "Somebody was invited" in history.text
    assert not any("member.invite" in "".join(each.itertext()) for each in parsed(history).iter())
    sessions = await browser.look("/settings/sessions")
    assert "Firefox, Windows" in sessions.text
    assert "Gecko" not in sessions.text


async def test_the_history_tells_changes_in_sentences_and_leads_to_what_they_are_about(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    change = ChangeEmployee(pay_rate=Decimal("31.25"))
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await update_employee(session, world.actor, clock, world.employee_id, change)
    payroll = await world.pay()
    browser = await _browser(app, "owner", clock)
    page = await browser.look("/settings/audit")
    said = ["".join(each.itertext()) for each in parsed(page).iter("p")]
    assert any(
        each.endswith("changed Rosa Diaz's hourly pay from $28.50 to $31.25") and not each.startswith("A ")
        for each in said
    )
    links = {each.get("href"): each.text for each in parsed(page).iter("a")}
    root = f"/app/{world.household_id}"
    assert links[f"{root}/employees/{world.employee_id}"] == "Rosa Diaz"
    assert links[f"{root}/payrolls/{payroll}"].endswith(" payroll")
    assert links[root] == "Maria Lopez's household"
    for path in (f"{root}/employees/{world.employee_id}", f"{root}/payrolls/{payroll}", root):
        assert (await browser.look(path)).status_code == 200


async def test_an_owner_ends_a_freeze_on_the_page_of_members(
    app: FastAPI,
    people: dict[str, SignedIn],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    until = clock.now() + timedelta(hours=5)
    owner_connection.execute(
        "UPDATE employers SET frozen_until = %s WHERE id = %s", (until, world.household_id)
    )
    words = "no one new gets access to the Lopez household"
    viewer = await _browser(app, "viewer", clock)
    page = await viewer.look("/settings/members")
    assert words in page.text
    assert "End this now" not in page.text
    owner = await _browser(app, "owner", clock)
    assert "End this now" in (await owner.look("/settings/members")).text
    form = {"household": str(world.household_id)}
    clock.advance(timedelta(minutes=11))
    late = await owner.send("/settings/members/unfreeze", page="/settings/members", **form)
    assert late.headers["location"].startswith("/sign-in/again"), "only with a fresh proof"
    frozen = "SELECT count(*) FROM employers WHERE frozen_until IS NOT NULL"
    assert owner_connection.execute(frozen).fetchone() == (1,)
    fresh = await _browser(app, "owner", clock)
    assert (
        await fresh.send("/settings/members/unfreeze", page="/settings/members", **form)
    ).status_code == 303
    assert owner_connection.execute(frozen).fetchone() == (0,)
    assert words not in (await fresh.look("/settings/members")).text


async def test_the_navigation_tells_where_one_is(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    browser = await _browser(app, "owner", clock)
    for path, section, said in (
        ("/settings/profile", "/settings/profile", "page"),
        ("/settings/sessions", "/settings/profile", "true"),
        ("/settings/members/leave", "/settings/members", "true"),
    ):
        navigation = next(each for each in parsed(await browser.look(path)).iter("nav"))
        marked = {e.get("href"): e.get("aria-current") for e in navigation.iter("a") if e.get("aria-current")}
        assert marked == {section: said}
