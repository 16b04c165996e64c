"""Doing a thing once without any request: what pages, tools and the worker stand on."""

from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database.session import Database
from hearthpay.http.idempotent_writes import (
    Answered,
    Claim,
    DeedOnce,
    KeyTakenError,
    Rendered,
    fingerprint_of,
    run_once_per_key,
)
from hearthpay.security.key_ring import EncryptionKey, KeyRing, UnknownKeyError
from tests.database.household import add_organization

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
PATH = "/mcp/run_payroll"


@pytest.fixture
def actor(owner_connection: psycopg.Connection, empty_tables: None) -> Actor:
    organization = add_organization(owner_connection, "Smith")
    return Actor("user", uuid4(), organization, "live", frozenset(), "request")


def _claim(actor: Actor, key: str = "k", content: object = None) -> Claim:
    return Claim(key, fingerprint_of(actor, PATH, content=content), PATH)


def _counting(done: list[str], body: bytes = b"done") -> DeedOnce:
    async def action(session: AsyncSession) -> Rendered:
        await session.execute(text("SELECT 1"))
        done.append("once")
        return Rendered(body, 207)

    return action


async def _ask(database: Database, actor: Actor, claim: Claim | None, action: DeedOnce) -> Answered:
    return await run_once_per_key(database, actor, claim, action, now=NOW)


async def test_the_second_time_the_first_answer_is_given(database: Database, actor: Actor) -> None:
    done: list[str] = []
    first = await _ask(database, actor, _claim(actor), _counting(done))
    again = await _ask(database, actor, _claim(actor), _counting(done, b"other"))
    assert (first.replayed, again.replayed) == (False, True)
    assert first.rendered == again.rendered == Rendered(b"done", 207)
    assert done == ["once"]


async def test_without_a_claim_it_is_done_each_time(
    database: Database, actor: Actor, owner_connection: psycopg.Connection
) -> None:
    done: list[str] = []
    for _ in range(2):
        assert not (await _ask(database, actor, None, _counting(done))).replayed
    assert len(done) == 2
    assert owner_connection.execute("SELECT count(*) FROM idempotency_keys").fetchone() == (0,)


async def test_a_key_is_taken_for_any_other_request(database: Database, actor: Actor) -> None:
    """Of other content, of something else, or by someone who falls back on another household."""
    done: list[str] = []
    await _ask(database, actor, _claim(actor), _counting(done))
    remembering = Actor("key", uuid4(), actor.organization_id, "live", frozenset(), "request", uuid4())
    for other in (
        _claim(actor, content={"pay": 1}),
        _claim(remembering),
        Claim("k", fingerprint_of(actor, "/mcp/void_payroll", content=None), "/mcp/void_payroll"),
    ):
        with pytest.raises(KeyTakenError):
            await _ask(database, actor, other, _counting(done))
    assert done == ["once"]


async def test_what_fails_leaves_the_key_free(database: Database, actor: Actor) -> None:
    async def failing(session: AsyncSession) -> Rendered:
        raise LookupError

    done: list[str] = []
    with pytest.raises(LookupError):
        await _ask(database, actor, _claim(actor), failing)
    assert not (await _ask(database, actor, _claim(actor), _counting(done))).replayed


async def test_a_secret_is_kept_sealed(
    database: Database, actor: Actor, owner_connection: psycopg.Connection
) -> None:
    keys, done = KeyRing((EncryptionKey.generate(),)), list[str]()
    for replayed in (False, True):
        answered = await run_once_per_key(
            database, actor, _claim(actor), _counting(done, b"the link"), now=NOW, sealed_with=keys
        )
        assert answered == Answered(Rendered(b"the link", 207), replayed)
    (kept,) = owner_connection.execute("SELECT body FROM idempotency_keys").fetchone() or (b"",)
    assert b"the link" not in bytes(kept)
    with pytest.raises(UnknownKeyError):
        await _ask(database, actor, _claim(actor), _counting(done))


@pytest.mark.parametrize("key", ["", "x" * 256, "two\nlines"])
def test_an_unfit_key_claims_nothing(key: str, actor: Actor) -> None:
    with pytest.raises(ValueError, match="printable"):
        _claim(actor, key)
