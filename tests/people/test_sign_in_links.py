"""A stranger who keeps failing on an address, and its owner in a browser that nobody knows: a mailed link lets her try.

The link is no password, no second factor and no known browser, and gives nobody more guesses.
"""

from dataclasses import replace
from datetime import timedelta

import psycopg
import pyotp
import pytest

from hearthpay.clock import FixedClock
from hearthpay.people import credentials, sign_in
from hearthpay.people.context import PeopleContext
from hearthpay.people.devices import ADMITTED_FOR, read_device
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_in_links import admit_browser, ask_for_sign_in_link
from hearthpay.people.tokens import LASTS
from hearthpay.security.key_ring import KeyRing
from tests.people.test_accounts import refused
from tests.people.visitors import HERE, MARIA, PASSWORD, VISIT, link_in, mails

NEW = Visit("198.51.100.7", "A browser at a hotel")
_SUBJECT = "Sign in from a new browser"


async def _fail(people_context: PeopleContext, number: int, password: str = "wrong") -> None:
    await refused(
        "authentication_required",
        sign_in.sign_in(people_context, MARIA, password, Visit(f"203.0.113.{number}", "Stranger")),
    )


async def _attack(people_context: PeopleContext) -> None:
    for number in range(8):
        await _fail(people_context, number)
    await refused("rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, NEW))


async def _ask(people_context: PeopleContext, visit: Visit = NEW) -> None:
    await ask_for_sign_in_link(people_context, MARIA, HERE, visit)


def _links(connection: psycopg.Connection, ring: KeyRing) -> list[str]:
    """The links in her mailbox, or about to be sent there."""
    return [
        link_in(each)
        for each in mails(connection, ring)
        if each["subject"] == _SUBJECT and each["to"] == MARIA
    ]


async def _admitted(people_context: PeopleContext, link: str, visit: Visit = NEW) -> Visit:
    return replace(visit, device_cookie=await admit_browser(people_context, link, visit))


async def test_the_owner_gets_in_every_time_while_a_stranger_keeps_failing(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    """Twelve times in a row, each in a browser of its own: 0 of 12 before there was a link."""
    await _attack(people_context)
    for number in range(12):
        clock.advance(timedelta(hours=1))
        for attempt in range(8):
            await _fail(people_context, 10 * number + attempt)
        browser = Visit(f"198.51.100.{number}", "New")
        await refused("rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, browser))
        await _ask(people_context, browser)
        admitted = await _admitted(people_context, _links(owner_connection, ring)[-1], browser)
        entered = await sign_in.sign_in(people_context, MARIA, PASSWORD, admitted)
        assert not entered.needs_second_factor


async def test_the_link_is_no_password_and_no_second_factor(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    clock.advance(timedelta(minutes=1))
    await _ask(people_context)
    reader = await _admitted(people_context, _links(owner_connection, ring)[-1])
    await refused("authentication_required", sign_in.sign_in(people_context, MARIA, "wrong", reader))
    half = await sign_in.sign_in(people_context, MARIA, PASSWORD, reader)
    assert half.needs_second_factor
    await refused(
        "authentication_required",
        sign_in.sign_in_with_code(people_context, half.token.text, "000000", reader),
    )
    await sign_in.sign_in_with_code(people_context, half.token.text, app.at(clock.now()), reader)


async def test_a_thief_of_the_mailbox_gets_no_known_browser_and_no_more_guesses(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    """His links together allow as many attempts as any stranger has; and a sign-in with one is reported."""
    visits = []
    for number in range(3):
        await _ask(people_context)
        link = _links(owner_connection, ring)[-1]
        visits.append(await _admitted(people_context, link, Visit(f"203.0.113.{number}", "Thief")))
    device = read_device(ring, people_context.clock.now(), visits[0].device_cookie)
    assert device is not None
    assert not device.knows(maria.person_id, None)
    for number in range(8):
        await refused(
            "authentication_required", sign_in.sign_in(people_context, MARIA, "wrong", visits[number % 3])
        )
    for visit in visits:
        await refused("rate_limited", sign_in.sign_in(people_context, MARIA, "wrong", visit))
    await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    people_context.clock.advance(timedelta(minutes=3))  # type: ignore[attr-defined]
    await sign_in.sign_in(people_context, MARIA, PASSWORD, visits[0])
    assert mails(owner_connection, ring)[-1]["subject"] == "New sign-in to your account"


async def test_a_stranger_who_asks_for_links_neither_floods_her_nor_keeps_them_from_her(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    """Through a day of requests every ten minutes: about one mail an hour, and always one in it that works."""
    began = clock.now()
    for number in range(24 * 6):
        await _ask(people_context, Visit(f"203.0.113.{number}", "Stranger"))
        sent = owner_connection.execute(
            "SELECT count(*) FROM mail_outbox WHERE kind = 'person.sign_in_link' AND status = 'queued' "
            "AND due_at <= %s AND due_at > %s",
            (clock.now(), clock.now() - LASTS["sign_in"]),
        ).fetchone()
        assert sent is not None
        assert sent[0] > 0, "one that was sent has not expired yet"
        clock.advance(timedelta(minutes=10))
    count = "SELECT count(*) FROM mail_outbox WHERE kind = 'person.sign_in_link' AND status = 'queued'"
    assert owner_connection.execute(count).fetchone() in {(26,), (27,)}
    assert clock.now() - began == timedelta(days=1)
    await refused_by_network(people_context)


async def refused_by_network(people_context: PeopleContext) -> None:
    """One network alone is refused after ten."""
    for _ in range(10):
        await _ask(people_context, Visit("192.0.2.99"))
    await refused("rate_limited", _ask(people_context, Visit("192.0.2.99")))


async def test_a_link_works_once_for_a_while_and_for_its_own_address(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    for _ in range(3):
        await _ask(people_context)
    used, late, moved = _links(owner_connection, ring)
    admitted = await _admitted(people_context, used)
    await refused("gone", admit_browser(people_context, used, NEW))
    await refused("not_found", admit_browser(people_context, "x" * 43, NEW))
    owner_connection.execute("UPDATE people SET email = 'new@example.com'")
    await refused("gone", admit_browser(people_context, moved, NEW))
    owner_connection.execute("UPDATE people SET email = %s", (MARIA,))
    await _attack(people_context)
    await sign_in.sign_in(people_context, MARIA, PASSWORD, admitted)
    clock.advance(ADMITTED_FOR)
    for number in range(8):
        await _fail(people_context, 100 + number)
    await refused("rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, admitted))
    clock.advance(LASTS["sign_in"])
    await refused("gone", admit_browser(people_context, late, NEW))


async def test_nobody_learns_who_has_an_account(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    before = len(mails(owner_connection, ring))
    await ask_for_sign_in_link(people_context, "nobody@example.com", HERE, NEW)
    assert len(mails(owner_connection, ring)) == before
    await refused("validation_error", ask_for_sign_in_link(people_context, "nobody", HERE, NEW))


@pytest.mark.parametrize("known", [True, False])
async def test_a_thief_with_the_password_keeps_her_from_no_code_in_a_browser_of_hers(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
    known: bool,
) -> None:
    """Wrong codes of one who has her password are counted apart from those of a browser that is hers."""
    own = NEW
    if known:
        entered = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
        own = replace(VISIT, device_cookie=entered.device_cookie)
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    clock.advance(timedelta(minutes=1))
    if not known:
        await _ask(people_context)
        own = await _admitted(people_context, _links(owner_connection, ring)[-1])
    thief = Visit("203.0.113.1", "Thief")
    half = await sign_in.sign_in(people_context, MARIA, PASSWORD, thief)
    for _ in range(8):
        await refused(
            "authentication_required",
            sign_in.sign_in_with_code(people_context, half.token.text, "000000", thief),
        )
    await refused(
        "rate_limited",
        sign_in.sign_in_with_code(people_context, half.token.text, app.at(clock.now()), thief),
    )
    hers = await sign_in.sign_in(people_context, MARIA, PASSWORD, own)
    await sign_in.sign_in_with_code(people_context, hers.token.text, app.at(clock.now()), own)
