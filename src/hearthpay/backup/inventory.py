"""The contents of a database as one transaction sees it: its origin, its rows by table, the keys it needs."""

from __future__ import annotations

import datetime
from typing import Final

from psycopg import sql

from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.manifest import Origin
from hearthpay.backup.source import Connection
from hearthpay.doctor.exposure import OPEN_CASES

# An owner bound by row security sees only what the policies show: it must be everything, or the backup is
# incomplete.
_HIDDEN: Final = """
SELECT c.oid::regclass::text FROM pg_class c
 WHERE c.relkind IN ('r', 'p') AND c.relrowsecurity AND row_security_active(c.oid)
   AND c.relnamespace::regnamespace::text NOT LIKE 'pg\\_%' AND c.relnamespace <> 'information_schema'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd = '*'
                   AND pg_get_expr(p.polqual, c.oid) = 'true'
                   AND current_user::regrole::oid = ANY(p.polroles))
"""
# A restrictive policy binds everyone with the rights of its role: before PostgreSQL 16 every member,
# including the owner. Since 0050 each of them excludes the owner.
_RESTRICTING: Final = """
SELECT DISTINCT p.polname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
 WHERE NOT p.polpermissive AND p.polcmd IN ('*', 'r') AND row_security_active(c.oid)
   AND EXISTS (SELECT FROM unnest(p.polroles) r
               WHERE CASE r WHEN 0 THEN true ELSE pg_has_role(current_user, r, 'USAGE') END)
   AND position('relowner' IN pg_get_expr(p.polqual, c.oid)) = 0
 ORDER BY p.polname
"""
_RESTRICTS: Final = {
    "own_record": "SELECT false",  # nobody is acted for here
    "held_after_restore": "SELECT EXISTS (SELECT FROM public.restorations WHERE resumed_at IS NULL)",
    "of_its_clock": "SELECT EXISTS (SELECT FROM public.household_clocks)",
}
"""The restrictive policies of the schemas before 0050, and whether they hide anything now."""
_TABLES: Final = (
    "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') "
    "AND NOT relispartition AND relname <> 'alembic_version' ORDER BY relname"
)
# Every encrypted value is stored with its nonce and the id of its key.
_SEALED: Final = (
    "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' "
    "AND column_name IN ('key_id', 'nonce') GROUP BY table_name HAVING count(*) = 2 ORDER BY table_name"
)
_ROLES: Final = (
    "SELECT DISTINCT r.rolname FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid "
    "WHERE d.refclassid = 'pg_authid'::regclass "
    "AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND r.rolname <> current_user ORDER BY r.rolname"
)
_SERVER: Final = "SELECT current_setting('server_version_num')::int, current_database(), current_user::text"
_SYSTEM: Final = "SELECT system_identifier::text FROM pg_control_system()"


def origin(connection: Connection, *, embedded: bool) -> Origin:
    """Return where the data comes from; RefusedError if the database isn't ours, BackupError if rows are hidden."""
    revision = None
    if connection.execute("SELECT to_regclass('public.alembic_version')").fetchone() == ("alembic_version",):
        row = connection.execute("SELECT version_num FROM public.alembic_version").fetchone()
        revision = None if row is None else str(row[0])
    if revision is None:
        raise RefusedError("the database holds no schema of Hearthpay's: there is nothing to back up")
    hidden = [row[0] for row in connection.execute(_HIDDEN)]
    if hidden:
        raise BackupError(
            f"row-level security hides rows of {hidden[0]} from this login: log in as the owner"
        )
    for (policy,) in connection.execute(_RESTRICTING).fetchall():
        if connection.execute(_RESTRICTS.get(policy, "SELECT true")).fetchone() == (True,):
            raise RefusedError(
                f"before PostgreSQL 16 the owner of this older schema ({revision}) does not see every row "
                f"({policy}): bring it up to date with `hearthpay migrate`, then back up"
            )
    server = connection.execute(_SERVER).fetchone()
    assert server is not None
    system = connection.execute(_SYSTEM).fetchone() if embedded else None
    return Origin(
        embedded=embedded,
        server_version=server[0],
        system_identifier=None if system is None else system[0],
        database=server[1],
        owner=server[2],
        roles=tuple(row[0] for row in connection.execute(_ROLES)),
        schema_revision=revision,
    )


def rows(connection: Connection) -> dict[str, int]:
    """Return how many rows each of our tables has."""
    counts = {}
    for (table,) in connection.execute(_TABLES).fetchall():
        counts[table] = _count(connection, table)
    return counts


def open_matters(connection: Connection, at: datetime.datetime) -> dict[str, int] | None:
    """Return the open amounts at the instant in cents, by kind and row; None if the schema is older than that."""
    if connection.execute("SELECT to_regproc('public.held_by_bank_files')").fetchone() == (None,):
        return None
    query = OPEN_CASES.replace("%", "%%").replace("CAST(:now AS", "CAST(%(now)s AS")
    found = connection.execute(
        f"SELECT kind, id::text, amount::bigint FROM ({query}) AS open ORDER BY 1, 2",  # noqa: S608 - our own text
        {"now": at},
    )
    return {f"{kind} {row}": cents for kind, row, cents in found}


def secrets_by_key(connection: Connection) -> dict[str, int]:
    """Return how many numbers and files each key has encrypted, by key id."""
    counts: dict[str, int] = {}
    for (table,) in connection.execute(_SEALED).fetchall():
        query = sql.SQL("SELECT key_id, count(*) FROM public.{} WHERE key_id IS NOT NULL GROUP BY key_id")
        for key_id, count in connection.execute(query.format(sql.Identifier(table))):
            counts[key_id] = counts.get(key_id, 0) + count
    return dict(sorted(counts.items()))


def is_empty(connection: Connection) -> bool:
    """Return whether the database has no data of anybody."""
    found = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema') "
        "OR EXISTS (SELECT FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' "
        "AND nspname NOT IN ('information_schema', 'public'))"
    ).fetchone()
    return found == (False,)


def _count(connection: Connection, table: str) -> int:
    row = connection.execute(
        sql.SQL("SELECT count(*) FROM public.{}").format(sql.Identifier(table))
    ).fetchone()
    assert row is not None
    return int(row[0])
