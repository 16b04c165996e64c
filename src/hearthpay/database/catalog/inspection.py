"""Compares a database's catalog with the one of its schema, and refuses to serve where it is looser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.catalog.differences import SchemaDifference, compare_facts
from hearthpay.database.catalog.expected import expected_facts
from hearthpay.database.catalog.facts import Catalog, read_catalog, read_catalog_of
from hearthpay.database.catalog.words import ToldDifference, describe, role_names
from hearthpay.database.installation import ForeignSchemaError, Roles, read_installation, roles_of
from hearthpay.database.migrations import current_revision, migrating, newest_revision
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_one, query


class _DatabaseRow(NamedTuple):
    name: str


_DATABASE: Final = query(_DatabaseRow, "SELECT current_database() AS name")
_REFUSAL_TELLS: Final = 3
_LOG_TELLS: Final = 20
_log = structlog.get_logger("hearthpay.schema")


class LooserSchemaError(Exception):
    """The database allows more than its schema; the message names what, and what mends it."""


@dataclass(frozen=True, slots=True)
class SchemaReport:
    """How a database differs from the schema of its revision, first what is looser."""

    revision: str
    differences: tuple[SchemaDifference, ...]
    names: Mapping[str, str]
    """This database's roles, by the names that the catalog has for them."""

    @property
    def looser(self) -> tuple[SchemaDifference, ...]:
        """What allows more than the schema."""
        return tuple(each for each in self.differences if each.looser)

    @property
    def wrong(self) -> tuple[SchemaDifference, ...]:
        """All but an administrator's own additions."""
        return tuple(each for each in self.differences if not each.harmless)

    @property
    def additions(self) -> tuple[SchemaDifference, ...]:
        """An administrator's own additions, which hinder nobody."""
        return tuple(each for each in self.differences if each.harmless)

    def describe(self, difference: SchemaDifference) -> ToldDifference:
        """Return one of the differences in words."""
        return describe(difference, self.names)


async def inspect_schema(session: AsyncSession) -> SchemaReport:
    """Compare the newest schema with what the session's transaction sees; any of our logins may."""
    roles = roles_of((await fetch_one(session, _DATABASE)).name)
    return _report(newest_revision(), await read_catalog(session, roles), roles)


def inspect_before_migrating(owner_url: str) -> SchemaReport | None:
    """Compare the schema of the database's own revision with what it has, with the owner's login.

    Returns None if there is no schema, or one whose catalog isn't known. Raises as `migrating`.
    """
    revision = current_revision(owner_url)
    if revision is None or expected_facts(revision) is None:
        return None
    with migrating(owner_url) as migration:
        try:
            roles = read_installation(migration.driver).roles
        except ForeignSchemaError:
            roles = migration.roles
        return _report(revision, read_catalog_of(migration.connection, roles), roles)


async def require_tight_schema(database: Database) -> None:
    """Log how the schema differs. Raises LooserSchemaError instead if somebody can see or do more."""
    async with database.transaction(None) as session:
        report = await inspect_schema(session)
    if not report.looser:
        _log_differences(report)
        return
    told = "; ".join(report.describe(each).sentence for each in report.looser[:_REFUSAL_TELLS])
    more = len(report.looser) - _REFUSAL_TELLS
    raise LooserSchemaError(
        f"the database allows more than its schema, so nothing is served: {told}"
        f"{f'; and {more} more' if more > 0 else ''}. `hearthpay doctor` lists all"
    )


async def tell_schema(database: Database) -> None:
    """Log how the schema differs: a line for each of the first differences, and how many more there are."""
    async with database.transaction(None) as session:
        _log_differences(await inspect_schema(session))


def _log_differences(report: SchemaReport) -> None:
    for each in report.differences[:_LOG_TELLS]:
        told = report.describe(each)
        log = _log.info if each.harmless else _log.error if each.looser else _log.warning
        log(
            "schema_differs",
            code=each.code,
            object=told.subject,
            recorded=told.recorded,
            expected=told.expected,
            remedy=told.remedy,
            looser=each.looser,
        )
    if len(report.differences) > _LOG_TELLS:
        _log.warning("schema_differs_further", count=len(report.differences) - _LOG_TELLS)


def _report(revision: str, catalog: Catalog, roles: Roles) -> SchemaReport:
    expected = expected_facts(revision)
    assert expected is not None
    differences = tuple(compare_facts(expected, catalog.facts))
    return SchemaReport(revision, differences, role_names(roles, catalog.owner))
