"""Migrating is safe to repeat, to do from many sides at once, to be killed at, and to do without a superuser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.engine import make_url

from hearthpay.database import migrations
from hearthpay.database.embedded import ROLES, EmbeddedServer
from hearthpay.database.installation import roles_of
from hearthpay.database.migrations import MigrationError, TablesBusyError, migrate
from tests.conftest import plain_url
from tests.worlds.commands import start
from tests.worlds.tables import INSTALLATION_TABLES, OWN_TABLES, TABLES

NewDatabase = Callable[[], str]


@pytest.fixture
def new_database(server: EmbeddedServer, owner_connection: psycopg.Connection) -> Iterator[NewDatabase]:
    """Makes empty databases on the shared server and returns their owner URLs."""
    names: list[str] = []

    def make() -> str:
        names.append(f"migration_{uuid4().hex}")
        owner_connection.execute(f"CREATE DATABASE {names[-1]}")
        url = make_url(server.owner_url()).set(database=names[-1])
        return url.render_as_string(hide_password=False)

    yield make
    for name in names:
        owner_connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        for role in (roles_of(name).service, roles_of(name).worker):
            owner_connection.execute(f"DROP ROLE IF EXISTS {role}")


def migrate_together(*urls: str) -> None:
    """Bring these databases up to date at once, each in a process of its own."""
    processes = [start("migrate", environment={**os.environ, "DATABASE_URL": url}) for url in urls]
    for process in processes:
        with process:
            assert process.stdout is not None
            said = process.stdout.read()
        assert process.wait() == 0, said


def tables(url: str) -> set[str]:
    with psycopg.connect(plain_url(url)) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return {name for (name,) in rows}


def test_revisions_are_those_of_the_migrations_in_their_order() -> None:
    """They are read from the files' names, so that a program whose schema is there starts without Alembic."""
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    written = [script.revision for script in scripts.walk_revisions()]
    assert written[0] == scripts.get_current_head() == migrations.newest_revision()
    assert tuple(reversed(written)) == migrations.revisions()


def test_migrating_again_changes_nothing(new_database: NewDatabase) -> None:
    url = new_database()
    migrate(url)
    assert tables(url) == {*TABLES, *INSTALLATION_TABLES, *OWN_TABLES}
    with psycopg.connect(plain_url(url)) as connection:
        connection.execute("INSERT INTO organizations (id, name) VALUES (new_id(), 'Smith')")
    migrate(url)
    migrate(url)
    with psycopg.connect(plain_url(url)) as connection:
        assert connection.execute("SELECT name FROM organizations").fetchall() == [("Smith",)]


def test_servers_that_start_together_migrate_once(new_database: NewDatabase) -> None:
    url = new_database()
    migrate_together(*[url] * 4)
    assert tables(url) == {*TABLES, *INSTALLATION_TABLES, *OWN_TABLES}


def test_threads_of_one_process_take_turns(new_database: NewDatabase) -> None:
    url = new_database()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(migrate, [url] * 4))
    assert tables(url) == {*TABLES, *INSTALLATION_TABLES, *OWN_TABLES}


def test_databases_of_one_cluster_share_the_role(new_database: NewDatabase) -> None:
    urls = [new_database() for _ in range(2)]
    migrate_together(*urls)
    assert all("employees" in tables(url) for url in urls)


def test_a_failed_migration_leaves_no_trace(new_database: NewDatabase) -> None:
    url = new_database()
    with psycopg.connect(plain_url(url)) as connection:
        connection.execute("CREATE TABLE audit_log (mine int)")  # the last table the migration makes
    with pytest.raises(Exception, match='relation "audit_log" already exists'):
        migrate(url)
    assert tables(url) == {"audit_log"}


def test_a_newer_programs_schema_is_left_alone(new_database: NewDatabase) -> None:
    url = new_database()
    migrate(url)
    with psycopg.connect(plain_url(url)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(MigrationError, match="9999"):
        migrate(url)


def test_a_role_which_could_bypass_the_policies_is_refused(
    new_database: NewDatabase, owner_connection: psycopg.Connection
) -> None:
    url = new_database()
    role = roles_of(str(make_url(url).database)).service
    owner_connection.execute(f"CREATE ROLE {role} BYPASSRLS")
    try:
        with pytest.raises(Exception, match="must not be able to bypass row-level security"):
            migrate(url)
    finally:
        owner_connection.execute(f"DROP ROLE {role}")
    migrate(url)
    owner_connection.execute(f"ALTER ROLE {role} BYPASSRLS")
    with pytest.raises(MigrationError, match="must not be able to bypass row-level security"):
        migrate(url)


def test_the_service_itself_cannot_become_the_owner(new_database: NewDatabase) -> None:
    url = make_url(new_database()).set(username=ROLES.service)
    with pytest.raises(Exception, match=r"must not own the tables|permission denied"):
        migrate(url)


def test_it_waits_briefly_for_a_table_in_use_and_lets_everybody_else_pass(
    new_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database()
    migrate(url, revision="0056")
    monkeypatch.setattr(migrations, "_PAUSE_SECONDS", 0.05)
    briefly = text("SELECT set_config('lock_timeout', '500ms', true)")
    monkeypatch.setattr(migrations, "_LOCKS_AT_ONCE", briefly)
    with (
        psycopg.connect(plain_url(url)) as holder,
        psycopg.connect(plain_url(url), autocommit=True) as reader,
    ):
        holder.execute("SELECT count(*) FROM payrolls")  # a long report: its lock lasts as its transaction
        monkeypatch.setattr(migrations, "_REPEATS", 2)
        with pytest.raises(TablesBusyError, match="try again when less is going on"):
            migrate(url)
        assert reader.execute("SELECT version_num FROM alembic_version").fetchone() == ("0056",)
        monkeypatch.setattr(migrations, "_REPEATS", 20)
        with ThreadPoolExecutor(1) as threads:
            migrating = threads.submit(migrate, url)
            waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'payrolls'::regclass"
            while reader.execute(waits).fetchone() is None:
                assert not migrating.done()
            # Who only reads stands behind the one that waits, and passes when that gives up.
            reader.execute("SET statement_timeout = '10s'")
            reader.execute("SELECT count(*) FROM payrolls")
            assert not migrating.done()
            holder.rollback()
            assert migrating.result(timeout=60) is not None
