"""The catalog of the schema is known; what differs is told with what mends it, and what is looser is refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.backup.programs import packaged_programs
from hearthpay.database.catalog.differences import DifferenceCode, compare_facts
from hearthpay.database.catalog.expected import CHANGES, FIRST, SCHEMA, expected_facts, format_facts
from hearthpay.database.catalog.facts import read_catalog, read_catalog_of
from hearthpay.database.catalog.inspection import (
    inspect_before_migrating,
    inspect_schema,
    require_tight_schema,
)
from hearthpay.database.embedded import DATABASE, OWNER_ROLE, ROLES, EmbeddedServer
from hearthpay.database.installation import roles_of
from hearthpay.database.migrations import MigrationError, migrate, migrating, newest_revision, revisions
from hearthpay.database.session import Database
from hearthpay.doctor.schema_checks import schema, schema_additions
from tests.cases import every_case
from tests.conftest import plain_url
from tests.database.schema_damage import ADDED, LOOSER, WRONG

STALE = (
    "the catalog isn't that of the migrations: run `python -m tools.schema_catalog` and review what changed"
)


@pytest.mark.completeness
async def test_the_catalog_is_that_of_the_migrations(owner_pool: Database) -> None:
    async with owner_pool.transaction(None) as session:
        lines = format_facts((await read_catalog(session, ROLES)).facts)
    written = [line for line in SCHEMA.read_text(encoding="utf-8").split("\n") if line]
    assert lines == written, STALE


@pytest.mark.completeness
def test_each_migration_says_what_it_changes() -> None:
    later = [each for each in revisions() if each > FIRST]
    assert sorted(path.stem for path in CHANGES.glob("*.txt")) == later, STALE
    after = set(format_facts(expected_facts(newest_revision()) or {}))
    for revision in reversed(later):
        lines = (CHANGES / f"{revision}.txt").read_text(encoding="utf-8").splitlines()
        assert {line[2:] for line in lines if line.startswith("+")} <= after, f"{revision}: {STALE}"
        before = set(format_facts(expected_facts(revisions()[revisions().index(revision) - 1]) or {}))
        assert not {line[2:] for line in lines if line.startswith("-")} - before, f"{revision}: {STALE}"
        after = before
    assert expected_facts("0001") is None
    assert expected_facts("9999") is None


@pytest.fixture(scope="module")
def names(owner_connection: psycopg.Connection) -> dict[str, str]:
    """What the damages name."""
    found = owner_connection.execute(
        "SELECT min(conname) FILTER (WHERE contype = 'f'), min(conname) FILTER (WHERE contype = 'c') "
        "FROM pg_constraint WHERE conrelid = 'paychecks'::regclass"
    ).fetchone()
    assert found is not None
    roles = {"owner": OWNER_ROLE, "service": ROLES.service, "worker": ROLES.worker, "database": DATABASE}
    return roles | {"reference": str(found[0]), "check": str(found[1])}


async def _run(session: AsyncSession, sql: str) -> None:
    connection = await session.connection()
    raw = await connection.get_raw_connection()
    assert raw.driver_connection is not None
    for statement in re.split(r"; (?=[A-Z])", sql):
        await raw.driver_connection.execute(statement)


DAMAGES = {**LOOSER, **WRONG, **ADDED}


async def test_each_damage_is_told_by_the_doctor_with_what_mends_it(
    owner_pool: Database, names: dict[str, str]
) -> None:
    """All at once, as reading a catalog takes a quarter of a second."""
    async with owner_pool.transaction(None) as session:
        for damage in DAMAGES.values():
            await _run(session, damage.sql.format(**names))
        report = await inspect_schema(session)
        told = {(each.code, each.kind, each.name): each for each in report.differences}
        with every_case() as case:
            for title, damage in DAMAGES.items():
                with case(title):
                    code, kind, name = damage.told
                    difference = told[DifferenceCode(code), kind, name.format(**names)]
                    assert difference.looser == (title in LOOSER)
                    assert difference.harmless == (title in ADDED)
        by_doctor = {(each.subject, each.what) for each in await schema(session, None)}
        described = {each: report.describe(each) for each in report.differences}
        assert by_doctor == {(described[each].subject, described[each].what) for each in report.wrong}
        assert set(await schema_additions(session)) == {described[each].subject for each in report.additions}
        for damage in (*LOOSER.values(), *WRONG.values()):
            if damage.mended:
                code, kind, name = damage.told
                await _run(session, described[told[DifferenceCode(code), kind, name.format(**names)]].remedy)
        left = {(each.code, each.kind, each.name) for each in (await inspect_schema(session)).wrong}
        with every_case() as case:
            for title, damage in (LOOSER | WRONG).items():
                with case(title):
                    code, kind, name = damage.told
                    assert ((DifferenceCode(code), kind, name.format(**names)) in left) == (not damage.mended)
        await session.rollback()


async def test_a_sound_schema_has_nothing_to_tell(owner_pool: Database, service_pool: Database) -> None:
    """Also to a host that has the service's login alone."""
    for pool in (owner_pool, service_pool):
        async with pool.transaction(None) as session:
            assert (await inspect_schema(session)).differences == ()
        await require_tight_schema(pool)


