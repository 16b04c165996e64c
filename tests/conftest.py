"""Fixtures for every test: the real embedded PostgreSQL, migrated once and emptied before each test."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio
import structlog
from _pytest.unraisableexception import gc_collect_iterations_key
from hypothesis import settings

from hearthpay.access import deferred_audit
from hearthpay.access.refusal_details import DetailsCheck
from hearthpay.clock import FixedClock
from hearthpay.database.embedded import DATABASE, ROLES, EmbeddedServer
from hearthpay.database.migrations import read
from hearthpay.database.session import Database
from tests.database.poolers import forgetful_proxy, pgbouncer, through
from tests.database.sealing import service_database
from tests.held_connections import nobody_waits_holding_a_connection
from tests.imported_in_parts import import_own_part
from tests.worlds.documents import documents_are_built_once
from tests.worlds.installations import install
from tests.worlds.owner_plans import owner_pool
from tests.worlds.passwords import passwords_are_hashed_quickly
from tests.worlds.places import choose_place, leave_place
from tests.worlds.tables import EMPTY, EMPTYING_FUNCTION

__all__ = ["owner_pool"]

POOLER_VARIABLE = "HEARTHPAY_TEST_POOLER"
"""`forgetful`, `session` or `transaction`: what stands between the service and its database in this run."""

ORDER_VARIABLE = "HEARTHPAY_TEST_ORDER"
"""`given`: files run in the order of the command line (`tools/suite_in_order.py`)."""

_COLLECTED_AFTER = (50_000, 20, 20)
"""The collector's thresholds: its usual ones are for programs with a hundredth of these objects."""
_PLACE = pytest.StashKey[Path]()

# How long an example takes depends on what else the machine does.
settings.register_profile("any pace", deadline=None)
settings.load_profile("any pace")


def pytest_configure(config: pytest.Config) -> None:
    """One folder for all that the run writes; the processes of a parallel run share it. Garbage is looked for seldom.

    A failure that is logged is shown as Python itself shows it: the boxes that structlog would draw around each frame
    and its variables take longer than many a test.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ]
    )
    gc.set_threshold(*_COLLECTED_AFTER)
    config.stash[gc_collect_iterations_key] = 0  # a pass over all that a worker has left takes some seconds
    if not hasattr(config, "workerinput"):
        config.stash[_PLACE] = choose_place()


LONGEST = (
    "tests/openapi/test_conformance.py",
    "tests/lifecycle/test_kill.py",
    "tests/worker/test_processes.py",
    "tests/backup/test_logical.py",
    "tests/http/test_timeouts.py",
    "tests/backup/test_own_servers.py",
    "tests/database/test_embedded.py",
    "tests/boundary/test_every_route.py",
    "tests/autopilot/test_new_year.py",
    "tests/web/test_pages_by_role.py",
    "tests/database/test_session.py",
    "tests/lifecycle/test_available_actions.py",
    "tests/lifecycle/test_what_comes_back.py",
    "tests/stories/test_safety.py",
    "tests/doctor/test_checks.py",
    "tests/stories/test_people.py",
    "tests/boundary/test_without_where.py",
    "tests/sandbox/test_magic.py",
    "tests/scale/test_blocks_of_pages.py",
    "tests/mail/test_processes.py",
    "tests/lifecycle/test_year_end.py",
    "tests/attacks/test_papers.py",
    "tests/database/test_given_servers.py",
    "tests/database/test_migrations.py",
    "tests/documents/test_issuing.py",
    "tests/server/test_serve.py",
    "tests/web/test_my_pages.py",
    "tests/sandbox/test_clocks.py",
    "tests/autopilot/test_life.py",
    "tests/backup/test_after_restore.py",
    "tests/lifecycle/test_notices_in_time.py",
    "tests/database/test_upgrades.py",
    "tests/web/test_spanish_pages.py",
    "tests/cli/test_bank.py",
    "tests/worker/test_attendant.py",
    "tests/boundary/test_cross_tenant.py",
    "tests/lifecycle/test_over_the_new_year.py",
    "tests/scale/test_blocks_of_the_api.py",
    "tests/database/test_supervisor.py",
    "tests/documents/test_packages.py",
    "tests/lifecycle/test_no_money_without_a_way_out.py",
    "tests/attacks/test_connections.py",
    "tests/taxes/test_against_fractions.py",
)
"""The files that take longest: begun last, one of them would keep one worker busy alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files; `make test` hands files out in this order. `make test-order` gives its own."""
    if os.environ.get(ORDER_VARIABLE) == "given":
        return
    place = {file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(LONGEST)))


def pytest_sessionstart(session: pytest.Session) -> None:
    import_own_part(session.config)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the product and the tests themselves."""
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.freeze()  # nor need the interpreter look through it when it ends
    if _PLACE in config.stash:
        leave_place(config.stash[_PLACE])


@pytest.fixture(scope="session", autouse=True)
def connections_are_not_held() -> Iterator[None]:
    """In no test does anybody wait for another server within a transaction."""
    with nobody_waits_holding_a_connection():
        yield


