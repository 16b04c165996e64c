"""The sign-in page of a browser that has to wait: it offers a link by mail, in English and Spanish."""

from datetime import timedelta

import psycopg
import pyotp
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people import credentials, sign_in
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.web.visitor import DEVICE_COOKIE, SESSION_COOKIE
from tests.people.test_accounts import refused
from tests.people.visitors import MARIA, PASSWORD, VISIT, link_in, mails
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


async def test_the_page_for_codes_offers_the_link_too_and_it_leads_past_the_thief(
    app: FastAPI,
    people: dict[str, SignedIn],
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    """A thief with the password tries codes; the owner's code is right, and her browser is new."""
    totp = pyotp.TOTP((await credentials.set_up_second_factor(people_context, people["owner"])).secret)
    code = totp.at(clock.now())
    await credentials.confirm_second_factor(people_context, people["owner"], code, VISIT)
    clock.advance(timedelta(minutes=1))
    thief, browser = Browser.of(app, "Thief"), Browser.of(app, "A browser at a hotel")
    await thief.sign_in(MARIA, PASSWORD)
    wrong = [await thief.send("/sign-in/second-factor", code="000000") for _ in range(9)]
    assert [each.status_code for each in wrong] == [401] * 8 + [429]
    assert ["Email me a link" in each.text for each in wrong] == [False] * 8 + [True]

    await browser.sign_in(MARIA, PASSWORD)
    waits = await browser.send("/sign-in/second-factor", code=totp.at(clock.now()))
    assert waits.status_code == 429
    await browser.send("/sign-in/link", email=MARIA)
    await browser.send(f"/sign-in/link/{link_in(mails(owner_connection, ring)[-1])}")
    await browser.sign_in(MARIA, PASSWORD)
    entered = await browser.send("/sign-in/second-factor", code=totp.at(clock.now()))
    assert entered.headers["location"] == "/home"
