"""What strangers ask to be mailed to somebody keeps nothing from them that a member or they themselves ask for."""

from contextlib import suppress
from datetime import timedelta

import psycopg
from fastapi import FastAPI

from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.people import credentials, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.people.test_accounts import refused
from tests.people.visitors import HERE, MARIA, PASSWORD, VISIT, mails
from tests.web.people_browser import Browser
from tests.web.test_pages_by_role import app, people, people_context

__all__ = ["app", "people", "people_context"]

INVITED = "nanny@example.com"


async def _sign_ups(people_context: PeopleContext, clock: FixedClock) -> None:
    """A day of a stranger who signs up with the mailbox as often as he may, at last five times in a row."""
    for number in range(40):
        visit = Visit(f"203.0.113.{number}", "Stranger")
        await sign_up.ask_to_sign_up(people_context, INVITED, "en", HERE, visit)
        if number < 35:
            clock.advance(timedelta(minutes=30))
    deed = sign_up.ask_to_sign_up(people_context, INVITED, "en", HERE, Visit("203.0.113.99", "Stranger"))
    await refused("rate_limited", deed)


def _sent(connection: psycopg.Connection, ring: KeyRing, subject: str) -> int:
    return sum(
        each["to"] == INVITED and each["subject"].startswith(subject) for each in mails(connection, ring)
    )


async def _invite(browser: Browser) -> int:
    sent = await browser.send("/settings/members", page="/settings/members", email=INVITED, role="viewer")
    return sent.status_code


async def test_sign_ups_of_strangers_stop_no_invitation(
    app: FastAPI,
    people: dict[str, SignedIn],
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    await _sign_ups(people_context, clock)
    owner, other = Browser.of(app), Browser.of(app)
    await owner.sign_in(MARIA, PASSWORD)
    await other.sign_in("other@example.com", PASSWORD)
    for _ in range(5):
        assert await _invite(other) == 200
    assert await _invite(other) == 429, "one organization has its own limit"
    assert await _invite(owner) == 200
    failed = "SELECT count(*) FROM mail_outbox WHERE kind = 'person.invitation' AND status = 'failed'"
    assert owner_connection.execute(failed).fetchone() == (0,)
    assert _sent(owner_connection, ring, "You are invited to “Lopez”") == 1


async def test_sign_ups_of_strangers_stop_no_change_of_address(
    people: dict[str, SignedIn],
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    await _sign_ups(people_context, clock)
    await credentials.ask_for_new_email(people_context, people["owner"], INVITED, HERE, VISIT)
    assert _sent(owner_connection, ring, "Confirm your new address") == 1


async def test_a_mailbox_is_sent_so_many_links_of_strangers_and_no_more(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    for number in range(9):
        with suppress(Refusal):
            await sign_up.ask_to_sign_up(people_context, INVITED, "en", HERE, Visit(f"203.0.113.{number}"))
    assert _sent(owner_connection, ring, "Your Hearthpay account") == 5
