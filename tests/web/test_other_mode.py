"""A household of one's own that is of the other mode: its address offers to switch, and tells strangers nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.web.people_browser import Browser, typed_in
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

_ELSEWHERE = (
    *("https://evil.example/app", "//evil.example", "/\\evil.example", "javascript:alert(1)"),
    *("evil.example", "/home?next=//evil.example", "/" + "a" * 300),
)


@pytest.fixture
async def real(app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection) -> World:
    return await World.make(app.state.people_context, owner_connection, people["owner"])


@pytest.fixture
async def test_one(app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection) -> World:
    owner = replace(people["owner"], sandbox=True)
    return await World.make(app.state.people_context, owner_connection, owner)


def same_but_for_its_number(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, re.sub(r"<code>.*?</code>", "", response.text)


async def switched(browser: Browser, offer: httpx.Response) -> httpx.Response:
    """Press the button of the page."""
    return await browser.send("/settings/where", **typed_in(offer))


@pytest.mark.parametrize("visitor", ["viewer", "owner"])
async def test_its_own_members_are_led_to_the_page_and_back(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, real: World, test_one: World, visitor: str
) -> None:
    browser = await _browser(app, visitor, clock)
    for household, requested, kind in (
        (test_one, f"/app/{test_one.household_id}/taxes", "test"),
        (real, f"/app/{real.household_id}/employees/{real.employee_id}", "real"),
    ):
        offer = await browser.look(requested)
        assert offer.status_code == 404
        assert "No household has this id." not in offer.text
        tree = parsed(offer)
        assert [each.text for each in tree.iter("h1")] == [f"This is a {kind} household"]
        assert [each.text for each in tree.iter("button")] == [f"Switch to {kind} households"]
        assert tree.find("head/title") is not None
        went = await switched(browser, offer)
        assert (went.status_code, went.headers["location"]) == (303, requested)
        opened = await browser.look(requested)
        assert opened.status_code == 200
        assert f"/app/{household.household_id}" in opened.text
        assert ("Test mode:" in opened.text) is (kind == "test")


async def test_strangers_are_told_what_they_were_told_before(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, real: World, test_one: World
) -> None:
    browser = await _browser(app, "other", clock)
    here = people["other"].here
    assert here is not None
    nothing = f"/app/{uuid4()}"
    for mode in ("live", "test"):
        await browser.send(
            "/settings/where", page="/settings/profile", where=str(here.organization_id), mode=mode
        )
        expected = same_but_for_its_number(await browser.look(nothing))
        assert expected[0] == 404
        assert "No household has this id." in expected[1]
        for world in (real, test_one):
            for page in ("", "/taxes"):
                answered = await browser.look(f"/app/{world.household_id}{page}")
                assert same_but_for_its_number(answered) == expected


async def test_a_form_is_refused_and_changes_nothing(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, test_one: World
) -> None:
    browser = await _browser(app, "owner", clock)
    path = f"/app/{test_one.household_id}/household/delete"
    answered = await browser.send(path, page="/settings/profile")
    assert answered.status_code == 404
    assert "No household has this id." in answered.text


async def test_it_is_offered_only_where_the_plan_has_test_households(
    app: FastAPI,
    people: dict[str, SignedIn],
    clock: FixedClock,
    test_one: World,
    owner_connection: psycopg.Connection,
) -> None:
    browser = await _browser(app, "owner", clock)
    owner_connection.execute("UPDATE organizations SET plan = 'starter', lifted_limits = '{}'")
    answered = await browser.look(f"/app/{test_one.household_id}")
    assert answered.status_code == 404
    assert "No household has this id." in answered.text


@pytest.mark.parametrize("elsewhere", _ELSEWHERE)
async def test_switching_leads_nowhere_else(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, elsewhere: str
) -> None:
    browser = await _browser(app, "owner", clock)
    here = people["owner"].here
    assert here is not None
    went = await browser.send(
        "/settings/where",
        page="/settings/profile",
        where=str(here.organization_id),
        mode="live",
        next=elsewhere,
    )
    assert (went.status_code, went.headers["location"]) == (303, "/home")


async def test_it_is_said_in_spanish(
    app: FastAPI,
    people: dict[str, SignedIn],
    clock: FixedClock,
    test_one: World,
    owner_connection: psycopg.Connection,
) -> None:
    owner_connection.execute("UPDATE people SET language = 'es'")
    browser = await _browser(app, "owner", clock)
    offer = await browser.look(f"/app/{test_one.household_id}")
    assert "Este es un hogar de prueba" in offer.text
    assert "Cambiar a hogares de prueba" in offer.text


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("en", "The clock of this test household is moving forward."), ("es", "está avanzando")],
)
async def test_what_a_moving_clock_refuses_is_said_to_people(
    app: FastAPI,
    people: dict[str, SignedIn],
    clock: FixedClock,
    test_one: World,
    owner_connection: psycopg.Connection,
    language: str,
    sentence: str,
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    owner_connection.execute(
        "INSERT INTO household_clocks (employer_id, organization_id, sandbox, created_at, stands_at, status, "
        "advanced_from, target, requested_at) SELECT id, organization_id, true, now(), '2026-11-20Z', 'advancing', "
        "'2026-11-20Z', '2026-12-20Z', now() FROM employers WHERE id = %s",
        (test_one.household_id,),
    )
    browser = await _browser(app, "owner", clock)
    path = f"/app/{test_one.household_id}/household/empty"
    await switched(browser, await browser.look(path))
    answered = await browser.send(path, page=path)
    assert answered.status_code == 409
    assert sentence in answered.text
    assert "GET /sandbox" not in answered.text
    assert owner_connection.execute("SELECT count(*) FROM employees").fetchone() == (1,)
