"""Sessions as browsers have them: new with each sign-in, over at once where they must be, and slow for who guesses."""

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people import members
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn, find_session
from hearthpay.web.visitor import SESSION_COOKIE, VISIT_COOKIE
from tests.people.visitors import PASSWORD
from tests.web.people_browser import Browser
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

HOST = "pay.example.com"


@pytest.mark.parametrize("cookie", [SESSION_COOKIE, VISIT_COOKIE])
async def test_a_planted_cookie_gives_nobody_a_way_in(
    cookie: str, app: FastAPI, people: dict[str, SignedIn], people_context: PeopleContext, clock: FixedClock
) -> None:
    attacker = await _browser(app, "other", clock)
    known = attacker.client.cookies.get(SESSION_COOKIE) if cookie == SESSION_COOKIE else "x" * 43
    assert known is not None
    victim = Browser.of(app)
    victim.client.cookies.set(cookie, known, domain=HOST)
    entered = await victim.sign_in("maria@example.com", PASSWORD)
    assert entered.headers["location"] == "/home"
    own = victim.client.cookies.get(SESSION_COOKIE, domain=HOST, path="/") or ""
    assert known not in entered.headers["set-cookie"]
    assert await find_session(people_context, known) is None, "and what was planted opens nothing any more"
    assert own != known


async def test_who_signs_in_anew_leaves_no_session_behind(
    app: FastAPI, people: dict[str, SignedIn], people_context: PeopleContext, clock: FixedClock
) -> None:
    browser = await _browser(app, "owner", clock)
    former = browser.client.cookies[SESSION_COOKIE]
    entered = await browser.send(
        "/sign-in", page="/settings/profile", email="other@example.com", password=PASSWORD
    )
    assert entered.status_code == 303
    assert await find_session(people_context, former) is None
    found = await find_session(people_context, browser.client.cookies[SESSION_COOKIE])
    assert found is not None
    assert found.email == "other@example.com"


async def test_a_new_password_shuts_every_other_browser(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    here, elsewhere = await _browser(app, "owner", clock), await _browser(app, "owner", clock)
    changed = await here.send(
        "/settings/security/password", page="/settings/profile", password="walnut-lantern-77"
    )
    assert changed.status_code == 200
    assert (await here.look("/settings/profile")).status_code == 200
    assert (await elsewhere.look("/home")).headers["location"] == "/sign-in?next=/home"


async def test_who_was_removed_sees_nothing_more_of_the_organization(
    app: FastAPI, people: dict[str, SignedIn], people_context: PeopleContext, clock: FixedClock
) -> None:
    browser = await _browser(app, "admin", clock)
    assert (await browser.look("/settings/members")).status_code == 200
    actor = people["owner"].actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        there = await members.list_members(session, actor)
        gone = next(each.membership_id for each in there if each.email == "admin@example.com")
        await members.remove_member(session, actor, clock, gone)
    for page in ("/settings/members", "/settings/keys", "/settings/audit"):
        assert (await browser.look(page)).status_code == 404
    assert "Lopez" not in (await browser.look("/home")).text


async def test_an_invitation_opened_by_somebody_else_says_so_and_lets_her_change_over(
    app: FastAPI,
    people: dict[str, SignedIn],
    people_context: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    actor = people["owner"].actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        sent = await members.invite_member(session, actor, clock, "ana@example.com", "admin")
    link = f"/join/{sent.token.text}"
    other = await _browser(app, "other", clock)
    page = await other.look(link)
    assert page.status_code == 403
    assert "You are signed in as other@example.com" in page.text
    assert "ana@example.com" not in page.text
    assert (await other.send(link, page="/settings/profile")).status_code == 410
    assert owner_connection.execute(
        "SELECT status FROM member_invitations WHERE email = 'ana@example.com'"
    ).fetchone() == ("pending",)
    left = await other.send("/sign-out", page="/settings/profile", next=link)
    assert left.headers["location"] == link
    assert "ana@example.com" in (await other.look(link)).text


async def test_who_guesses_is_told_to_wait_on_the_page(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    for email in ("maria@example.com", "nobody@example.com"):
        browser = Browser.of(app)
        for _ in range(8):
            assert (await browser.sign_in(email, "wrong")).status_code == 401
        told = await browser.sign_in(email, PASSWORD)
        assert (told.status_code, told.headers["Retry-After"]) == (429, "120")
        assert "Too many attempts" in told.text
        assert SESSION_COOKIE not in browser.client.cookies
    stale = await _browser(app, "other", clock)
    for _ in range(8):
        wrong = await stale.send("/sign-in/again", page="/sign-in/again", password="wrong")
        assert wrong.status_code == 400
    told = await stale.send("/sign-in/again", page="/sign-in/again", password=PASSWORD)
    assert told.status_code == 429


async def test_what_links_are_asked_for_from_one_place_is_counted(
    app: FastAPI, people: dict[str, SignedIn]
) -> None:
    browser = Browser.of(app)
    for _ in range(8):  # two were asked for to make these people
        assert (await browser.send("/reset", email="nobody@example.com")).status_code == 200
    for path in ("/reset", "/sign-up"):
        told = await browser.send(path, email="nobody@example.com")
        assert told.status_code == 429
        assert int(told.headers["Retry-After"]) > 0
