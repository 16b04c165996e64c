"""A family makes its first household on the pages, on any plan that pays somebody; several are for larger plans."""

from __future__ import annotations

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.rows.setting_up import NEW_HOUSEHOLD
from tests.web.test_pages_by_role import _browser, app, desk, people

__all__ = ["app", "desk", "people"]


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
