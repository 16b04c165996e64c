"""A stranger who fails on somebody's address keeps her out of no browser in which she signed in before."""

from dataclasses import replace
from datetime import timedelta

import psycopg
import pyotp
import pytest

from hearthpay.clock import FixedClock
from hearthpay.people import credentials, sign_in
from hearthpay.people.context import PeopleContext
from hearthpay.people.devices import KEPT_FOR, KnownBrowsers, read_device
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.people.test_accounts import refused
from tests.people.visitors import MARIA, PASSWORD, VISIT, Newcomers, mails, signed_in

OTHER_PASSWORD = "walnut-lantern-77"


async def _known(people_context: PeopleContext) -> Visit:
    """A visit from a browser in which she signed in before."""
    entered = await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    assert entered.device_cookie is not None
    return replace(VISIT, device_cookie=entered.device_cookie)


async def _attack(people_context: PeopleContext, failures: int = 8) -> None:
    """Wrong passwords for her address, each from another network."""
    for number in range(failures):
        visit = Visit(f"203.0.113.{number}", "Stranger")
        await refused("authentication_required", sign_in.sign_in(people_context, MARIA, "wrong", visit))


async def test_a_stranger_keeps_her_out_of_no_browser_of_hers(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    at_home = await _known(people_context)
    await _attack(people_context)
    for _ in range(12):
        await refused(
            "rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, Visit("198.51.100.7", "New"))
        )
        assert not (await sign_in.sign_in(people_context, MARIA, PASSWORD, at_home)).needs_second_factor
        clock.advance(timedelta(minutes=2))
        await refused(
            "authentication_required", sign_in.sign_in(people_context, MARIA, "wrong", Visit("203.0.113.99"))
        )


async def test_a_known_browser_has_its_own_patience(people_context: PeopleContext, maria: SignedIn) -> None:
    at_home = await _known(people_context)
    for _ in range(8):
        await refused("authentication_required", sign_in.sign_in(people_context, MARIA, "wrong", at_home))
    await refused("rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, at_home))
    assert not (
        await sign_in.sign_in(people_context, MARIA, PASSWORD, Visit("198.51.100.7"))
    ).needs_second_factor


async def test_nobody_else_is_known_by_it(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    await Newcomers(people_context, owner_connection, ring).make("thief@evil.example", "Thief")
    entered = await sign_in.sign_in(people_context, "thief@evil.example", PASSWORD, VISIT)
    thiefs = replace(VISIT, address="203.0.113.50", device_cookie=entered.device_cookie)
    await _attack(people_context)
    await refused("rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, thiefs))
    at_home = replace(VISIT, device_cookie=(await _cookie_of_another_ring(people_context, maria, clock)))
    await refused("rate_limited", sign_in.sign_in(people_context, MARIA, PASSWORD, at_home))
    for cookie in ("", "x", "x" * 5_000, "ñ", "AAAA"):
        assert read_device(ring, clock.now(), cookie) is None


async def _cookie_of_another_ring(people_context: PeopleContext, maria: SignedIn, clock: FixedClock) -> str:
    from hearthpay.people.devices import device_cookie

    return device_cookie(KeyRing((EncryptionKey.generate(),)), clock.now(), None, maria.person_id)


async def test_a_browser_is_forgotten_in_time_and_after_an_alarm(
    people_context: PeopleContext, maria: SignedIn, ring: KeyRing, clock: FixedClock
) -> None:
    at_home = await _known(people_context)
    device = read_device(ring, clock.now(), at_home.device_cookie)
    assert device is not None
    now, second = clock.now(), timedelta(seconds=1)
    assert device.knows(maria.person_id, KnownBrowsers())
    assert not device.knows(maria.person_id, KnownBrowsers(since=now + second))
    for since, until, known in ((-1, 1, False), (0, 1, False), (-2, -1, True), (1, 2, True)):
        forgotten = KnownBrowsers(None, now + since * second, now + until * second)
        assert device.knows(maria.person_id, forgotten) == known, (since, until)
    old = read_device(ring, clock.now() + KEPT_FOR, at_home.device_cookie)
    assert old is not None
    assert not old.knows(maria.person_id, KnownBrowsers())


async def test_a_known_browser_is_not_told_of_as_new(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    at_home = await _known(people_context)
    before = len(mails(owner_connection, ring))
    await sign_in.sign_in(people_context, MARIA, PASSWORD, replace(at_home, device="Renamed by an update"))
    assert len(mails(owner_connection, ring)) == before
    await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)
    assert mails(owner_connection, ring)[-1]["subject"] == "New sign-in to your account"


@pytest.mark.parametrize("strangers", [0, 9])
async def test_proofs_in_a_session_are_counted_by_the_session(
    people_context: PeopleContext, maria: SignedIn, strangers: int
) -> None:
    for number in range(strangers):
        deed = sign_in.sign_in(people_context, MARIA, "wrong", Visit(f"203.0.113.{number}"))
        await refused("authentication_required" if number < 8 else "rate_limited", deed)
    await sign_in.prove_again(people_context, maria, PASSWORD, "", VISIT)
    other = (
        await signed_in(people_context, (await _session_beside(people_context)).token.text)
        if not strangers
        else maria
    )
    for _ in range(8):
        await refused("validation_error", sign_in.prove_again(people_context, other, "wrong", "", VISIT))
    await refused("rate_limited", sign_in.prove_again(people_context, other, PASSWORD, "", VISIT))
    if other is not maria:
        await sign_in.prove_again(people_context, maria, PASSWORD, "", VISIT)


async def _session_beside(people_context: PeopleContext) -> sign_in.SignInResult:
    return await sign_in.sign_in(people_context, MARIA, PASSWORD, VISIT)


async def test_a_proof_asks_for_the_second_factor_where_one_is_set(
    people_context: PeopleContext, maria: SignedIn, clock: FixedClock
) -> None:
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    clock.advance(timedelta(minutes=1))
    wrong = await refused("validation_error", sign_in.prove_again(people_context, maria, PASSWORD, "", VISIT))
    assert [each.field for each in wrong.details] == ["code"]
    await sign_in.prove_again(people_context, maria, PASSWORD, app.at(clock.now()), VISIT)
