"""The link of a warning: it takes back what it tells of without signing in, once, and can begin nothing."""

from dataclasses import replace
from datetime import timedelta

import psycopg
import pyotp
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.clock import FixedClock
from hearthpay.database.session import become_person
from hearthpay.people import credentials, members, passkeys, sessions, sign_in
from hearthpay.people.account_freeze import AccountStopped, freezes_account, stop_account
from hearthpay.people.address_dispute import settle_own
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.freezing import refuse_frozen_person
from hearthpay.people.passkeys import Site
from hearthpay.people.second_factor import second_factor_of
from hearthpay.people.sessions import SignedIn, find_session
from hearthpay.people.stop_links import WORKS_FOR, StopAccount, read_stop
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.alerts.readers import stop_path
from tests.people.test_accounts import refused
from tests.people.visitors import HERE, MARIA, PASSWORD, VISIT, events_of, link_in, mails, signed_in

OTHER_PASSWORD = "walnut-lantern-77"


def _link(people_context: PeopleContext, mail: dict[str, str]) -> tuple[StopAccount, str]:
    token = stop_path(mail["text"]).removeprefix("/stop/")
    stop = read_stop(people_context.keys(), people_context.clock.now(), token)
    assert isinstance(stop, StopAccount)
    return stop, token


async def _stop(people_context: PeopleContext, mail: dict[str, str]) -> AccountStopped:
    return await stop_account(people_context, *_link(people_context, mail), VISIT)


async def _has_factor(people_context: PeopleContext, who: SignedIn) -> bool:
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        return await second_factor_of(session, who.person_id) is not None


async def test_a_strange_sign_in_is_ended_with_everything_it_could_use(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    thief = await sign_in.sign_in(people_context, MARIA, PASSWORD, Visit("203.0.113.9", "Stranger"))
    stopped = await _stop(people_context, mails(owner_connection, ring)[-1])
    assert stopped.sessions == 2
    assert await find_session(people_context, thief.token.text) is None
    await refused("authentication_required", sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT))
    told = mails(owner_connection, ring)[-1]
    assert (told["to"], told["subject"]) == (MARIA, "Your account was secured")
    entered = await credentials.reset_password(people_context, link_in(told), OTHER_PASSWORD, VISIT)
    assert not entered.needs_second_factor
    assert "account.stop" in events_of(owner_connection, maria.person_id)


