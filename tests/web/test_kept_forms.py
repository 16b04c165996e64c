"""A form sent too long after proving who one is: what was typed comes back, no secret, and nothing is done unasked."""

import re
from datetime import timedelta

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.web.pending_form import KEPT_COOKIE
from tests.people.visitors import PASSWORD, Newcomers
from tests.web.people_browser import OWN, Browser
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import app, people_context

__all__ = ["app", "people_context"]

MEMBERS = "/settings/members"
AGAIN = f"/sign-in/again?next={MEMBERS}"


@pytest.fixture
async def maria(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing
) -> SignedIn:
    return await Newcomers(people_context, owner_connection, ring).make("maria@example.com")


@pytest.fixture
async def stale(app: FastAPI, maria: SignedIn, clock: FixedClock) -> Browser:
    """Maria's browser, an hour after she signed in."""
    browser = Browser.of(app)
    await browser.sign_in("maria@example.com", PASSWORD)
    clock.advance(timedelta(hours=1))
    return browser


async def prove(browser: Browser, page: str = MEMBERS, password: str = PASSWORD) -> httpx.Response:
    return await browser.send("/sign-in/again", page="/sign-in/again", password=password, next=page)


async def invite(browser: Browser, **form: str) -> httpx.Response:
    typed = {"email": "ana@example.com", "role": "viewer"} | form
    return await browser.send(MEMBERS, page=MEMBERS, **typed)


def invited(connection: psycopg.Connection) -> list[str]:
    return [email for (email,) in connection.execute("SELECT email FROM member_invitations").fetchall()]


async def test_it_is_shown_again_and_sent_by_a_second_word_alone(
    stale: Browser, owner_connection: psycopg.Connection
) -> None:
    sent = await invite(stale, email="ana@example.com<b>")
    assert (sent.status_code, sent.headers["location"]) == (303, AGAIN)
    wrong = await prove(stale, password="wrong")
    assert wrong.status_code == 400
    shown = await prove(stale)
    assert shown.status_code == 200
    assert invited(owner_connection) == [], "nothing was done yet"
    tree = parsed(shown)
    (form,) = tree.iter("form")
    assert form.get("action") == MEMBERS
    hidden = {each.get("name"): each.get("value") for each in form.iter("input")}
    assert hidden.pop("form_token") == await stale.token(MEMBERS)
    assert hidden == {"email": "ana@example.com<b>", "role": "viewer"}
    assert "ana@example.com<b>" in "".join(tree.itertext()), "she sees what she is about to send"
    again = await stale.client.post(
        MEMBERS, data={**hidden, "form_token": await stale.token(MEMBERS)}, headers=OWN
    )
    assert again.status_code == 400, "it is checked as ever"
    await invite(stale)
    assert invited(owner_connection) == ["ana@example.com"]
    assert (await prove(stale)).headers["location"] == MEMBERS, "it is shown once"


async def test_what_is_secret_is_not_kept(stale: Browser, clock: FixedClock) -> None:
    secret = "walnut-lantern-77"
    form = {"email": "x@example.com", "password": secret, "card_number": secret, "code": secret}
    sent = await stale.send("/settings/profile/email", page="/settings/profile", **form)
    assert sent.headers["location"] == "/sign-in/again?next=/settings/profile"
    shown = await prove(stale, "/settings/profile")
    assert "x@example.com" in shown.text
    assert secret not in shown.text
    assert "What is secret was not kept" in shown.text
    clock.advance(timedelta(hours=1))
    only = await stale.send("/settings/security/password", page="/settings/profile", password=secret)
    assert KEPT_COOKIE not in stale.client.cookies
    assert only.headers["location"] == "/sign-in/again?next=/settings/security"
    assert (await prove(stale, "/settings/security")).headers["location"] == "/settings/security"


async def test_a_question_is_asked_again_where_it_was_answered(stale: Browser) -> None:
    path = "/settings/members/00000000-0000-0000-0000-000000000001/remove"
    sent = await stale.send(path, page=MEMBERS)
    assert sent.headers["location"] == f"/sign-in/again?next={path}"


async def test_it_belongs_to_its_session_its_page_and_its_while(
    stale: Browser,
    app: FastAPI,
    clock: FixedClock,
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    await invite(stale)
    kept = stale.client.cookies[KEPT_COOKIE]
    assert "ana" not in kept
    assert (await prove(stale, "/settings/keys")).headers["location"] == "/settings/keys"

    await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    for email in ("other@example.com", "maria@example.com"):
        elsewhere = Browser.of(app)
        await elsewhere.sign_in(email, PASSWORD)
        elsewhere.client.cookies.set(KEPT_COOKIE, kept, domain="pay.example.com")
        assert (await prove(elsewhere)).headers["location"] == MEMBERS

    changed = kept[:-8] + ("A" if kept[-8] != "A" else "B") + kept[-7:]
    for forged in (changed, kept.rpartition(".")[0], "a.b.c", "", "..", f"{kept}.x", "é"):
        stale.client.cookies.set(
            KEPT_COOKIE, forged.encode("ascii", "replace").decode(), domain="pay.example.com"
        )
        assert (await prove(stale)).headers["location"] == MEMBERS
    clock.advance(timedelta(hours=1))
    stale.client.cookies.set(KEPT_COOKIE, kept, domain="pay.example.com")
    assert (await prove(stale)).headers["location"] == MEMBERS


async def test_what_is_too_long_for_a_browser_to_keep_is_not_kept(stale: Browser) -> None:
    await invite(stale, email="x" * 4_000)
    assert KEPT_COOKIE not in stale.client.cookies
    assert (await prove(stale)).headers["location"] == MEMBERS


async def test_a_page_that_is_merely_looked_at_forgets_it(stale: Browser) -> None:
    sent = await invite(stale)
    cookie = next(each for each in sent.headers.get_list("set-cookie") if each.startswith(KEPT_COOKIE))
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax", "Max-Age=600"} <= set(cookie.split("; "))
    assert re.search(r"Domain", cookie) is None
    await stale.look("/settings/security")
    assert KEPT_COOKIE not in stale.client.cookies
