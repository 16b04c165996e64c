"""The sign-in page of a browser that has to wait: it offers a link by mail, in English and Spanish."""

import psycopg
from fastapi import FastAPI

from hearthpay.people import sign_in
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.web.visitor import DEVICE_COOKIE, SESSION_COOKIE
from tests.people.test_accounts import refused
from tests.people.visitors import MARIA, PASSWORD, link_in, mails
from tests.web.people_browser import Browser
from tests.web.test_pages_by_role import app, people, people_context

__all__ = ["app", "people", "people_context"]


async def test_a_browser_that_has_to_wait_gets_in_by_a_mailed_link(
    app: FastAPI,
    people: dict[str, SignedIn],
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    for number in range(8):
        stranger = Visit(f"203.0.113.{number}", "Stranger")
        await refused("authentication_required", sign_in.sign_in(people_context, MARIA, "wrong", stranger))

    browser = Browser.of(app, "A browser at a hotel")
    waits = await browser.sign_in(MARIA, PASSWORD)
    assert waits.status_code == 429
    assert "Email me a link" in waits.text
    sent = await browser.send("/sign-in/link", email=MARIA)
    assert sent.status_code == 200
    mail = mails(owner_connection, ring)[-1]
    assert (mail["to"], mail["subject"]) == (MARIA, "Sign in from a new browser")

    path = f"/sign-in/link/{link_in(mail)}"
    for _ in range(2):
        assert "Continue to sign in" in (await browser.look(path)).text, (
            "a program that looks uses nothing up"
        )
    assert browser.client.cookies.get(DEVICE_COOKIE) is None
    opened = await browser.send(path)
    assert opened.headers["location"] == "/sign-in"
    assert browser.client.cookies.get(SESSION_COOKIE) is None, "the link signs nobody in"
    assert (await browser.sign_in(MARIA, "wrong")).status_code == 401
    assert (await browser.sign_in(MARIA, PASSWORD)).headers["location"] == "/home"
    assert (await Browser.of(app).look(path)).status_code == 410


async def test_the_link_is_offered_in_spanish_and_never_without_an_address(
    app: FastAPI, people_context: PeopleContext
) -> None:
    browser = Browser.of(app)
    browser.client.headers["Accept-Language"] = "es"
    for _ in range(8):
        assert "Enviarme un enlace" not in (await browser.sign_in("nobody@example.com", "wrong")).text
    assert "Enviarme un enlace" in (await browser.sign_in("nobody@example.com", "wrong")).text
    for _ in range(8):
        await browser.sign_in("", "wrong")
    waits = await browser.sign_in("", "wrong")
    assert waits.status_code == 429
    assert "Enviarme un enlace" not in waits.text
    wrong = await browser.send("/sign-in/link", email="nobody")
    assert wrong.status_code == 400
