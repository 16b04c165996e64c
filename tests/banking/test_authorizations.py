"""Authorizations to debit: how long they hold, what ends them, and that the text is the one that was agreed to."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.banking.authorizations import (
    AUTHORIZATION_DAYS,
    AUTHORIZATION_TEXT_VERSION,
    AuthorizationState,
    authorization_of,
    authorization_text,
    authorize,
    needs_authorization,
    revoke,
)
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from tests.banking.families import Family, add_family, connect_household, rows

# The digest of each version's text: whoever changes the text must give it a new version.
TEXTS = {"2026-11-20": "c93d33e012138d99eb3926763a1e5ce8de9e4bc0ffa2842156fad36ce4856e91"}


def test_a_changed_text_is_a_new_version() -> None:
    text = authorization_text()
    assert f"Version {AUTHORIZATION_TEXT_VERSION}" in text
    assert hashlib.sha256(text.encode()).hexdigest() == TEXTS[AUTHORIZATION_TEXT_VERSION]
    assert f"within {AUTHORIZATION_DAYS} days" in text


@pytest.fixture
async def family(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> Family:
    family = add_family(owner)
    await connect_household(owner_database, ring, family, clock.now())
    return family


async def agree(database: Database, family: Family, clock: FixedClock) -> None:
    async with database.transaction(None) as session:
        employer = await session.get_one(Employer, family.employer_id)
        await authorize(session, family.actor, employer, clock.now())


async def test_the_first_debit_needs_one(owner_database: Database, family: Family, clock: FixedClock) -> None:
    async with owner_database.transaction(None) as session:
        assert await needs_authorization(session, family.employer_id, clock.now())
        assert await authorization_of(session, family.employer_id, clock.now()) == AuthorizationState(
            "none", None
        )


async def test_it_holds_for_thirty_days_and_not_a_second_longer(
    owner: psycopg.Connection, owner_database: Database, family: Family, clock: FixedClock
) -> None:
    await agree(owner_database, family, clock)
    last = clock.now() + timedelta(days=30)
    async with owner_database.transaction(None) as session:
        assert not await needs_authorization(session, family.employer_id, clock.now())
        assert not await needs_authorization(session, family.employer_id, last)
        assert await needs_authorization(session, family.employer_id, last + timedelta(seconds=1))
        late = await authorization_of(session, family.employer_id, last + timedelta(seconds=1))
    assert late == AuthorizationState("expired", last)
    clock.advance(timedelta(days=31))
    await agree(owner_database, family, clock)
    async with owner_database.transaction(None) as session:
        assert not await needs_authorization(session, family.employer_id, clock.now())
    assert rows(owner, "SELECT count(*), count(DISTINCT text_version) FROM ach_authorizations") == [(2, 1)]


async def test_what_was_agreed_to_and_by_whom_is_kept(
    owner: psycopg.Connection, owner_database: Database, family: Family, clock: FixedClock
) -> None:
    await agree(owner_database, family, clock)
    assert rows(
        owner, "SELECT authorized_by_kind, request_id, text_version, authorized_at FROM ach_authorizations"
    ) == [("operator", "req_banking", AUTHORIZATION_TEXT_VERSION, clock.now())]
    assert rows(owner, "SELECT actor_kind FROM audit_log WHERE action = 'ach.authorize'") == [("operator",)]


async def test_a_revoked_one_holds_no_more(
    owner_database: Database,
    worker_database: Database,
    family: Family,
    clock: FixedClock,
    owner: psycopg.Connection,
) -> None:
    await agree(owner_database, family, clock)
    [(account,)] = rows(owner, "SELECT id FROM bank_accounts")
    async with worker_database.transaction(None) as session:
        await revoke(session, clock.now(), [account])
    async with owner_database.transaction(None) as session:
        state = await authorization_of(session, family.employer_id, clock.now())
        assert state.status == "revoked"
        assert await needs_authorization(session, family.employer_id, clock.now())
    await agree(owner_database, family, clock)
    async with owner_database.transaction(None) as session:
        assert not await needs_authorization(session, family.employer_id, clock.now() + timedelta(hours=1))


async def test_it_says_nothing_about_another_account_or_household(
    owner: psycopg.Connection, owner_database: Database, ring: KeyRing, family: Family, clock: FixedClock
) -> None:
    await agree(owner_database, family, clock)
    other = add_family(owner, last_name="Chen")
    await connect_household(owner_database, ring, other, clock.now())
    async with owner_database.transaction(None) as session:
        assert await needs_authorization(session, other.employer_id, clock.now())
    await connect_household(owner_database, ring, family, clock.now())
    async with owner_database.transaction(None) as session:
        assert await needs_authorization(session, family.employer_id, clock.now())


async def test_there_is_nothing_to_authorize_without_an_account(
    owner: psycopg.Connection, owner_database: Database, clock: FixedClock
) -> None:
    family = add_family(owner)
    with pytest.raises(Refusal) as refused:
        await agree(owner_database, family, clock)
    assert refused.value.code == "direct_deposit_unavailable"
