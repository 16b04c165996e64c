"""The catalog of the schema is known; what differs is told with what mends it, and what is looser is refused."""

from __future__ import annotations

import re

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.catalog.differences import DifferenceCode
from hearthpay.database.catalog.expected import CHANGES, FIRST, SCHEMA, expected_facts, format_facts
from hearthpay.database.catalog.facts import read_catalog
from hearthpay.database.catalog.inspection import (
    inspect_schema,
    require_tight_schema,
)
from hearthpay.database.embedded import DATABASE, OWNER_ROLE, ROLES
from hearthpay.database.migrations import newest_revision, revisions
from hearthpay.database.session import Database
from hearthpay.doctor.schema_checks import schema, schema_additions
from tests.cases import every_case
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
