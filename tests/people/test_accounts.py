"""Making an account, signing in, second factor, lost passwords, sessions: what works, once, and what never does."""

from asyncio import gather
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from time import monotonic

import psycopg
import pyotp
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.database.vault_rotation import rotate
from hearthpay.people import credentials, sessions, sign_in, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn, find_session
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.people.visitors import (
    HERE,
    MARIA,
    PASSWORD,
    VISIT,
    Newcomers,
    events_of,
    link_in,
    mails,
    signed_in,
)

NEW = NewPerson("Ana Diaz", PASSWORD, "es")
OTHER_PASSWORD = "walnut-lantern-77"


async def refused(code: str, deed: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await deed  # type: ignore[misc]
    assert caught.value.code == code, caught.value.message
    return caught.value


async def test_who_signs_up_owns_an_organization_and_is_signed_in(
    maria: SignedIn, owner_connection: psycopg.Connection
) -> None:
    assert maria.email == MARIA
    assert maria.here is not None
    assert (maria.here.organization, maria.here.role) == ("Lopez", "owner")
    assert events_of(owner_connection, maria.person_id) == ["account.create", "sign_in"]
    actions = owner_connection.execute("SELECT action, actor_kind, actor_id FROM audit_log").fetchall()
    assert actions == [("organization.create", "user", maria.person_id)]


async def test_signing_up_twice_tells_only_the_owner_of_the_address(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    await sign_up.ask_to_sign_up(people_context, MARIA.upper(), "en", HERE, VISIT)
    await sign_up.ask_to_sign_up(people_context, "new@example.com", "en", HERE, VISIT)
    told, invited = mails(owner_connection, ring)[-2:]
    assert told["subject"] == "You have a Hearthpay account"
    assert invited["subject"] == "Your Hearthpay account"


async def test_a_link_works_once_for_what_it_was_made_and_in_time(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    used = link_in(mails(owner_connection, ring)[0])
    await refused("gone", sign_up.finish_sign_up(people_context, used, NEW, "Diaz", VISIT))
    await credentials.ask_for_reset(people_context, MARIA, HERE, VISIT)
    reset = link_in(mails(owner_connection, ring)[-1])
    await refused("not_found", sign_up.finish_sign_up(people_context, reset, NEW, "Diaz", VISIT))
    await sign_up.ask_to_sign_up(people_context, "new@example.com", "en", HERE, VISIT)
    fresh = link_in(mails(owner_connection, ring)[-1])
    await refused("not_found", credentials.reset_password(people_context, fresh, OTHER_PASSWORD, VISIT))
    await refused("not_found", sign_up.finish_sign_up(people_context, "x" * 43, NEW, "Diaz", VISIT))
    clock.advance(timedelta(hours=1))
    await refused("gone", credentials.reset_password(people_context, reset, OTHER_PASSWORD, VISIT))
    await sign_up.finish_sign_up(people_context, fresh, NEW, "", VISIT)
    organizations = owner_connection.execute("SELECT name FROM organizations ORDER BY id").fetchall()
    assert organizations[-1] == ("Ana Diaz",), "without a name, the person's own"


async def test_a_password_opens_and_a_wrong_one_is_told_like_no_account(
    people_context: PeopleContext, maria: SignedIn
) -> None:
    entered = await sign_in.sign_in(people_context, " Maria@Example.com ", PASSWORD, VISIT)
    assert not entered.needs_second_factor
    assert (await signed_in(people_context, entered.token.text)).person_id == maria.person_id
    wrong = await refused("authentication_required", sign_in.sign_in(people_context, MARIA, "wrong", VISIT))
    nobody = await refused(
        "authentication_required", sign_in.sign_in(people_context, "x@example.com", PASSWORD, VISIT)
    )
    no_address = await refused(
        "authentication_required", sign_in.sign_in(people_context, "x", PASSWORD, VISIT)
    )
    assert wrong.message == nobody.message == no_address.message


async def test_who_guesses_is_slowed_down_with_or_without_an_account(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    for email in (MARIA, "nobody@example.com"):
        for _ in range(8):
            await refused("authentication_required", sign_in.sign_in(people_context, email, "wrong", VISIT))
        told = await refused("rate_limited", sign_in.sign_in(people_context, email, PASSWORD, VISIT))
        assert told.details == {"retry_after": 120}
    clock.advance(timedelta(minutes=2))
    await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)


async def test_guesses_at_once_are_not_more_guesses(people_context: PeopleContext, maria: SignedIn) -> None:
    async def guess() -> str:
        with pytest.raises(Refusal) as refusal:
            await sign_in.sign_in(people_context, MARIA, "wrong", VISIT)
        return refusal.value.code

    codes = await gather(*(guess() for _ in range(20)))
    assert codes.count("authentication_required") == 8
    assert codes.count("rate_limited") == 12


async def test_who_signs_in_rightly_is_never_slowed_down(
    people_context: PeopleContext, maria: SignedIn
) -> None:
    for _ in range(45):
        await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)


async def test_many_accounts_tried_from_one_place_slow_that_place_down(people_context: PeopleContext) -> None:
    for number in range(40):
        await refused(
            "authentication_required",
            sign_in.sign_in(people_context, f"p{number}@example.com", "wrong", VISIT),
        )
    await refused("rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT))
    await refused(
        "authentication_required", sign_in.sign_in(people_context, MARIA, PASSWORD, Visit("198.51.100.1"))
    )


async def test_the_second_factor_is_asked_for_and_taken_once(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await refused(
        "validation_error", credentials.confirm_second_factor(people_context, maria, "000000", VISIT)
    )
    codes = await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    assert len(set(codes)) == 10
    secret = owner_connection.execute("SELECT secret FROM credentials WHERE kind = 'totp'").fetchone()
    assert secret is not None
    assert app.secret.encode() not in secret[0]

    needs_second_factor = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    assert needs_second_factor.needs_second_factor
    assert await find_session(people_context, needs_second_factor.token.text) is None
    reused = app.at(clock.now())
    await refused(
        "authentication_required",
        sign_in.sign_in_with_code(people_context, needs_second_factor.token.text, reused, VISIT),
    )
    clock.advance(timedelta(seconds=30))
    whole = await sign_in.sign_in_with_code(
        people_context, needs_second_factor.token.text, app.at(clock.now()), VISIT
    )
    assert (await signed_in(people_context, whole.token.text)).person_id == maria.person_id
    assert whole.token.text != needs_second_factor.token.text
    await refused(
        "gone", sign_in.sign_in_with_code(people_context, needs_second_factor.token.text, codes[0], VISIT)
    )

    again = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    await sign_in.sign_in_with_code(people_context, again.token.text, codes[0].upper(), VISIT)
    once_more = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    await refused(
        "authentication_required",
        sign_in.sign_in_with_code(people_context, once_more.token.text, codes[0], VISIT),
    )
    clock.advance(sessions.PENDING_LASTS)
    await refused("gone", sign_in.sign_in_with_code(people_context, once_more.token.text, codes[1], VISIT))


async def give_both(
    people_context: PeopleContext, app: pyotp.TOTP, clock: FixedClock
) -> sign_in.SignInResult:
    needs_second_factor = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    return await sign_in.sign_in_with_code(
        people_context, needs_second_factor.token.text, app.at(clock.now()), VISIT
    )


async def test_a_young_second_factor_bars_no_reset(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    """Who stole the account sets one up to keep its person out."""
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    clock.advance(credentials.YOUNG_FOR - timedelta(seconds=1))
    await credentials.ask_for_reset(people_context, MARIA, HERE, VISIT)
    entered = await credentials.reset_password(
        people_context, link_in(mails(owner_connection, ring)[-1]), OTHER_PASSWORD, VISIT
    )
    assert not entered.needs_second_factor


async def test_a_reset_ends_every_session_and_keeps_the_second_factor(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    clock.advance(credentials.YOUNG_FOR)
    before = await give_both(people_context, app, clock)
    await credentials.ask_for_reset(people_context, MARIA, HERE, VISIT)
    await credentials.ask_for_reset(people_context, MARIA, HERE, VISIT)
    await credentials.ask_for_reset(people_context, "nobody@example.com", HERE, VISIT)
    first, second = (link_in(mail) for mail in mails(owner_connection, ring)[-2:])
    assert mails(owner_connection, ring)[-1]["to"] == MARIA
    await refused("validation_error", credentials.reset_password(people_context, first, "short", VISIT))
    entered = await credentials.reset_password(people_context, first, OTHER_PASSWORD, VISIT)
    assert entered.needs_second_factor
    assert await find_session(people_context, before.token.text) is None
    await refused("gone", credentials.reset_password(people_context, first, OTHER_PASSWORD, VISIT))
    await refused("gone", credentials.reset_password(people_context, second, OTHER_PASSWORD, VISIT))
    await refused("authentication_required", sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT))
    assert (await sign_in.sign_in(people_context, MARIA, OTHER_PASSWORD, VISIT)).needs_second_factor
    assert mails(owner_connection, ring)[-1]["subject"] == "Your account was changed"


async def test_sessions_are_listed_and_ended_by_their_person_alone(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    other = await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    token = (
        await sign_in.sign_in(people_context, MARIA, PASSWORD, Visit("192.0.2.8", "Telephone"))
    ).token.text
    listed = await sessions.list_sessions(people_context, maria)
    assert {each.device for each in listed} == {"Firefox", "Telephone"}
    for each in listed:
        await refused("not_found", sessions.end_session(people_context, other, each.id, VISIT))
    assert await sessions.end_other_sessions(people_context, maria, VISIT) == 1
    assert await find_session(people_context, token) is None
    await sessions.end_session(people_context, maria, maria.session_id, VISIT)
    assert await sessions.list_sessions(people_context, maria) == []


async def test_a_session_ends_unused_and_in_any_case(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    token = (await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)).token.text
    assert (await signed_in(people_context, token)).is_fresh(clock.now())
    clock.advance(sessions.FRESH)
    assert not (await signed_in(people_context, token)).is_fresh(clock.now())
    for _ in range(5):
        clock.advance(timedelta(days=5, hours=23))
        last = await find_session(people_context, token)
    assert last is not None
    clock.advance(timedelta(hours=6))
    assert await find_session(people_context, token) is None
    unused = (await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)).token.text
    clock.advance(sessions.IDLE)
    assert await find_session(people_context, unused) is None


async def test_proving_again_makes_the_session_fresh(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    token = (await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)).token.text
    clock.advance(timedelta(hours=1))
    stale = await signed_in(people_context, token)
    await refused("validation_error", sign_in.prove_again(people_context, stale, "wrong", "", VISIT))
    assert not (await signed_in(people_context, token)).is_fresh(clock.now())
    await sign_in.prove_again(people_context, stale, PASSWORD, "", VISIT)
    assert (await signed_in(people_context, token)).is_fresh(clock.now())


async def test_a_new_address_counts_once_its_link_is_opened_by_its_person(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    other = await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    await credentials.ask_for_new_email(people_context, maria, "maria@new.example", HERE, VISIT)
    link = link_in(mails(owner_connection, ring)[-1])
    await refused("gone", credentials.confirm_new_email(people_context, other, link, VISIT))
    waiting = len(mails(owner_connection, ring))
    await credentials.ask_for_new_email(people_context, maria, "other@example.com", HERE, VISIT)
    assert len(mails(owner_connection, ring)) == waiting, "nobody's address is taken from him"
    await credentials.confirm_new_email(people_context, maria, link, VISIT)
    assert mails(owner_connection, ring)[-1]["to"] == MARIA
    await sign_in.sign_in(people_context, "maria@new.example", PASSWORD, VISIT)


async def test_a_browser_never_seen_is_told_of(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    waiting = len(mails(owner_connection, ring))
    await sign_in.sign_in(people_context, MARIA, PASSWORD, Visit("203.0.113.9", "Stranger"))
    (news,) = mails(owner_connection, ring)[waiting:]
    assert news["subject"] == "New sign-in to your account"
    assert "ET." in news["text"]


async def test_an_address_is_not_flooded_and_the_last_link_for_a_password_always_leaves(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    for number in range(20):
        await credentials.ask_for_reset(people_context, MARIA, HERE, Visit(f"192.0.2.{number}"))
    rows = owner_connection.execute(
        "SELECT status, count(*) FROM mail_outbox WHERE kind = 'person.reset' GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert rows == [("queued", 6), ("withdrawn", 14)]  # five at once, and the last of the others
    last = link_in(mails(owner_connection, ring)[-1])
    due = "SELECT max(due_at) FROM mail_outbox WHERE kind = 'person.reset' AND status = 'queued'"
    (leaves,) = owner_connection.execute(due).fetchone() or (None,)
    assert leaves is not None
    assert leaves <= clock.now() + timedelta(minutes=10)
    await credentials.look_at_reset(people_context, last)
    for _ in range(10):
        await credentials.ask_for_reset(people_context, "nobody@example.com", HERE, Visit("198.51.100.1"))
    await refused(
        "rate_limited", credentials.ask_for_reset(people_context, MARIA, HERE, Visit("198.51.100.1"))
    )


@pytest.mark.parametrize("email", [MARIA, "nobody@example.com"])
async def test_a_mailbox_is_sent_few_links_to_an_account_from_wherever_they_are_asked_for(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock, email: str
) -> None:
    clock.advance(timedelta(hours=1))  # Maria has asked herself

    async def ask(number: int, mailbox: str = email) -> None:
        await sign_up.ask_to_sign_up(people_context, mailbox, "en", HERE, Visit(f"192.0.2.{number}"))

    for number in range(5):
        await ask(number)
    told = await refused("rate_limited", ask(5, email.upper()))
    assert (told.details, told.headers) == ({"retry_after": 1800}, {"Retry-After": "1800"})
    await ask(6, "else@example.com")
    await credentials.ask_for_reset(
        people_context, email, HERE, Visit("192.0.2.7")
    )  # which no stranger uses up
    clock.advance(timedelta(minutes=30))
    await ask(8)
    await refused("rate_limited", ask(9))


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("short", "at least 10"),
        ("qwertyuiop", "data breach"),
        ("Password123!", "data breach"),
        ("aaaaaaaaaaaa", "repeated or sequential"),
        ("abcdefghijkl", "repeated or sequential"),
        ("Hearthpay2026", "your name"),
        ("x" * 201, "at most 200"),
    ],
)
async def test_passwords_that_are_tried_first_are_refused(
    password: str, why: str, people_context: PeopleContext, maria: SignedIn
) -> None:
    problem = await refused(
        "validation_error", credentials.change_password(people_context, maria, password, VISIT)
    )
    assert why in problem.message
    assert password not in problem.message


async def test_the_time_tells_nothing_about_accounts(people_context: PeopleContext, maria: SignedIn) -> None:
    slow = replace(people_context, no_sooner_than=0.5)

    async def seconds(deed: Awaitable[object]) -> float:
        began = monotonic()
        with suppress(Refusal):
            await deed
        return monotonic() - began

    for email in (MARIA, "nobody@example.com"):
        for deed in (
            sign_in.sign_in(slow, email, "wrong", VISIT),
            credentials.ask_for_reset(slow, email, HERE, VISIT),
            sign_up.ask_to_sign_up(slow, email, "en", HERE, VISIT),
        ):
            assert await seconds(deed) >= 0.5


async def test_a_second_factor_outlives_the_key_that_it_was_encrypted_with(
    people_context: PeopleContext, maria: SignedIn, ring: KeyRing, owner_database: Database, clock: FixedClock
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    both = KeyRing((EncryptionKey.generate(), ring.newest))
    result = await rotate(lambda: owner_database.transaction(None), both, lambda done, total: None)
    assert (result.remaining, result.unreadable) == ({}, ())
    clock.advance(timedelta(minutes=1))
    alone = replace(people_context, ring=KeyRing((both.newest,)))
    needs_second_factor = await sign_in.sign_in(alone, MARIA, PASSWORD, VISIT)
    await sign_in.sign_in_with_code(alone, needs_second_factor.token.text, app.at(clock.now()), VISIT)
