"""A list of one mode says what the other mode has: no page of real households looks empty while test ones have some.

Every page that can be viewed stands in one of the groups below; a new one fails until it says what it lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from uuid import uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from hearthpay.web.mode_switch import MOST_COUNTED, counted
from tests.database.household import add_agent
from tests.web.people_browser import OWN
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import (
    _browser,
    _rules,
    add_employees_things,
    app,
    people,
    people_context,
)
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context"]

_THINGS: Final = {
    "en": {"test": "1 more in test households", "live": "1 more in real households"},
    "es": {"test": "1 más en hogares de prueba", "live": "1 más en hogares reales"},
}
_HOUSEHOLDS: Final = {
    "en": {"test": "2 test households", "live": "2 real households"},
    "es": {"test": "2 hogares de prueba", "live": "2 hogares reales"},
}
_HISTORY: Final = {
    "en": {
        "test": "Activity in test households is listed separately.",
        "live": "Activity in real households is listed separately.",
    },
    "es": {
        "test": "La actividad de los hogares de prueba aparece por separado.",
        "live": "La actividad de los hogares reales aparece por separado.",
    },
}
_BUTTONS: Final = {
    "en": {"test": "Switch to test households", "live": "Switch to real households"},
    "es": {"test": "Cambiar a hogares de prueba", "live": "Cambiar a hogares reales"},
}

Lines = Mapping[str, Mapping[str, str]]

OF_ONE_MODE: Final[Mapping[str, tuple[str, Lines, int]]] = {
    "/settings/keys": ("/settings/keys", _THINGS, 1),
    "/settings/agents": ("/settings/agents", _THINGS, 1),
    "/settings/employees": ("/settings/employees", _THINGS, 2),
    "/settings/audit": ("/settings/audit", _HISTORY, 1),
    "/households": ("/households", _HOUSEHOLDS, 1),
    "/search": ("/search?q=lopez", _THINGS, 1),
}
"""Pages that list one mode: by path, the address to look at, and how often which line is said there."""

LEADS_ON: Final = frozenset(
    {
        "/home",
        "/app",
        *(f"/app/{part}" for part in ("payrolls", "employees", "autopilot", "taxes", "calendar", "bank")),
        "/app/state-accounts",
    }
)
"""These lead to the only household, to the first question, or show `/households`."""

OF_BOTH_MODES: Final = frozenset(
    {
        "/settings/members",
        "/settings/members/{membership_id}/remove",
        "/settings/plan",
        "/settings/secure",
        "/connect/{token}",
        "/my",
    }
)
"""Pages that list both modes, or what belongs to neither."""

OF_ONE_THING: Final = frozenset({"/settings/agents/{grant_id}", "/settings/keys/{key_id}/revoke"})
OF_THE_PERSON: Final = frozenset(
    {
        "/app/start",  # asks one question; without a household of the mode it has the line, too
        "/households/payrolls/{form_id}",
        "/settings/address",
        "/settings/profile",
        "/settings/security",
        "/settings/security/second-factor/remove",
        "/settings/passkeys",
        "/settings/passkeys/{passkey_id}/remove",
        "/settings/sessions",
        "/settings/notifications",
        "/settings/members/leave",
        "/sign-in/again",
        "/new-email/{token}",
        "/begin",
        "/more",
    }
)
"""Pages about one's own account, one's own form, or that list nothing of households."""

OF_THE_INSTALLATION: Final = ("/operator",)
"""Pages for operators begin so: they are about real money and mail, of all organizations."""

OF_ONE_HOUSEHOLD: Final = ("/app/{household_id}", "/my/{employee_id}")
"""Pages of one household or one record begin so: each is of one mode, which its frame says."""


@pytest.mark.completeness
def test_every_page_says_of_which_mode_its_lists_are(app: FastAPI) -> None:
    asked = OF_ONE_MODE.keys() | LEADS_ON | OF_BOTH_MODES | OF_ONE_THING | OF_THE_PERSON
    viewed = {
        page.removeprefix("GET ")
        for page, rule in _rules(app).items()
        if page.startswith("GET ") and rule.audience != "anyone"
    }
    rest = {path for path in viewed if not path.startswith((*OF_ONE_HOUSEHOLD, *OF_THE_INSTALLATION))}
    assert sorted(rest) == sorted(asked), "add a new page to its group in tests/web/test_lists_of_modes.py"


@pytest.fixture
async def both(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    made_once: MadeOnce,
) -> None:
    """Two households of each mode; one has an employee with an account and a request, an app, and a key."""
    await made_once.get("both modes", lambda: _made(app, owner_connection, people))


async def _made(app: FastAPI, connection: psycopg.Connection, people: dict[str, SignedIn]) -> None:
    for sandbox, mode in ((False, "live"), (True, "test")):
        owner = replace(people["owner"], sandbox=sandbox)
        await World.make(app.state.people_context, connection, owner, first_name="Ann", last_name="Ng")
        world = await World.make(app.state.people_context, connection, owner)
        household = {
            "organization_id": world.actor.organization_id,
            "employer_id": world.household_id,
            "sandbox": sandbox,
        }
        add_agent(connection, household, world.owner.person_id)
        add_employees_things(connection, world.employee_id, people["viewer"].person_id)
        key = uuid4()
        connection.execute(
            "INSERT INTO api_keys (id, organization_id, mode, scopes, key_hash, last_four) "
            "VALUES (%s, %s, %s, '{payroll}', %s, 'abcd')",
            (key, world.actor.organization_id, mode, key.bytes * 2),
        )


def _words(response: httpx.Response) -> str:
    [main] = parsed(response).iter("main")
    return " ".join("".join(main.itertext()).split())


def _switches(page: httpx.Response) -> list[dict[str, str]]:
    """What the page's forms send that switch from a list to the other mode."""
    return [
        {each.get("name", ""): each.get("value", "") for each in form.iter("input")}
        for form in parsed(page).iter("form")
        if form.get("action") == "/settings/where" and form.get("class") == "acts"
    ]


