"""Tables without triggers, references and row security, so that rows of a backup are restored as they are.

Triggers would write again what the backup already has (the audit chain's seals, the queue's events) or refuse changes
to a closed past; references would be broken until the last table is filled; and COPY isn't available where row-level
security binds the owner. All of it is removed and restored in the transaction that fills the tables, and then every
reference is verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from psycopg import sql

from hearthpay.backup.progress import Tell
from hearthpay.backup.source import Connection

_TABLES: Final = """
SELECT n.nspname, c.relname, c.relforcerowsecurity, pg_relation_size(c.oid) > 0
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname IN ('public', 'procrastinate') AND c.relkind IN ('r', 'p') AND c.relname <> 'alembic_version'
 ORDER BY n.nspname, c.relname
"""
_REFERENCES: Final = """
SELECT n.nspname, c.relname, r.conname, pg_get_constraintdef(r.oid), obj_description(r.oid, 'pg_constraint')
  FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname IN ('public', 'procrastinate') AND r.contype = 'f' AND r.conparentid = 0
 ORDER BY n.nspname, c.relname, r.conname
"""
_TRIGGERS: Final = """
SELECT n.nspname, c.relname, t.tgname, t.tgenabled::text
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname IN ('public', 'procrastinate') AND c.relkind IN ('r', 'p') AND NOT t.tgisinternal
   AND t.tgenabled <> 'D'
 ORDER BY n.nspname, c.relname, t.tgname
"""
_ENABLED: Final = {"O": "ENABLE TRIGGER", "A": "ENABLE ALWAYS TRIGGER", "R": "ENABLE REPLICA TRIGGER"}


@contextmanager
def bare_tables(connection: Connection, tell: Tell) -> Iterator[None]:
    """Empty our tables and make them accept any row within the block, in the transaction that created them.

    At the end everything is as the migrations made it, and every reference holds. Raises psycopg's errors if one
    doesn't.
    """
    connection.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with pending checks can't be altered
    tables = connection.execute(_TABLES).fetchall()
    references = connection.execute(_REFERENCES).fetchall()
    triggers = connection.execute(_TRIGGERS).fetchall()
    filled = [sql.Identifier(schema, table) for schema, table, _, holds in tables if holds]
    baring = _Changes()
    for schema, table, name, *_ in references:
        baring.add(schema, table, "DROP CONSTRAINT {}", name)
    for schema, table, name, _ in triggers:
        baring.add(schema, table, "DISABLE TRIGGER {}", name)
    for schema, table, force, _ in tables:
        if force:
            baring.add(schema, table, "NO FORCE ROW LEVEL SECURITY")
    baring.make(connection)
    if filled:
        connection.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(filled)))
    yield
    tell("checking references …")
    referring = _Changes()
    for schema, table, name, definition, _ in references:
        referring.add(schema, table, "ADD CONSTRAINT {} " + definition, name)
    referring.make(connection)
    for schema, table, name, _, comment in references:
        if comment is not None:
            connection.execute(
                sql.SQL("COMMENT ON CONSTRAINT {} ON {} IS {}").format(
                    sql.Identifier(name), sql.Identifier(schema, table), sql.Literal(comment)
                )
            )
    closing = _Changes()
    for schema, table, name, how in triggers:
        closing.add(schema, table, _ENABLED[how] + " {}", name)
    for schema, table, force, _ in tables:
        if force:
            closing.add(schema, table, "FORCE ROW LEVEL SECURITY")
    closing.make(connection)


class _Changes:
    """Changes of many tables. Those of one table are made by one statement: each statement reads its catalog again."""

    def __init__(self) -> None:
        self._by_table: dict[tuple[str, str], list[sql.Composable]] = {}

    def add(self, schema: str, table: str, change: str, *names: str) -> None:
        """`change` is a constant of this module, or from the catalog."""
        composed = sql.SQL(change).format(*map(sql.Identifier, names))
        self._by_table.setdefault((schema, table), []).append(composed)

    def make(self, connection: Connection) -> None:
        for (schema, table), changes in self._by_table.items():
            relation = sql.Identifier(schema, table)
            connection.execute(sql.SQL("ALTER TABLE {} ").format(relation) + sql.SQL(", ").join(changes))
