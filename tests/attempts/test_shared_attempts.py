"""Whoever guesses gets no more tries from two hosts than from one, and locks nobody out of either."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import psycopg
import pyotp
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.http.attempts import BURST
from hearthpay.people import credentials, sign_in
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.people.throttle import OF_ACCOUNT, OF_ADDRESS
from hearthpay.security.api_keys import generate
from tests.attempts.conftest import Hosts
from tests.http.api import Account, data, refusal
from tests.people.test_accounts import refused
from tests.people.visitors import MARIA, PASSWORD, VISIT

NEW_BROWSER = Visit("198.51.100.7", "New")


async def fail(people_context: PeopleContext, visit: Visit, email: str = MARIA) -> str:
    """The code of the refusal of a wrong password."""
    with pytest.raises(Refusal) as refused:
        await sign_in.sign_in(people_context, email, "wrong", visit)
    return refused.value.code


async def test_wrong_passwords_on_one_account_are_counted_together(
    hosts: Hosts, maria: SignedIn, clock: FixedClock
) -> None:
    codes = [await fail(hosts.people(n), Visit(f"203.0.113.{n}")) for n in range(12)]
    assert codes == ["authentication_required"] * OF_ACCOUNT.burst + ["rate_limited"] * 4
    for number in range(2):
        told = await refused(
            "rate_limited", sign_in.sign_in(hosts.people(number), MARIA, PASSWORD, NEW_BROWSER)
        )
        assert told.details == {"retry_after": 120}
    clock.advance(timedelta(minutes=2))
    codes = [await fail(hosts.people(n), Visit(f"203.0.113.{n}")) for n in (1, 0)]
    assert codes == ["authentication_required", "rate_limited"]


async def test_wrong_passwords_from_one_network_are_counted_together(hosts: Hosts, clock: FixedClock) -> None:
    guesser = Visit("203.0.113.5", "Stranger")
    codes = [await fail(hosts.people(n), guesser, f"nobody{n}@example.com") for n in range(42)]
    assert codes == ["authentication_required"] * OF_ADDRESS.burst + ["rate_limited"] * 2
    assert (
        await fail(hosts.people(0), Visit("203.0.113.6"), "nobody@example.com") == "authentication_required"
    )


async def test_ipv4_clients_of_a_server_on_ipv6_are_counted_apart(hosts: Hosts) -> None:
    for number in range(OF_ADDRESS.burst):
        await fail(hosts.people(number), Visit("::ffff:203.0.113.5"), f"nobody{number}@example.com")
    assert await fail(hosts.people(0), Visit("203.0.113.5"), "nobody@example.com") == "rate_limited"
    other = Visit("::ffff:203.0.113.6")
    assert await fail(hosts.people(0), other, "nobody@example.com") == "authentication_required"


async def test_attempts_at_the_same_moment_get_no_more_tries(hosts: Hosts, maria: SignedIn) -> None:
    tries = (fail(hosts.people(n), Visit(f"203.0.113.{n}")) for n in range(16))
    assert Counter(await asyncio.gather(*tries)) == {
        "authentication_required": OF_ACCOUNT.burst,
        "rate_limited": 8,
    }


async def test_signing_in_on_one_host_forgives_the_account_on_both(
    hosts: Hosts, maria: SignedIn, clock: FixedClock
) -> None:
    for number in range(7):
        await fail(hosts.people(number), NEW_BROWSER)
    await sign_in.sign_in(hosts.people(0), MARIA, PASSWORD, NEW_BROWSER)
    codes = [await fail(hosts.people(n), NEW_BROWSER) for n in range(1, 10)]
    assert codes == ["authentication_required"] * OF_ACCOUNT.burst + ["rate_limited"]


async def test_a_known_browser_is_let_in_by_both_hosts_whatever_strangers_do(
    hosts: Hosts, maria: SignedIn
) -> None:
    entered = await sign_in.sign_in(hosts.people(0), MARIA, PASSWORD, VISIT)
    at_home = replace(VISIT, device_cookie=entered.device_cookie)
    for number in range(12):
        await fail(hosts.people(number), Visit(f"203.0.113.{number}"))
    for number in range(2):
        await refused("rate_limited", sign_in.sign_in(hosts.people(number), MARIA, PASSWORD, NEW_BROWSER))
        assert (await sign_in.sign_in(hosts.people(number), MARIA, PASSWORD, at_home)).token
    # The browser itself has a count, which both hosts share.
    codes = [await fail(hosts.people(n), at_home) for n in range(9)]
    assert codes == ["authentication_required"] * OF_ACCOUNT.burst + ["rate_limited"]


async def test_wrong_codes_are_counted_together(hosts: Hosts, maria: SignedIn, clock: FixedClock) -> None:
    setup = await credentials.set_up_second_factor(hosts.people(0), maria)
    code = pyotp.TOTP(setup.secret)
    await credentials.confirm_second_factor(hosts.people(0), maria, code.at(clock.now()), VISIT)
    clock.advance(timedelta(minutes=1))
    half = await sign_in.sign_in(hosts.people(0), MARIA, PASSWORD, VISIT)
    for number in range(OF_ACCOUNT.burst):
        deed = sign_in.sign_in_with_code(hosts.people(number), half.token.text, "000000", VISIT)
        await refused("authentication_required", deed)
    for number in range(2):
        deed = sign_in.sign_in_with_code(hosts.people(number), half.token.text, code.at(clock.now()), VISIT)
        await refused("rate_limited", deed)
    clock.advance(timedelta(minutes=2))
    entered = await sign_in.sign_in_with_code(hosts.people(1), half.token.text, code.at(clock.now()), VISIT)
    assert not entered.needs_second_factor


async def test_wrong_passwords_of_an_open_session_are_counted_together(hosts: Hosts, maria: SignedIn) -> None:
    for number in range(OF_ACCOUNT.burst):
        await refused(
            "validation_error", sign_in.prove_again(hosts.people(number), maria, "wrong", "", VISIT)
        )
    for number in range(2):
        await refused("rate_limited", sign_in.prove_again(hosts.people(number), maria, PASSWORD, "", VISIT))


async def test_requested_links_are_counted_together(hosts: Hosts) -> None:
    for number in range(5):
        visit = f"203.0.113.{number}"
        await hosts.people(number).throttle.account_asked_for(visit, "new@example.com")
    for number in range(2):
        throttle = hosts.people(number).throttle
        await refused("rate_limited", throttle.account_asked_for("203.0.113.99", "new@example.com"))
    for number in range(10):
        await hosts.people(number).throttle.mail_asked_for("198.51.100.1")
    await refused("rate_limited", hosts.people(1).throttle.mail_asked_for("198.51.100.1"))


async def test_keys_that_are_not_valid_are_counted_together(
    hosts: Hosts, account: Account, clock: FixedClock
) -> None:
    for number in range(BURST):
        key = generate("live").text if number % 3 else "hp_live_x"
        refusal(await hosts.try_key(number, "198.51.100.7", key), 401, "authentication_required")
    told = set()
    for number in range(2):
        for key in (generate("live").text, "nonsense"):
            response = await hosts.try_key(number, "198.51.100.7", key)
            refusal(response, 429, "rate_limited")
            told.add(response.headers["Retry-After"])
        data(await hosts.try_key(number, "198.51.100.7", account.live.key))  # its owner shares the address
    assert told == {"1"}
    clock.advance(timedelta(seconds=1))
    refusal(await hosts.try_key(1, "198.51.100.7", "nonsense"), 401, "authentication_required")
    refusal(await hosts.try_key(0, "198.51.100.7", "nonsense"), 429, "rate_limited")


async def test_a_revoked_key_stops_on_both_hosts_within_the_bound(
    hosts: Hosts, account: Account, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    for number in range(2):
        data(await hosts.try_key(number, "198.51.100.7", account.live.key))
    owner_connection.execute(
        "UPDATE api_keys SET revoked_at = %s WHERE id = %s", (clock.now(), account.live.key_id)
    )
    clock.advance(timedelta(seconds=5))
    for number in range(2):
        response = await hosts.try_key(number, "198.51.100.7", account.live.key)
        refusal(response, 401, "authentication_required")