@pytest.mark.parametrize(("visitor", "language"), [("owner", "en"), ("viewer", "es")])
@pytest.mark.usefixtures("both")
async def test_a_list_of_one_mode_names_what_the_other_has_and_leads_there(
    app: FastAPI, clock: FixedClock, owner_connection: psycopg.Connection, visitor: str, language: str
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    browser = await _browser(app, visitor, clock)
    for here, other in (("live", "test"), ("test", "live")):
        for path, (address, lines, times) in OF_ONE_MODE.items():
            page = await browser.look(address)
            words = _words(page)
            assert words.count(lines[language][other]) == times, (address, here, words)
            assert lines[language][here] not in words, (address, here)
            assert words.count(_BUTTONS[language][other]) == times
            assert [each["next"] for each in _switches(page)] == [path] * times
        switch = _switches(await browser.look("/settings/agents"))[0]
        went = await browser.client.post("/settings/where", data=switch, headers=OWN)
        assert (went.status_code, went.headers["location"]) == (303, "/settings/agents")


@pytest.mark.usefixtures("people")
async def test_nothing_is_said_of_a_mode_that_has_nothing(app: FastAPI, clock: FixedClock) -> None:
    browser = await _browser(app, "owner", clock)
    for address, _, _ in OF_ONE_MODE.values():
        assert _switches(await browser.look(address)) == []


@pytest.mark.usefixtures("both")
async def test_nothing_is_said_of_test_households_without_a_plan_that_has_them(
    app: FastAPI, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("UPDATE organizations SET plan = 'starter', lifted_limits = '{}'")
    browser = await _browser(app, "owner", clock)
    for address, _, _ in OF_ONE_MODE.values():
        assert _switches(await browser.look(address)) == []


@pytest.mark.usefixtures("both")
async def test_another_organization_is_told_nothing(app: FastAPI, clock: FixedClock) -> None:
    browser = await _browser(app, "other", clock)
    for address, _, _ in OF_ONE_MODE.values():
        assert _switches(await browser.look(address)) == []


async def test_the_first_question_leads_to_the_households_of_the_other_mode(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    owner = replace(people["owner"], sandbox=True)
    test_one = await World.make(app.state.people_context, owner_connection, owner)
    browser = await _browser(app, "owner", clock)
    question = await browser.look("/app/start")
    assert "1 test household" in _words(question)
    [switch] = _switches(question)
    went = await browser.client.post("/settings/where", data=switch, headers=OWN)
    assert (went.status_code, went.headers["location"]) == (303, "/home")
    home = await browser.look("/home")
    assert home.headers["location"] == f"/app/{test_one.household_id}"


def test_a_count_at_its_limit_says_that_there_may_be_more() -> None:
    assert [counted(number) for number in (2, MOST_COUNTED - 1, MOST_COUNTED)] == ["2", "99", "100+"]