@pytest.fixture(scope="session", autouse=True)
def documents_are_kept() -> Iterator[None]:
    """Applications with the same endpoints share their OpenAPI document."""
    with documents_are_built_once():
        yield


@pytest.fixture(scope="session", autouse=True)
def passwords_are_quick() -> Iterator[None]:
    """Passwords are hashed at the least cost."""
    with passwords_are_hashed_quickly():
        yield


@pytest.fixture(scope="session", autouse=True)
def details_are_checked() -> Iterator[None]:
    """A refusal whose details differ from its code's row is an error where it is made."""
    DetailsCheck.enabled = True
    yield
    DetailsCheck.enabled = False


@pytest.fixture
def clock() -> FixedClock:
    """Friday, 20 November 2026, 10:00 in New York."""
    return FixedClock(datetime(2026, 11, 20, 15, 0, tzinfo=UTC))


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """One embedded server for the whole run, with the newest schema."""
    data_dir = Path(tempfile.mkdtemp(prefix="hearthpay-test-"))
    embedded = install(data_dir)
    try:
        embedded.start()
        yield embedded
    finally:
        embedded.stop()
        shutil.rmtree(data_dir)


@pytest.fixture(scope="session")
def owner_connection(server: EmbeddedServer) -> Iterator[psycopg.Connection]:
    """A plain connection of the schema's owner, who sees every row; each statement is its own transaction."""
    with psycopg.connect(plain_url(server.owner_url()), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def emptying_connection(server: EmbeddedServer) -> Iterator[psycopg.Connection]:
    """A connection of the schema's owner that does nothing but empty the tables."""
    with psycopg.connect(plain_url(server.owner_url()), autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(EMPTYING_FUNCTION)
        yield connection


@pytest_asyncio.fixture
async def empty_tables(emptying_connection: psycopg.Connection) -> None:
    """Leave no row of an earlier test, and let the audit rows first be written that it left for later.

    In a thread, so that the event loop runs meanwhile: what that test left running on it (noting when a key was used,
    sending a mail) may be in the middle of a transaction, and holds its locks until it gets on.
    """
    writing = [task for task in asyncio.all_tasks() if task.get_name() == deferred_audit.TASK]
    if writing:
        await asyncio.wait(writing)
    await asyncio.to_thread(emptying_connection.execute, EMPTY)


@contextmanager
def _way_of_the_service(server: EmbeddedServer) -> Iterator[str]:
    """The service's own login; or the owner's, through the pooler that the environment asks for."""
    way = os.environ.get(POOLER_VARIABLE)
    if way is None:
        yield server.service_url()
        return
    with ExitStack() as stack:
        if way == "forgetful":
            port = stack.enter_context(forgetful_proxy(server))
        else:
            folder = Path(tempfile.mkdtemp(prefix="hearthpay-pooler-"))
            folder.chmod(0o755)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            connections = 4 if way == "transaction" else 60
            port = stack.enter_context(pgbouncer(server, folder, way, connections=connections))
        yield through(port, prepare_threshold="0")


@pytest_asyncio.fixture(scope="session")
async def service_pool(server: EmbeddedServer) -> AsyncIterator[Database]:
    """The service's connections, kept open through the run; tests ask for `database`."""
    with _way_of_the_service(server) as url:
        pool = service_database(server.service_url(), url)
        yield pool
        await pool.dispose()


@pytest_asyncio.fixture(scope="session")
async def worker_pool(server: EmbeddedServer) -> AsyncIterator[Database]:
    """The worker's connections, kept open through the run; tests ask for `worker_database`."""
    pool = Database(server.worker_url(), role=ROLES.worker, seal=read(server.owner_url()).seal)
    yield pool
    await pool.dispose()


@pytest.fixture
def database(service_pool: Database, empty_tables: None) -> Database:
    """The empty database as the service uses it: bound by row-level security."""
    return service_pool


@pytest.fixture
def owner_database(owner_pool: Database, empty_tables: None) -> Database:
    """The same empty database as the operator uses it: every row is visible."""
    return owner_pool


@pytest.fixture
def worker_database(worker_pool: Database, empty_tables: None) -> Database:
    """The same empty database as the worker uses it: every tenant's rows, but few rights."""
    return worker_pool


@pytest.fixture
def temporary_tables(owner_connection: psycopg.Connection) -> Iterator[None]:
    """For once the service may make temporary tables, to try what they would be good for."""
    right = f"TEMPORARY ON DATABASE {DATABASE}"
    owner_connection.execute(f"GRANT {right} TO {ROLES.service}")
    yield
    owner_connection.execute(f"REVOKE {right} FROM {ROLES.service}")


def plain_url(url: str) -> str:
    """SQLAlchemy's URL as psycopg itself and PostgreSQL's programs take it."""
    return url.replace("postgresql+psycopg://", "postgresql://", 1)
