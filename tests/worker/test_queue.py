"""The queue in the database: whole, the worker's alone, and tidied of what the dead have left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import psycopg
import pytest
from procrastinate import App
from psycopg import errors

from hearthpay.database.embedded import ROLES, EmbeddedServer
from hearthpay.worker.connector import QueueAddress
from hearthpay.worker.duty import Duty, Progress, Stopping
from hearthpay.worker.queue import HELPERS, MOST_ATTEMPTS, QUEUE, housekeeping, open_queue
from tests.conftest import plain_url
from tests.worker.crew import EMPTY_QUEUE

SCHEMA = {
    "columns": "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, "
    "pg_get_expr(d.adbin, d.adrelid) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
    "AND NOT attisdropped LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum "
    "WHERE c.relnamespace = %s::regnamespace AND relkind IN ('r', 'c') ORDER BY 1, 2",
    "indexes": "SELECT pg_get_indexdef(indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
    "WHERE c.relnamespace = %s::regnamespace ORDER BY 1",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = %s::regnamespace ORDER BY 1, 2",
    "functions": "SELECT proname, pg_get_function_identity_arguments(oid), "
    "md5(regexp_replace(prosrc, '\\s+', ' ', 'g')) FROM pg_proc WHERE pronamespace = %s::regnamespace ORDER BY 1, 2",
    "triggers": "SELECT c.relname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid "
    "WHERE c.relnamespace = %s::regnamespace AND NOT tgisinternal ORDER BY 1, 2",
    "values": "SELECT typname, enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = enumtypid "
    "WHERE typnamespace = %s::regnamespace ORDER BY 1, enumsortorder",
}


@pytest.fixture
def owner(owner_connection: psycopg.Connection, empty_tables: None) -> psycopg.Connection:
    owner_connection.execute(EMPTY_QUEUE)
    return owner_connection


def described(connection: psycopg.Connection, schema: str) -> dict[str, list[Any]]:
    """All that is in a schema, as it reads where the schema's names need no qualification."""
    connection.execute(f"SET LOCAL search_path = {schema}")
    return {what: connection.execute(query, (schema,)).fetchall() for what, query in SCHEMA.items()}


def test_our_migrations_make_the_installed_versions_schema(server: EmbeddedServer) -> None:
    """Fails when Procrastinate is upgraded without a migration of ours that runs its new ones."""
    with psycopg.connect(plain_url(server.owner_url())) as connection:
        ours = described(connection, "procrastinate")
        connection.execute("ALTER SCHEMA procrastinate RENAME TO ours; CREATE SCHEMA procrastinate")
        connection.execute("SET LOCAL search_path = procrastinate")
        connection.execute((files("procrastinate") / "sql" / "schema.sql").read_text())
        assert described(connection, "procrastinate") == ours
        connection.rollback()
    assert version("procrastinate").startswith("3.10.")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM procrastinate.procrastinate_jobs",
        "INSERT INTO procrastinate.procrastinate_workers DEFAULT VALUES",
        "SELECT procrastinate.procrastinate_register_worker_v1()",
    ],
)
def test_the_services_role_has_no_way_in(server: EmbeddedServer, statement: str) -> None:
    with (
        psycopg.connect(plain_url(server.service_url())) as service,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        service.execute(statement)


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE procrastinate.mine (x int)", "DROP TABLE procrastinate.procrastinate_jobs"],
)
def test_the_workers_role_uses_the_queue_and_owns_nothing(server: EmbeddedServer, statement: str) -> None:
    with psycopg.connect(plain_url(server.owner_url()), autocommit=True) as worker:
        worker.execute(f"SET ROLE {ROLES.worker}")
        with pytest.raises(errors.InsufficientPrivilege):
            worker.execute(statement)


def test_the_functions_find_their_tables_whoever_calls(owner: psycopg.Connection) -> None:
    assert owner.execute("SHOW search_path").fetchone() != ("procrastinate",)
    owner.execute("INSERT INTO procrastinate.procrastinate_jobs (queue_name, task_name) VALUES ('q', 't')")
    row = owner.execute("SELECT type::text FROM procrastinate.procrastinate_events").fetchone()
    assert row == ("deferred",)


class Pile:
    """Work for several workers: 100 pieces, 10 at a time."""

    def __init__(self) -> None:
        self.pieces = 100
        self.duty = Duty("pile", "Pieces", self.work, shared_by=10)

    async def work(self, _stopping: Stopping) -> Progress:
        taken = min(10, self.pieces)
        self.pieces -= taken
        return Progress(done=taken, remaining=self.pieces)