async def test_a_second_factor_that_a_thief_set_up_is_removed(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    assert (await _stop(people_context, mails(owner_connection, ring)[-1])).taken_back
    assert not await _has_factor(people_context, maria)


async def test_a_second_factor_that_a_thief_removed_counts_again(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    await credentials.do_without_second_factor(people_context, maria, VISIT)
    assert (await _stop(people_context, mails(owner_connection, ring)[-1])).taken_back
    assert await _has_factor(people_context, maria)


async def test_a_stolen_address_comes_back_whatever_came_after_it(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    clock.advance(timedelta(hours=1))
    entered = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    at_home = replace(VISIT, device_cookie=entered.device_cookie)
    clock.advance(timedelta(days=8))
    strange = Visit("203.0.113.9", "Stranger")
    thief = await signed_in(
        people_context, (await sign_in.sign_in(people_context, MARIA, PASSWORD, strange)).token.text
    )
    for address in ("thief@evil.example", "second@evil.example"):
        clock.advance(timedelta(minutes=10))
        await credentials.ask_for_new_email(people_context, thief, address, HERE, strange)
        await credentials.confirm_new_email(
            people_context, thief, link_in(mails(owner_connection, ring)[-1]), strange
        )
        thief = replace(thief, email=address)
    told = [each for each in mails(owner_connection, ring)[-2:] if "/stop/" in each["text"]]
    assert [each["to"] for each in told] == [MARIA], "an address of ten minutes gets no link"
    assert (await _stop(people_context, told[0])).disputed
    await refused("authentication_required", sign_in.sign_in(people_context, thief.email, PASSWORD, strange))
    at_home_again = await sign_in.sign_in(people_context, thief.email, PASSWORD, at_home)
    settled = await settle_own(
        people_context, await signed_in(people_context, at_home_again.token.text), "former", VISIT
    )
    assert settled.address == MARIA
    assert owner_connection.execute("SELECT email, disputed_at FROM people").fetchone() == (MARIA, None)


async def _enter(people_context: PeopleContext, email: str) -> sign_in.SignInResult:
    return await sign_in.sign_in(people_context, email, PASSWORD, VISIT)


async def test_a_link_works_once_for_a_week_and_cannot_be_made(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    await credentials.change_password(people_context, maria, OTHER_PASSWORD, VISIT)
    mail = mails(owner_connection, ring)[-1]
    await _stop(people_context, mail)
    await credentials.reset_password(
        people_context, link_in(mails(owner_connection, ring)[-1]), PASSWORD, VISIT
    )
    await refused("gone", _stop(people_context, mail))
    assert not (await _enter(people_context, MARIA)).needs_second_factor, (
        "used twice, it would have voided the new password"
    )
    token = stop_path(mails(owner_connection, ring)[-1]["text"]).removeprefix("/stop/")
    clock.advance(WORKS_FOR)
    for presented, code in (
        (token, "gone"),
        (token[:-2] + "AA", "not_found"),
        ("x" * 43, "not_found"),
        ("", "not_found"),
    ):
        with pytest.raises(Refusal) as caught:
            read_stop(people_context.keys(), clock.now(), presented)
        assert caught.value.code == code, presented
    with pytest.raises(Refusal):
        read_stop(KeyRing((EncryptionKey.generate(),)), clock.now() - WORKS_FOR, token)


async def test_after_an_alarm_nothing_new_is_let_in_for_a_day(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    await credentials.change_password(people_context, maria, OTHER_PASSWORD, VISIT)
    await _stop(people_context, mails(owner_connection, ring)[-1])
    entered = await credentials.reset_password(
        people_context, link_in(mails(owner_connection, ring)[-1]), PASSWORD, VISIT
    )
    maria = await signed_in(people_context, entered.token.text)
    actor = maria.actor("r")

    async def key() -> None:
        async with people_context.database.transaction(actor.tenant) as session:
            await create_own_key(session, actor, clock, NewKey(("payroll",)))

    async def member() -> None:
        async with people_context.database.transaction(actor.tenant) as session:
            await members.invite_member(session, actor, clock, "ana@example.com", "viewer")

    site = Site("https://pay.example.com")
    deeds = (
        lambda: passkeys.registration_options(people_context, maria, site, "cookie"),
        lambda: passkeys.add_passkey(people_context, maria, site, "cookie", "{}", "Mine", VISIT),
        lambda: credentials.set_up_second_factor(people_context, maria),
        lambda: credentials.confirm_second_factor(people_context, maria, "000000", VISIT),
        lambda: credentials.ask_for_new_email(people_context, maria, "other@example.com", HERE, VISIT),
        key,
        member,
    )
    for deed in deeds:
        frozen = await refused("invalid_state", deed())
        assert isinstance(frozen.details, dict)
        assert frozen.details["frozen_until"] == clock.now() + timedelta(hours=24)
    await sessions.end_other_sessions(people_context, maria, VISIT)  # what ends something goes on
    clock.advance(timedelta(hours=24))
    await key()
    await member()
    await credentials.set_up_second_factor(people_context, maria)


async def test_a_link_of_before_a_report_freezes_nothing_again(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    for number in range(2):
        clock.advance(timedelta(minutes=5))
        await credentials.change_password(people_context, maria, f"{OTHER_PASSWORD}-{number}", VISIT)
    later, earlier = mails(owner_connection, ring)[-1], mails(owner_connection, ring)[-2]
    clock.advance(timedelta(minutes=5))
    await _stop(people_context, later)
    frozen = "SELECT frozen_until > %s FROM organizations"
    assert owner_connection.execute(frozen, (clock.now(),)).fetchone() == (True,)
    clock.advance(timedelta(days=1, minutes=1))
    assert not await freezes_account(people_context, _link(people_context, earlier)[0])
    assert (await _stop(people_context, earlier)).frozen_until is None
    assert owner_connection.execute(frozen, (clock.now(),)).fetchone() == (False,)
    await _not_frozen(people_context, maria)


async def _not_frozen(people_context: PeopleContext, maria: SignedIn) -> None:
    async with people_context.database.transaction(None) as session:
        await become_person(session, maria.person_id)
        await refuse_frozen_person(session, people_context.clock.now(), maria.person_id)
