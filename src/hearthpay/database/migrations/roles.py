"""Gives a database the roles of its name, even if it came with those of another: a copy, a restored backup."""

from __future__ import annotations

import contextlib
from typing import Final

import psycopg
import structlog
from psycopg.sql import SQL, Composed, Identifier

from hearthpay.database.installation import ForeignSchemaError, Roles

_log = structlog.get_logger(__name__)

_Connection = psycopg.Connection[tuple[object, ...]]

# The policy of a role identifies it, whatever the database is called today.
_ACTING: Final = {"service": "tenant", "worker": "worker"}
_ROLE_IN_POLICIES: Final = (
    "SELECT DISTINCT pg_get_userbyid(acting) FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid, "
    "unnest(p.polroles) acting WHERE c.relnamespace = 'public'::regnamespace AND p.polname = %s"
)
_POLICIES: Final = (
    "SELECT p.polname, c.relnamespace::regnamespace::text, c.relname "
    "FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE to_regrole(quote_ident(%s)) = ANY(p.polroles)"
)
# The role's grants in this database: the object as GRANT names it, and the privilege.
_GRANTS: Final = """
    WITH granted AS (
        SELECT 'SCHEMA ' || quote_ident(nspname) AS object, a.* FROM pg_namespace, aclexplode(nspacl) a
        UNION ALL
        SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || c.oid::regclass, a.*
          FROM pg_class c, aclexplode(relacl) a
        UNION ALL
        SELECT '(' || quote_ident(attname) || ') ON TABLE ' || attrelid::regclass, a.*
          FROM pg_attribute, aclexplode(attacl) a WHERE attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT 'ROUTINE ' || p.oid::regprocedure, a.* FROM pg_proc p, aclexplode(proacl) a
    )
    SELECT object, privilege_type FROM granted WHERE grantee = to_regrole(quote_ident(%s))
"""
_OWN_SETTINGS: Final = (
    "SELECT 1 FROM pg_db_role_setting s WHERE s.setrole = to_regrole(quote_ident(%s)) "
    "AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))"
)
_ROLE: Final = "SELECT rolsuper OR rolbypassrls OR rolcreaterole FROM pg_roles WHERE rolname = %s"


def settle_roles(connection: _Connection, roles: Roles) -> None:
    """Transfer the rights of another name's roles in this database to its own; does nothing without a schema.

    Also keeps others out: roles that aren't named may neither connect nor create temporary tables. Raises
    ForeignSchemaError if a role could bypass the policies.
    """
    with connection.cursor() as cursor:
        for part, policy in _ACTING.items():
            own: str = getattr(roles, part)
            for (acting,) in cursor.execute(_ROLE_IN_POLICIES, (policy,)).fetchall():
                _make(cursor, own)
                if acting != own:
                    _hand_over(cursor, str(acting), own)
        cursor.execute(
            "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()"
        )
        if cursor.fetchone() == (True,):
            cursor.execute(_formatted(cursor, "REVOKE CONNECT, TEMPORARY ON DATABASE {} FROM PUBLIC"))


def _make(cursor: psycopg.Cursor[tuple[object, ...]], role: str) -> None:
    """Create the role if needed, able to connect, and make us a member of it."""
    name = Identifier(role)
    if cursor.execute(_ROLE, (role,)).fetchone() is None:
        cursor.execute(
            SQL(
                "DO $$ BEGIN CREATE ROLE {} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT; "
                "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
            ).format(name)
        )
    if cursor.execute(_ROLE, (role,)).fetchone() != (False,):
        raise ForeignSchemaError(f"the role {role} must not be able to bypass row-level security")
    modern = cursor.connection.info.server_version >= 160000
    kind = "SET" if modern else "MEMBER"
    if cursor.execute("SELECT pg_has_role(current_user, %s, %s)", (role, kind)).fetchone() != (True,):
        options = SQL(" WITH SET TRUE, INHERIT FALSE" if modern else "")
        cursor.execute(SQL("GRANT {} TO CURRENT_USER{}").format(name, options))
    cursor.execute(_formatted(cursor, "GRANT CONNECT ON DATABASE {} TO {}", name))
    if cursor.execute(_OWN_SETTINGS, (role,)).fetchone() is not None:
        _forget_settings(cursor, role)


def _forget_settings(cursor: psycopg.Cursor[tuple[object, ...]], role: str) -> None:
    """Every role, even a compromised one, may store settings for its next logins: ours have none."""
    try:
        with cursor.connection.transaction():
            cursor.execute(SQL("ALTER ROLE {} RESET ALL").format(Identifier(role)))
            cursor.execute(_formatted(cursor, "ALTER ROLE {1} IN DATABASE {0} RESET ALL", Identifier(role)))
    except psycopg.errors.InsufficientPrivilege:
        _log.warning("role_has_settings_of_its_own", role=role)
    else:
        _log.warning("role_settings_reset", role=role)


def _hand_over(cursor: psycopg.Cursor[tuple[object, ...]], old: str, new: str) -> None:
    for policy, schema, table in cursor.execute(_POLICIES, (old,)).fetchall():
        cursor.execute(
            SQL("ALTER POLICY {} ON {}.{} TO {}").format(
                Identifier(str(policy)), Identifier(str(schema)), Identifier(str(table)), Identifier(new)
            )
        )
    for obj, privilege in cursor.execute(_GRANTS, (old,)).fetchall():
        column = str(obj).startswith("(")
        place = f"{privilege} {obj}" if column else f"{privilege} ON {obj}"
        # The catalog has quoted these names itself.
        cursor.execute(SQL(f"GRANT {place} TO {{}}").format(Identifier(new)))
        cursor.execute(SQL(f"REVOKE {place} FROM {{}}").format(Identifier(old)))
    cursor.execute(_formatted(cursor, "REVOKE ALL ON DATABASE {} FROM {}", Identifier(old)))
    _drop_if_unused(cursor, old)


def _drop_if_unused(cursor: psycopg.Cursor[tuple[object, ...]], role: str) -> None:
    """Drop a role that nobody logs in as and that no other database uses."""
    if cursor.execute("SELECT rolcanlogin FROM pg_roles WHERE rolname = %s", (role,)).fetchone() != (False,):
        return
    kept = (psycopg.errors.DependentObjectsStillExist, psycopg.errors.InsufficientPrivilege)
    with contextlib.suppress(*kept), cursor.connection.transaction():
        cursor.execute(SQL("DROP ROLE {}").format(Identifier(role)))


def _formatted(cursor: psycopg.Cursor[tuple[object, ...]], statement: str, *names: Identifier) -> Composed:
    """Return the statement with this database's name as its first identifier."""
    row = cursor.execute("SELECT current_database()").fetchone()
    assert row is not None
    return SQL(statement).format(Identifier(str(row[0])), *names)
