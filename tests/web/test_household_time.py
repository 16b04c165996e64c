"""Times on a household's pages are those of its own clocks: by its state, or by its choice."""

from __future__ import annotations

import datetime
from datetime import UTC, date

import psycopg

from hearthpay.clock import FixedClock
from tests.web.one_household import maria, world
from tests.web.people_browser import Browser, typed_in
from tests.web.rows.world import World
from tests.web.test_pages_by_role import app, people, people_context
from tests.web.test_payroll_pages import _draft

__all__ = ["app", "maria", "people", "people_context", "world"]


async def change_household(maria: Browser, page: str, **changes: str) -> None:
    form = typed_in(await maria.look(page)) | changes
    saved = await maria.send(page, page=page, **form)
    assert saved.status_code == 303, saved.text


def chosen(owner_connection: psycopg.Connection) -> list[str | None]:
    return [zone for (zone,) in owner_connection.execute("SELECT time_zone FROM employers ORDER BY id")]


async def test_times_follow_the_state_until_a_zone_is_chosen(
    maria: Browser, world: World, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    home, payrolls = f"/app/{world.household_id}", f"/app/{world.household_id}/payrolls"
    await _draft(maria, payrolls, world.employee_id)
    at = clock.now().astimezone(UTC)
    pacific, mountain = ((at - datetime.timedelta(hours=hours)).strftime("%-I:%M %p") for hours in (8, 7))
    assert f"{pacific} PT" in (await maria.look(payrolls)).text
    await change_household(maria, f"{home}/household", state="UT")
    assert f"{mountain} MT" in (await maria.look(payrolls)).text
    assert set(chosen(owner_connection)) == {None}
    await change_household(maria, f"{home}/household", time_zone="America/Phoenix")
    assert f"{mountain} MST" in (await maria.look(payrolls)).text
    assert "America/Phoenix" in chosen(owner_connection)
    await change_household(maria, f"{home}/household", time_zone="America/Denver")
    assert set(chosen(owner_connection)) == {None}
    wrong = await maria.send(
        f"{home}/household",
        page=f"{home}/household",
        **typed_in(await maria.look(f"{home}/household")) | {"time_zone": "Europe/Paris"},
    )
    assert wrong.status_code == 400


async def test_the_history_has_the_time_that_all_households_share(maria: Browser, world: World) -> None:
    assert " PT</p>" in (await maria.look("/settings/audit")).text


async def test_the_evening_in_the_west_belongs_to_its_own_day(
    maria: Browser, world: World, clock: FixedClock
) -> None:
    """After nine in the evening in California it is tomorrow in the east; a new payroll is dated today."""
    evening = datetime.datetime.combine(clock.today() + datetime.timedelta(days=1), datetime.time(5), UTC)
    clock.advance(evening - clock.now())
    assert clock.today() == evening.date()
    form = typed_in(await maria.look(f"/app/{world.household_id}/payrolls/new"))
    assert date.fromisoformat(form["pay_date"]) == evening.date() - datetime.timedelta(days=1)
