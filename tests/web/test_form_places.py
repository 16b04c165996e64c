"""Two tabs, two organizations: a form is taken only where it was shown, and what is refused says where it belongs."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from hearthpay.web.pending_form import KEPT_COOKIE
from tests.cases import every_case
from tests.people.visitors import PASSWORD
from tests.web.pages_by_role import ROWS
from tests.web.people_browser import OWN, Browser
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import (
    _browser,
    _changeable,
    _rules,
    app,
    people,
    people_context,
    things_made_once,
)
from tests.worlds.snapshots import MadeOnce
from tests.worlds.tables import TABLES

__all__ = ["app", "people", "people_context"]

MEMBERS = "/settings/members"
PLACE = re.compile(r'name="form_token" value="[0-9a-f]{64}\.([^"]*)"')


async def _send(browser: Browser, path: str, token: str, **form: str) -> httpx.Response:
    """Send a form of a tab: with the token that it was shown with."""
    return await browser.client.post(path, data={"form_token": token, **form}, headers=OWN)


def _counts(connection: psycopg.Connection) -> dict[str, int]:
    found = {}
    for table in TABLES:
        (found[table],) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
    return found


async def _move(browser: Browser, where: str) -> None:
    """In another tab, go to a new organization, or to test households of the same."""
    if where == "organization":
        begun = await browser.send("/begin", organization="The Lopez agency")
        assert begun.status_code == 303, begun.text
        return
    page = await browser.look("/settings/profile")
    (place,) = set(PLACE.findall(page.text))
    switched = await browser.send("/settings/where", where=place.partition(".")[0], mode="test")
    assert switched.status_code == 303, switched.text


@pytest.mark.completeness
@pytest.mark.parametrize("where", ["organization", "mode"])
async def test_no_form_of_another_tab_acts_where_its_sender_has_gone(
    where: str,
    app: FastAPI,
    people: dict[str, SignedIn],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    made_once: MadeOnce,
) -> None:
    """Every form of members: an invitation, a key, a payroll, whatever it is."""
    things = await things_made_once(app, owner_connection, people, made_once)
    browser = await _browser(app, "owner", clock)
    token = await browser.token("/settings/profile")
    await _move(browser, where)
    before = _changeable(owner_connection), _counts(owner_connection)
    of_members = {page for page, rule in _rules(app).items() if rule.audience == "member"}
    expected = {
        "organization": "This form belongs to another organization",
        "mode": "This form belongs to real households",
    }
    with every_case() as case:
        for page, row in ROWS.items():
            method, _, path = page.partition(" ")
            if method == "GET" or page not in of_members:
                continue
            form = {name.format(**things): value.format(**things) for name, value in row.form.items()}
            with case(page):
                refused = await _send(browser, path.format(**things), token, **form)
                assert (refused.status_code, "set-cookie" in refused.headers) == (409, False)
                assert parsed(refused).findtext(".//h1") == expected[where]
    assert (_changeable(owner_connection), _counts(owner_connection)) == before


async def test_the_page_says_where_the_form_belongs_and_leads_back(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    browser = await _browser(app, "owner", clock)
    token = await browser.token(MEMBERS)
    invitation = {"email": "ana@example.com", "role": "owner"}
    await _move(browser, "organization")
    refused = await _send(browser, MEMBERS, token, **invitation)
    here = people["owner"].here
    assert here is not None
    assert (
        f"Nothing was saved. The form was for {here.organization}, and you're now in The Lopez agency. "
        "Switch back to send it again."
    ) in "".join(parsed(refused).itertext())
    hidden = {
        each.get("name", ""): each.get("value", "")
        for form in parsed(refused).iter("form")
        if form.get("action") == "/settings/where"
        for each in form.iter("input")
    }
    assert (hidden["where"], hidden["mode"], hidden["next"]) == (str(here.organization_id), "live", MEMBERS)
    back = await browser.client.post("/settings/where", data=hidden, headers=OWN)
    assert (back.status_code, back.headers["location"]) == (303, MEMBERS)
    sent = await _send(browser, MEMBERS, token, **invitation)
    assert sent.status_code == 200, sent.text
    assert owner_connection.execute(
        "SELECT organization_id FROM member_invitations WHERE email = 'ana@example.com'"
    ).fetchall() == [(here.organization_id,)]


async def test_it_is_said_in_spanish_too(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    browser = await _browser(app, "owner", clock)
    await browser.send("/settings/profile", name="Maria", language="es")
    token = await browser.token(MEMBERS)
    await _move(browser, "mode")
    refused = await _send(browser, MEMBERS, token, email="ana@example.com", role="owner")
    text = "".join(parsed(refused).itertext())
    assert "Este formulario es de hogares reales" in text
    assert (
        "No se guardó nada. El formulario era para hogares reales, y ahora usted ve hogares de prueba. "
        "Vuelva a cambiar para enviarlo de nuevo."
    ) in text
    assert "Volver a cambiar" in text


async def test_a_form_of_an_organization_that_was_left_is_of_none_of_ones_own(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    """The viewer leaves: without the place, the tab's form would act in the organization that is left to them."""
    browser = await _browser(app, "viewer", clock)
    token = await browser.token(MEMBERS)
    await browser.send("/begin", organization="Own home")
    assert people["viewer"].here is not None
    await browser.send("/settings/where", where=str(people["viewer"].here.organization_id), mode="live")
    assert (await browser.send(f"{MEMBERS}/leave", page=MEMBERS)).status_code == 303
    refused = await _send(browser, MEMBERS, token, email="ana@example.com", role="owner")
    assert refused.status_code == 409
    assert "an organization that you don't belong to. You're in Own home." in "".join(
        parsed(refused).itertext()
    )
    assert "Switch back" not in refused.text


async def test_what_is_ones_own_is_saved_from_any_tab(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    browser = await _browser(app, "owner", clock)
    token = await browser.token("/settings/profile")
    await _move(browser, "organization")
    saved = await _send(browser, "/settings/profile", token, name="Maria L", language="en")
    assert saved.status_code == 303
    assert (await _send(browser, "/sign-out", token)).status_code == 303


async def test_a_kept_form_is_not_offered_in_another_organization(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    """It was kept to be sent after proving who one is; since then another tab has switched."""
    for switches in (False, True):
        browser = await _browser(app, "owner", clock)
        clock.advance(timedelta(hours=1))
        kept = await browser.send(MEMBERS, page=MEMBERS, email="ana@example.com", role="owner")
        assert kept.headers["location"] == f"/sign-in/again?next={MEMBERS}"
        assert KEPT_COOKIE in browser.client.cookies
        if switches:
            await _move(browser, "organization")
        proved = await browser.send("/sign-in/again", password=PASSWORD, next=MEMBERS)
        assert ("ana@example.com" in proved.text) is not switches
        assert (proved.status_code == 303) is switches


async def test_forms_carry_the_place_in_which_they_are_shown(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    """Of a stranger, none; `test_pages_by_role.py` looks at every form of every page."""
    assert set(PLACE.findall((await Browser.of(app).look("/sign-in")).text)) == {"-"}
    browser = await _browser(app, "owner", clock)
    assert people["owner"].here is not None
    own = people["owner"].here.organization_id
    for mode in ("live", "test"):
        for page in (MEMBERS, "/settings/keys", "/settings/profile"):
            assert set(PLACE.findall((await browser.look(page)).text)) == {f"{own}.{mode}"}
        await _move(browser, "mode")