async def test_an_administrators_own_additions_keep_nobody_from_serving(
    owner_connection: psycopg.Connection, service_pool: Database
) -> None:
    owner_connection.execute("CREATE INDEX mine ON payrolls (created_at)")
    try:
        await require_tight_schema(service_pool)
    finally:
        owner_connection.execute("DROP INDEX mine")


def test_a_copy_that_came_back_by_pg_restore_has_the_same_schema(
    server: EmbeddedServer, owner_connection: psycopg.Connection, tmp_path: Path
) -> None:
    """Under another name and with other roles, as its owner restored it."""
    url = (
        make_url(plain_url(server.owner_url()))
        .set(database="came_back")
        .render_as_string(hide_password=False)
    )
    programs, dump = packaged_programs().directory, tmp_path / "dump"
    owner_connection.execute("CREATE DATABASE came_back")
    try:
        dumped = [programs / "pg_dump", "--format=custom", f"--file={dump}", plain_url(server.owner_url())]
        subprocess.run(dumped, check=True)
        subprocess.run([programs / "pg_restore", "--exit-on-error", f"--dbname={url}", dump], check=True)
        migrate(url)
        with migrating(url) as migration:
            facts = read_catalog_of(migration.connection, migration.roles).facts
        differences = compare_facts(expected_facts(newest_revision()) or {}, facts)
        assert not differences, "\n".join(map(str, differences))
    finally:
        owner_connection.execute("DROP DATABASE came_back WITH (FORCE)")
        for role in (roles_of("came_back").service, roles_of("came_back").worker):
            owner_connection.execute(f"DROP ROLE IF EXISTS {role}")


def test_a_schema_that_says_two_revisions_is_refused(
    server: EmbeddedServer, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("INSERT INTO alembic_version VALUES ('0001')")
    try:
        with pytest.raises(MigrationError, match="names several revisions"):
            migrate(server.owner_url())
    finally:
        owner_connection.execute("DELETE FROM alembic_version WHERE version_num = '0001'")


async def test_what_is_told_before_an_upgrade_is_of_the_schema_that_is_there(
    server: EmbeddedServer, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("CREATE DATABASE older")
    url = make_url(server.owner_url()).set(database="older").render_as_string(hide_password=False)
    try:
        assert inspect_before_migrating(url) is None
        migrate(url, revision="0012")
        assert inspect_before_migrating(url) is None
        migrate(url, revision=FIRST)
        report = inspect_before_migrating(url)
        assert report is not None
        assert (report.revision, report.differences) == (FIRST, ())
        with psycopg.connect(plain_url(url)) as owner:
            owner.execute("ALTER TABLE vault DISABLE ROW LEVEL SECURITY")
        report = inspect_before_migrating(url)
        assert report is not None
        (told,) = report.looser
        assert report.describe(told).sentence == (
            "table vault: row security is off, must be on (ALTER TABLE vault ENABLE ROW LEVEL SECURITY)"
        )
    finally:
        owner_connection.execute("DROP DATABASE older WITH (FORCE)")
        for role in (roles_of("older").service, roles_of("older").worker):
            owner_connection.execute(f"DROP ROLE IF EXISTS {role}")
