"""Behind a pooler every transaction is still its role's and its tenant's, or there is none."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event, text

from hearthpay.database.embedded import DATABASE, OWNER_ROLE, ROLES, EmbeddedServer
from hearthpay.database.migrations import migrate
from hearthpay.database.outage import DatabaseUnavailable, WrongRoleError
from hearthpay.database.readiness import require_ready
from hearthpay.database.session import Database
from hearthpay.database.startup import Addresses, ServiceLoginError, open_database
from hearthpay.worker.connector import QueueAddress, QueueConnector
from tests.database.household import Household
from tests.database.poolers import NO_PGBOUNCER, PGBOUNCER, forgetful_proxy, pgbouncer, through
from tests.database.sealing import seal_of

WHO = text("SELECT current_user, current_setting('search_path'), current_setting('statement_timeout')")


@pytest.fixture
def proxied(server: EmbeddedServer) -> Iterator[str]:
    """The owner's login, by a way on which everything asked for at the connection's start is lost."""
    with forgetful_proxy(server) as port:
        yield through(port)


@pytest.fixture(params=["transaction", "session"])
def pooled(server: EmbeddedServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """The owner's login through a real PgBouncer."""
    if PGBOUNCER is None:
        pytest.skip(NO_PGBOUNCER)
    # Of sessions, each client has one to itself for as long as it stays.
    with pooler(server, request.param, connections=4 if request.param == "transaction" else 60) as port:
        yield through(port, prepare_threshold="0")


@contextmanager
def pooler(server: EmbeddedServer, mode: str, **options: int) -> Iterator[int]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-pooler-"))
    folder.chmod(0o755)
    try:
        with pgbouncer(server, folder, mode, **options) as port:
            yield port
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def service_behind(owner: psycopg.Connection, proxied: str) -> AsyncIterator[Database]:
    database = Database(proxied, role=ROLES.service, seal=seal_of(owner))
    yield database
    await database.dispose()


async def test_what_a_pooler_drops_at_the_start_holds_all_the_same(
    service_behind: Database, smiths: Household, joneses: Household
) -> None:
    async with service_behind.transaction(smiths.tenant) as session:
        assert (await session.execute(WHO)).one() == (ROLES.service, "public, pg_temp", "30s")
        assert list(await session.scalars(text("SELECT id FROM employers"))) == [smiths.employer_id]
    async with service_behind.transaction(None) as session:
        assert list(await session.scalars(text("SELECT id FROM employers"))) == []


async def test_a_transaction_that_acts_as_another_role_is_refused_before_its_first_statement(
    server: EmbeddedServer, owner: psycopg.Connection, smiths: Household
) -> None:
    database = Database(server.owner_url(), role=ROLES.service, seal=seal_of(owner))
    seen: list[str] = []

    def lose_the_role(*arguments: object) -> tuple[str, object]:
        statement = str(arguments[2])
        seen.append(statement)
        return statement.replace(f"set_config('role', '{ROLES.service}', true)", "'lost'"), arguments[3]

    event.listen(database._engine.sync_engine, "before_cursor_execute", lose_the_role, retval=True)
    try:
        with pytest.raises(WrongRoleError, match=f"acts as {OWNER_ROLE}, not as {ROLES.service}"):
            async with database.transaction(smiths.tenant) as session:
                await session.execute(text("SELECT id FROM employers"))
        assert len(seen) == 1
        with pytest.raises(WrongRoleError):
            await require_ready(database)
    finally:
        await database.dispose()


async def test_the_queue_refuses_to_act_as_another_role(server: EmbeddedServer) -> None:
    connector = QueueConnector(QueueAddress(server.service_url(), ROLES.worker), 1)
    await connector.open_async()
    try:
        with pytest.raises(WrongRoleError, match="may not act as"):
            await connector.execute_query_all_async("SELECT id FROM procrastinate_jobs")
    finally:
        await connector.close_async()


