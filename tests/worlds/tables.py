"""The tables of the schema, as its migrations make them; a test holds that a migrated database has just these.

They are read from the migrations' text, since the names of many tests are known before any database runs.
"""

import re
from graphlib import TopologicalSorter
from pathlib import Path

from hearthpay.database import migrations

_VERSIONS = Path(migrations.__file__).parent / "versions"
_CREATED = re.compile(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)
_STATEMENT = re.compile(r"\b(?:CREATE|ALTER) TABLE (?:IF NOT EXISTS )?(\w+)\b([^;]*)")
_DROPPED = re.compile(r"^DROP TABLE (\w+);", re.MULTILINE)
_REFERENCE = re.compile(r"\bREFERENCES (\w+)")

# All others of a tenant tell real rows from sandbox ones.
_OF_BOTH_MODES = ("organizations", "api_keys", "memberships", "member_invitations")

SANDBOX_ONLY = ("household_clocks",)
"""Tables of which no real household has a row."""

OWN_TABLES = ("installation", "alembic_version")
"""What the migrations themselves write, and no test empties."""


def _read() -> dict[str, str]:
    """Name and columns of each table, parents before their children."""
    text = "\n".join(path.read_text() for path in sorted(_VERSIONS.glob("*.py")))
    left_out = {*OWN_TABLES, *_DROPPED.findall(text)}
    columns = {name: told for name, told in _CREATED.findall(text) if name not in left_out}
    parents: dict[str, set[str]] = {name: set() for name in columns}
    for name, rest in _STATEMENT.findall(text):
        if name in parents:
            parents[name] |= set(_REFERENCE.findall(rest)) & (columns.keys() - {name})
    order = TopologicalSorter({name: sorted(those) for name, those in parents.items()}).static_order()
    return {name: columns[name] for name in order}


def _belongs_to_a_tenant(name: str, columns: str) -> bool:
    return name in _OF_BOTH_MODES or all(
        re.search(rf"^\s*{key}\b", columns, re.MULTILINE) for key in ("organization_id", "sandbox")
    )


_MADE = _read()

TABLES = tuple(name for name, columns in reversed(_MADE.items()) if _belongs_to_a_tenant(name, columns))
"""The tenants' tables, children before their parents."""

INSTALLATION_TABLES = tuple(name for name in reversed(_MADE) if name not in TABLES)
"""What is no tenant's: of the installation, to which the service's role has no right, and of people, each his own."""

_VERSIONS_OF_RECORDS = "record_versions"
EMPTIED = (*(name for name in reversed(_MADE) if name != _VERSIONS_OF_RECORDS), _VERSIONS_OF_RECORDS)
"""All of them, children before their parents, whosever they are; the versions last, since a deletion leaves one."""

EMPTYING = "; ".join(f"DELETE FROM {table}" for table in EMPTIED)
"""The statements that leave no row of an earlier test."""

_LARGE = 8_000_000
_SIZE = " + ".join(f"pg_relation_size('{table}')" for table in ("paychecks", "month_balances", "audit_log"))

EMPTYING_FUNCTION = f"""
CREATE FUNCTION pg_temp.empty_tables() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF {_SIZE} > {_LARGE} THEN
        BEGIN
            PERFORM set_config('lock_timeout', '100ms', true);
            TRUNCATE {", ".join(EMPTIED)};
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            NULL;
        END;
    END IF;
    {EMPTYING};
END
$$
"""
"""A function of one connection that runs these statements and keeps their plans: each test begins with it.

As nothing is left, no trigger and no foreign key needs to look at what goes: session_replication_role of that
connection is replica. It is set once, as each change of it makes PostgreSQL plan everything anew.

After a test of many rows it truncates the tables: deleted rows take room that all later tests would read through. That
takes as long as emptying them hundred times, and needs locks that something left running may hold.
"""

EMPTY = "SELECT pg_temp.empty_tables()"
