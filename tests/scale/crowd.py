"""Many households beside the one that is looked at: copies of it, each in another organization or all in the same one.

Every row that a table has of the household is there once more for each copy, with other ids; so the copies are what the
service writes, whatever that becomes. What is sealed for the household opens nothing in a copy.
"""

from __future__ import annotations

from uuid import UUID

import psycopg
from psycopg import sql

_TABLES = (
    "SELECT c.table_name, array_agg(c.column_name::text), array_agg(c.data_type::text) "
    "FROM information_schema.columns c JOIN pg_class t ON t.relname = c.table_name AND t.relkind = 'r' "
    "WHERE c.table_schema = 'public' AND t.relnamespace = 'public'::regnamespace AND c.is_generated = 'NEVER' "
    "GROUP BY c.table_name HAVING 'employer_id' = ANY(array_agg(c.column_name)) "
    "OR c.table_name IN ('organizations', 'employers') ORDER BY c.table_name"
)

_ALL_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"


def add_copies(
    connection: psycopg.Connection, household: UUID, first: int, last: int, *, same_organization: bool = False
) -> None:
    """Add the copies of these numbers, and have the planner know of them."""
    [(organization,)] = connection.execute(
        "SELECT organization_id FROM employers WHERE id = %s", (household,)
    ).fetchall()
    with connection.transaction():
        # Copies refer to copies; checking that again, row by row, would take most of the time.
        connection.execute("SET LOCAL session_replication_role = 'replica'")
        for table, names, kinds in connection.execute(_TABLES).fetchall():
            if same_organization and table == "organizations":
                continue
            owner, requested = {
                "organizations": ("id", organization),
                "employers": ("id", household),
            }.get(table, ("employer_id", household))
            columns = dict(zip(names, kinds, strict=True))
            kept = frozenset({"organization_id"} if same_organization else ())
            values = [_copied(name, kind, kept) for name, kind in columns.items()]
            connection.execute(
                sql.SQL(
                    "INSERT INTO {table} ({names}) SELECT {values} FROM (SELECT * FROM {table} WHERE {owner} = %s) s "
                    "CROSS JOIN generate_series(%s::int, %s::int) AS n"
                ).format(
                    table=sql.Identifier(table),
                    names=sql.SQL(", ").join(map(sql.Identifier, columns)),
                    values=sql.SQL(", ").join(values),
                    owner=sql.Identifier(owner),
                ),
                (requested, first, last),
            )
    tables = [
        name for (name,) in connection.execute(_ALL_TABLES).fetchall()
    ]  # those of the catalog are as before
    with connection.transaction():
        # Copies of one household differ in little.
        connection.execute("SET LOCAL default_statistics_target = 10")
        connection.execute(sql.SQL("ANALYZE {}").format(sql.SQL(", ").join(map(sql.Identifier, tables))))


def _copied(name: str, kind: str, kept: frozenset[str]) -> sql.Composable:
    """The value of a copy: ids keep the time in them, and end in the copy's number; secrets are nobody's."""
    column = sql.Identifier("s", name)
    if name in kept:
        return column
    if name == "is_primary" and kept:
        return sql.SQL("false")
    if kind == "uuid":
        return sql.SQL("overlay({}::text PLACING lpad(to_hex(n), 8, '0') FROM 29)::uuid").format(column)
    if kind == "bytea" and name.endswith(("_hash", "token")):
        return sql.SQL("sha256({} || int4send(n))").format(column)
    if name == "notice_key":
        return sql.SQL("{} || '/' || n").format(column)
    return column