@pytest.fixture
def pile() -> Pile:
    return Pile()


@pytest.fixture
async def queue(server: EmbeddedServer, owner: psycopg.Connection, pile: Pile) -> AsyncIterator[App]:
    app = open_queue(
        QueueAddress(server.owner_url(), ROLES.worker),
        [pile.duty],
        stopping=asyncio.Event(),
        concurrency=1,
        stalled_after=30,
    )
    async with app.open_async():
        yield app


def jobs(owner: psycopg.Connection) -> list[tuple[Any, ...]]:
    return owner.execute(
        "SELECT task_name, status::text, attempts FROM procrastinate.procrastinate_jobs ORDER BY id"
    ).fetchall()


async def test_where_much_is_due_help_is_called_for(
    queue: App, pile: Pile, owner: psycopg.Connection
) -> None:
    await queue.tasks["hearthpay.pile"](timestamp=0)
    assert pile.pieces == 0
    assert jobs(owner) == [("hearthpay.pile.help", "todo", 0)] * HELPERS
    pile.pieces = 100
    await queue.tasks["hearthpay.pile"](timestamp=0)
    assert len(jobs(owner)) == HELPERS  # enough wait already


async def test_where_little_is_due_nobody_is_called(
    queue: App, pile: Pile, owner: psycopg.Connection
) -> None:
    pile.pieces = 10
    await queue.tasks["hearthpay.pile"](timestamp=0)
    assert jobs(owner) == []


def add_job(
    owner: psycopg.Connection,
    *,
    heard_of: str,
    attempts: int = 0,
    lock: str | None = None,
    name: str = "pile",
) -> None:
    """A job that a worker has in hand which was last heard of so long ago."""
    owner.execute(
        "WITH w AS (INSERT INTO procrastinate.procrastinate_workers (last_heartbeat) "
        "VALUES (now() - %s::interval) RETURNING id) "
        "INSERT INTO procrastinate.procrastinate_jobs "
        "(queue_name, task_name, status, worker_id, attempts, queueing_lock) SELECT %s, %s, 'doing', id, %s, %s FROM w",
        (heard_of, QUEUE, name, attempts, lock),
    )


async def test_the_jobs_of_dead_workers_are_freed(queue: App, owner: psycopg.Connection) -> None:
    add_job(owner, heard_of="1 minute", name="dead")
    add_job(owner, heard_of="1 second", name="alive")
    tidy = housekeeping(queue, stalled_after=30)
    assert await tidy.work(lambda: False) == Progress(done=1)
    assert jobs(owner) == [("dead", "todo", 1), ("alive", "doing", 0)]
    assert owner.execute("SELECT count(*) FROM procrastinate.procrastinate_workers").fetchone() == (1,)
    assert await tidy.work(lambda: False) == Progress()


async def test_a_job_that_kills_its_workers_is_given_up(queue: App, owner: psycopg.Connection) -> None:
    add_job(owner, heard_of="1 minute", attempts=MOST_ATTEMPTS)
    assert await housekeeping(queue, stalled_after=30).work(lambda: False) == Progress()
    assert jobs(owner) == [("pile", "failed", MOST_ATTEMPTS + 1)]


async def test_help_that_waits_already_is_not_queued_twice(queue: App, owner: psycopg.Connection) -> None:
    add_job(owner, heard_of="1 minute", lock="pile:0")
    owner.execute(
        "INSERT INTO procrastinate.procrastinate_jobs (queue_name, task_name, queueing_lock) "
        "VALUES (%s, 'pile', 'pile:0')",
        (QUEUE,),
    )
    assert await housekeeping(queue, stalled_after=30).work(lambda: False) == Progress()
    assert jobs(owner) == [("pile", "todo", 0)]


async def test_the_record_of_a_failure_is_kept_for_thirty_days(queue: App, owner: psycopg.Connection) -> None:
    for days in (29, 31):
        owner.execute(
            "WITH j AS (INSERT INTO procrastinate.procrastinate_jobs (queue_name, task_name, status) "
            "VALUES (%s, %s, 'failed') RETURNING id) "
            "INSERT INTO procrastinate.procrastinate_events (job_id, type, at) "
            "SELECT id, 'failed', now() - make_interval(days => %s) FROM j",
            (QUEUE, f"{days} days", days),
        )
    await housekeeping(queue, stalled_after=30).work(lambda: False)
    assert jobs(owner) == [("29 days", "failed", 0)]
