"""What is over by the clock ends, what guards a payroll never does, and nothing else is touched."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.worker.duty import Progress
from hearthpay.worker.expiry import expire
from tests.database.household import Household, add_employee, add_household, add_organization


@pytest.fixture
def smiths(owner_connection: psycopg.Connection, empty_tables: None) -> Household:
    household = add_household(owner_connection, add_organization(owner_connection, "Smith"))
    owner_connection.execute("DELETE FROM invitations; DELETE FROM idempotency_keys")
    return household


def invite(
    owner: psycopg.Connection, household: Household, name: str, expires_at: datetime, status: str = "pending"
) -> None:
    columns = {
        "organization_id": household.organization_id,
        "employer_id": household.employer_id,
        "sandbox": household.sandbox,
    }
    owner.execute(
        "INSERT INTO invitations (id, organization_id, employer_id, sandbox, employee_id, type, status, token_hash, "
        "email_sent, created_at, expires_at, completed_at) VALUES (new_id(), %s, %s, %s, %s, 'tax_info', %s, "
        "sha256(convert_to(%s, 'UTF8')), false, %s, %s, %s)",
        (
            *columns.values(),
            add_employee(owner, columns),
            status,
            name,
            expires_at - timedelta(days=7),
            expires_at,
            expires_at - timedelta(days=1) if status == "completed" else None,
        ),
    )


def statuses(owner: psycopg.Connection) -> list[str]:
    return [status for (status,) in owner.execute("SELECT status FROM invitations ORDER BY expires_at, id")]


def keep_key(
    owner: psycopg.Connection, household: Household, key: str, path: str | None, created_at: datetime
) -> None:
    owner.execute(
        "INSERT INTO idempotency_keys (organization_id, sandbox, key, request_hash, path, created_at) "
        "VALUES (%s, %s, %s, '\\x01', %s, %s)",
        (household.organization_id, household.sandbox, key, path, created_at),
    )


def keys(owner: psycopg.Connection) -> set[str]:
    return {key for (key,) in owner.execute("SELECT key FROM idempotency_keys")}


async def test_invitations_end_at_their_time(
    worker_pool: Database, owner_connection: psycopg.Connection, smiths: Household, clock: FixedClock
) -> None:
    now = clock.now()
    invite(owner_connection, smiths, "completed", now - timedelta(days=2), "completed")
    invite(owner_connection, smiths, "cancelled", now - timedelta(days=1), "cancelled")
    invite(owner_connection, smiths, "over", now - timedelta(seconds=1))
    invite(owner_connection, smiths, "over now", now)
    invite(owner_connection, smiths, "open", now + timedelta(seconds=1))

    assert await expire(worker_pool, clock) == Progress(done=2)
    assert statuses(owner_connection) == ["completed", "cancelled", "expired", "expired", "pending"]
    assert await expire(worker_pool, clock) == Progress()

    clock.advance(timedelta(seconds=1))
    assert await expire(worker_pool, clock) == Progress(done=1)
    assert statuses(owner_connection) == ["completed", "cancelled", "expired", "expired", "expired"]


async def test_idempotency_keys_go_after_thirty_days_save_those_of_runs(
    worker_pool: Database, owner_connection: psycopg.Connection, smiths: Household, clock: FixedClock
) -> None:
    now = clock.now()
    old, young = now - timedelta(days=30, seconds=1), now - timedelta(days=30)
    keep_key(owner_connection, smiths, "old employee", "/api/v1/employees", old)
    keep_key(owner_connection, smiths, "young employee", "/api/v1/employees", young)
    keep_key(owner_connection, smiths, "old run", "/api/v1/payroll/run", old)
    keep_key(owner_connection, smiths, "ancient run", "/api/v1/payroll/run", now - timedelta(days=3000))
    keep_key(owner_connection, smiths, "old void", "/api/v1/payroll/1/void", old)
    keep_key(owner_connection, smiths, "young void", "/api/v1/payroll/2/void", young)
    keep_key(owner_connection, smiths, "from before", None, old)

    assert await expire(worker_pool, clock) == Progress(done=2)
    assert keys(owner_connection) == {"young employee", "old run", "ancient run", "young void", "from before"}


async def test_previews_go_after_a_day_and_so_do_links_in_the_clear(
    worker_pool: Database, owner_connection: psycopg.Connection, smiths: Household, clock: FixedClock
) -> None:
    """Previews were kept for ever, four kilobytes each."""
    now = clock.now()
    old, young = now - timedelta(hours=24, seconds=1), now - timedelta(hours=24)
    keep_key(owner_connection, smiths, "old preview", "/api/v1/payroll/preview", old)
    keep_key(owner_connection, smiths, "young preview", "/api/v1/payroll/preview", young)
    keep_key(owner_connection, smiths, "run", "/api/v1/payroll/run", old)
    keep_key(owner_connection, smiths, "plain link", "/api/v1/employees/1/invite", old)
    keep_key(owner_connection, smiths, "sealed link", "/api/v1/employees/2/invite", old)
    owner_connection.execute(
        "UPDATE idempotency_keys SET nonce = substr(sha256(''), 1, 12), key_id = 'k' WHERE key = 'sealed link'"
    )
    assert await expire(worker_pool, clock) == Progress(done=2)
    assert keys(owner_connection) == {"young preview", "run", "sealed link"}
    clock.advance(timedelta(days=30))
    # The last is the address that the household had until a week before.
    assert await expire(worker_pool, clock) == Progress(done=3)
    assert keys(owner_connection) == {"run"}


async def test_much_is_done_in_chunks(
    worker_pool: Database, owner_connection: psycopg.Connection, smiths: Household, clock: FixedClock
) -> None:
    for number in range(5):
        keep_key(
            owner_connection,
            smiths,
            f"{number}",
            "/api/v1/employees",
            clock.now() - timedelta(days=31 + number),
        )
    assert await expire(worker_pool, clock, chunk=2) == Progress(done=2, remaining=1)
    assert keys(owner_connection) == {"0", "1", "2"}  # the oldest first
    assert await expire(worker_pool, clock, chunk=2) == Progress(done=2, remaining=1)
    assert await expire(worker_pool, clock, chunk=2) == Progress(done=1)


async def test_one_worker_at_a_time(
    worker_pool: Database, owner_connection: psycopg.Connection, smiths: Household, clock: FixedClock
) -> None:
    keep_key(owner_connection, smiths, "old", "/api/v1/employees", clock.now() - timedelta(days=31))
    with owner_connection.transaction():
        owner_connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('hearthpay.expiry', 0))")
        assert await expire(worker_pool, clock) == Progress()
    assert await expire(worker_pool, clock) == Progress(done=1)


async def test_sessions_and_links_go_a_month_after_they_are_over(
    worker_pool: Database, owner_connection: psycopg.Connection, empty_tables: None, clock: FixedClock
) -> None:
    person, over = uuid4(), clock.now() - timedelta(days=30)
    owner_connection.execute(
        "INSERT INTO people VALUES (%s, 'ana@example.com', 'Ana', 'es', now(), now())", (person,)
    )
    for number, expires_at in enumerate((over - timedelta(seconds=1), over)):
        begun = {
            "at": expires_at - timedelta(days=1),
            "over": expires_at,
            "hash": bytes([number]) * 32,
            "who": person,
        }
        owner_connection.execute(
            "INSERT INTO one_time_tokens (id, kind, token_hash, email, created_at, expires_at) "
            "VALUES (new_id(), 'sign_up', %(hash)s, 'x@example.com', %(at)s, %(over)s)",
            begun,
        )
        owner_connection.execute(
            "INSERT INTO person_sessions (id, person_id, token_hash, stage, method, created_at, authenticated_at, "
            "last_seen_at, expires_at) "
            "VALUES (new_id(), %(who)s, %(hash)s, 'full', 'password', %(at)s, %(at)s, %(at)s, %(over)s)",
            begun,
        )
    assert await expire(worker_pool, clock) == Progress(done=2)
    assert await expire(worker_pool, clock) == Progress()
    for table in ("one_time_tokens", "person_sessions"):
        assert owner_connection.execute(f"SELECT expires_at FROM {table}").fetchall() == [(over,)]