async def test_a_login_that_may_not_become_the_role_is_told(server: EmbeddedServer) -> None:
    database = Database(server.service_url(), role=ROLES.worker)
    try:
        with pytest.raises(WrongRoleError, match="may not act as"):
            async with database.transaction(None):
                pass
    finally:
        await database.dispose()


async def test_the_workers_login_must_be_the_workers(proxied: str) -> None:
    addresses = Addresses(proxied, worker=proxied)
    async with open_database(None, addresses) as opened:
        with pytest.raises(ServiceLoginError, match=f"DATABASE_WORKER_URL must log in as {ROLES.worker}"):
            async with opened.as_worker(1):
                pass


async def test_everybody_acts_as_his_role_through_pgbouncer(
    pooled: str, owner: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    """Migration, service, operator and queue share few connections of the server with everybody else."""
    await asyncio.to_thread(migrate, pooled)
    async with open_database(None, Addresses(pooled)) as opened:

        async def look(household: Household) -> None:
            async with opened.database.transaction(household.tenant) as session:
                who, _, _ = (await session.execute(WHO)).one()
                assert who == ROLES.service
                assert list(await session.scalars(text("SELECT id FROM employers"))) == [
                    household.employer_id
                ]

        async def count() -> None:
            async with opened.as_operator() as operator, operator.transaction(None) as session:
                assert (await session.execute(WHO)).one()[0] == OWNER_ROLE
                assert await session.scalar(text("SELECT count(*) FROM employers")) == 2

        async def nobody() -> None:
            async with opened.database.transaction(None) as session:
                assert await session.scalar(text("SELECT count(*) FROM employers")) == 0

        connector = QueueConnector(QueueAddress(pooled, ROLES.worker), 3)
        await connector.open_async()
        try:

            async def queue() -> None:
                rows = await connector.execute_query_all_async(
                    "SELECT current_user::text AS role, count(*) FROM procrastinate_jobs GROUP BY 1 "
                    "UNION SELECT current_user::text, 0"
                )
                assert rows[0]["role"] == ROLES.worker

            await asyncio.gather(
                *(each for _ in range(40) for each in (look(smiths), nobody(), look(joneses), queue()))
            )
            await asyncio.gather(*(count() for _ in range(4)))
        finally:
            await connector.close_async()


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("26000", "a prepared statement is gone"),
        ("42P05", "a prepared statement is gone"),
        ("25006", "takes no writes"),
        ("53100", "disk of the database's server is full"),
        ("53300", "no connection left"),
        ("55P03", "held a lock for too long"),
        ("40P01", "has to be repeated"),
        ("57014", "took too long"),
    ],
)
async def test_what_passes_is_told_for_what_it_is(worker_database: Database, state: str, told: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=told) as raised:
        async with worker_database.transaction(None) as session:
            await session.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '{state}'; END $$"))
    assert raised.value.sqlstate == state


def test_the_setting_turns_prepared_statements_off(server: EmbeddedServer) -> None:
    from hearthpay.database.address import DatabaseAddressError, engine_arguments

    def threshold(url: str, **environment: str) -> object:
        return engine_arguments(url, environment)[1]["prepare_threshold"]

    url = f"postgresql://u@h/{DATABASE}"
    assert threshold(url) == 5
    assert threshold(url, DATABASE_PREPARED_STATEMENTS="off") is None
    assert threshold(f"{url}?prepare_threshold=0") is None
    assert threshold(f"{url}?prepare_threshold=none") is None
    assert threshold(f"{url}?prepare_threshold=9", DATABASE_PREPARED_STATEMENTS="off") == 9
    for wrong in (
        {"url": f"{url}?prepare_threshold=-1"},
        {"url": url, "DATABASE_PREPARED_STATEMENTS": "maybe"},
    ):
        with pytest.raises(DatabaseAddressError):
            threshold(**wrong)
