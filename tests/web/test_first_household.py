"""A family makes its first household on the pages, on any plan that pays somebody; several are for larger plans."""

from __future__ import annotations

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.rows.setting_up import NEW_HOUSEHOLD
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


@pytest.mark.parametrize("visitor", ["owner", "admin"])
async def test_the_one_household_of_a_small_plan_is_made_on_the_pages(
    visitor: str,
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    owner_connection.execute("UPDATE organizations SET plan = 'starter'")
    browser = await _browser(app, visitor, clock)
    assert (await browser.look("/home")).headers["location"] == "/app/start"
    made = await browser.send("/app/start", page="/app/start", **NEW_HOUSEHOLD)
    assert made.status_code == 303, made.text
    household = made.headers["location"].split("/")[2]
    assert (await browser.look("/home")).headers["location"] == f"/app/{household}"

    # A second one is one too many: it is not offered, and refused with what was typed still there.
    assert "/app/start" not in (await browser.look("/households")).text
    second = await browser.send("/app/start", page="/app/start", **NEW_HOUSEHOLD)
    assert second.status_code == 400
    assert "allows 1 household" in second.text
    assert NEW_HOUSEHOLD["address_line1"] in second.text
    found = owner_connection.execute(
        "SELECT e.id::text, e.is_primary, a.actor_kind FROM employers e JOIN audit_log a ON a.subject_id = e.id"
    ).fetchall()
    assert found == [(household, True, "user")]


async def test_a_plan_that_pays_nobody_makes_none(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    owner_connection.execute("UPDATE organizations SET plan = 'free'")
    browser = await _browser(app, "owner", clock)
    assert (await browser.look("/home")).status_code == 200
    assert (await browser.look("/app/start")).status_code == 403


async def test_a_test_household_is_emptied_and_deleted_and_a_real_one_never(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    owner = await _browser(app, "owner", clock)

    def left() -> tuple[int, int]:
        found = owner_connection.execute(
            "SELECT (SELECT count(*) FROM employers WHERE sandbox), (SELECT count(*) FROM employees WHERE sandbox)"
        ).fetchone()
        assert found is not None
        return found

    organization = str(people["owner"].memberships[0].organization_id)
    await owner.send("/settings/where", page="/settings/profile", where=organization, mode="test")
    made = await owner.send("/app/start", page="/app/start", **NEW_HOUSEHOLD)
    here = "/".join(made.headers["location"].split("/")[:3])
    rosa = {"first_name": "Rosa", "last_name": "Diaz", "start_date": "2026-01-05", "pay_frequency": "weekly"}
    added = await owner.send(f"{here}/employees/new", page=f"{here}/employees/new", **rosa)
    assert added.status_code == 303, added.text
    assert left() == (1, 1)
    assert f"{here}/household/empty" in (await owner.look(f"{here}/household")).text
    emptied = await owner.send(f"{here}/household/empty", page=f"{here}/household/empty")
    assert (emptied.status_code, emptied.headers["location"]) == (303, here)
    assert left() == (1, 0)
    gone = await owner.send(f"{here}/household/delete", page=f"{here}/household/delete")
    assert (gone.status_code, gone.headers["location"]) == (303, "/households")
    assert left() == (0, 0)
    assert (await owner.look(here)).status_code == 404
