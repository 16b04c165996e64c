"""The roles that a backup's rights and policies name, where it is restored: they must exist before, and fit after.

A dump names roles but does not hold them. Those that are missing are made without login; then the schema is taken over
by whoever restores it. Everything happens in the restoring transaction. The acting roles are then settled by the
migration: a database that came under another name gets its own.
"""

from __future__ import annotations

from typing import Final

from psycopg import sql

from hearthpay.backup.manifest import Origin
from hearthpay.backup.source import Connection

_POLICIES: Final = (
    "SELECT p.polname, n.nspname, c.relname, "
    "ARRAY(SELECT CASE WHEN r.rolname = %(former)s THEN current_user ELSE r.rolname END "
    "FROM pg_roles r WHERE r.oid = ANY(p.polroles)) "
    "FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE (SELECT oid FROM pg_roles WHERE rolname = %(former)s) = ANY(p.polroles)"
)
_SET_ROLE: Final = 160000
"""From PostgreSQL 16 on a member's rights to inherit and to act as the role are granted apart."""


def prepare_roles(connection: Connection, origin: Origin) -> tuple[str, ...]:
    """Make the roles that are missing; return those that were made."""
    made = []
    for role in (origin.owner, *origin.roles):
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
            connection.execute(
                sql.SQL(
                    "CREATE ROLE {} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT"
                ).format(sql.Identifier(role))
            )
            made.append(role)
    return tuple(made)


def take_over(connection: Connection, origin: Origin, made: tuple[str, ...]) -> None:
    """Point the owner's policies to the login that restores, and remove the former owner's role if it was made here."""
    user = connection.execute("SELECT current_user::text").fetchone()
    if user == (origin.owner,):
        return
    for policy, schema, table, roles in connection.execute(_POLICIES, {"former": origin.owner}).fetchall():
        connection.execute(
            sql.SQL("ALTER POLICY {} ON {} TO {}").format(
                sql.Identifier(policy),
                sql.Identifier(schema, table),
                sql.SQL(", ").join(map(sql.Identifier, roles)),
            )
        )
    if origin.owner in made:
        _let_act_as(connection, origin.owner)
        connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(origin.owner)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(origin.owner)))


def _let_act_as(connection: Connection, role: str) -> None:
    newer = connection.info.server_version >= _SET_ROLE
    right = "SET" if newer else "MEMBER"
    if connection.execute("SELECT pg_has_role(current_user, %s, %s)", (role, right)).fetchone() == (True,):
        return
    how = sql.SQL(" WITH SET TRUE, INHERIT FALSE" if newer else "")
    connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(role)) + how)
