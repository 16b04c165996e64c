"""What makes a database an installation: its roles, the seal of its tenants, its schema.

Roles belong to a whole PostgreSQL server, so each database has its own, named after it: two installations on one
server share nothing.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from hearthpay.security.tenant_seal import TenantSeal

_LONGEST_NAME: Final = 63  # PostgreSQL cuts longer ones off
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Roles:
    """The two roles that act in a database. They own nothing and cannot bypass row-level security."""

    service: str
    """Acts for one tenant at a time: the API and the pages."""
    worker: str
    """The worker: acts for every tenant, and may write only what its duties need."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What a program must know of a database before it can use it."""

    owner: str
    """The role that owns the tables: migrates, and sees every row for the operator."""
    roles: Roles
    seal: TenantSeal
    revision: str
    """The schema's."""


class ForeignSchemaError(Exception):
    """The database isn't one of this program's, or the login isn't its owner's; the message says which."""


def roles_of(database: str) -> Roles:
    """Return the roles of the database with this name: `<database>_service` and `<database>_worker`.

    A name other than plain lower-case letters, digits and underscores is simplified and made unique by a digest.
    """
    return Roles(_role_name(database, "service"), _role_name(database, "worker"))


def _role_name(database: str, part: str) -> str:
    if _PLAIN.fullmatch(database) and len(database) + 1 + len(part) <= _LONGEST_NAME:
        return f"{database}_{part}"
    digest = hashlib.sha256(database.encode()).hexdigest()[:8]
    stem = re.sub(r"[^a-z0-9_]", "_", database.lower())[: _LONGEST_NAME - len(part) - len(digest) - 2]
    return f"{stem if _PLAIN.match(stem) else f'_{stem[1:]}'}_{digest}_{part}"


def read_installation(connection: Connection[tuple[object, ...]]) -> Installation:
    """Return the installation as its owner reads it, in the connection's transaction. Raises ForeignSchemaError."""
    known = connection.execute("SELECT to_regclass('public.installation') IS NOT NULL").fetchone()
    if known != (True,):
        raise ForeignSchemaError("the database has no schema of this program: run `hearthpay migrate`")
    owned = connection.execute(
        "SELECT pg_get_userbyid(relowner), pg_has_role(relowner, 'MEMBER') FROM pg_class "
        "WHERE oid = 'public.installation'::regclass"
    ).fetchone()
    assert owned is not None
    owner, may_act = str(owned[0]), bool(owned[1])
    if not may_act:
        raise ForeignSchemaError(f"the tables belong to {owner}: DATABASE_URL must log in as that role")
    connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(owner)))
    row = connection.execute(
        "SELECT service_role, worker_role, tenant_secret, (SELECT version_num FROM public.alembic_version) "
        "FROM public.installation"
    ).fetchone()
    connection.execute("RESET ROLE")
    if row is None:
        raise ForeignSchemaError("the table installation is empty: the database was not restored whole")
    service, worker, secret, revision = row
    return Installation(owner, Roles(str(service), str(worker)), TenantSeal(_bytes(secret)), str(revision))


def rename(connection: Connection[tuple[object, ...]], database: str, roles: Roles) -> None:
    """Make a database copied from one of another name its own installation.

    Its tenants are then signed with its own secret and by its own roles. Changes nothing for any other.
    """
    secret = TenantSeal.new_secret()
    inner, outer = (bytes(byte ^ pad for byte in secret.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    connection.execute(
        "UPDATE public.installation SET database_name = %s, service_role = %s, worker_role = %s, tenant_secret = %s, "
        "inner_pad = %s, outer_pad = %s WHERE database_name <> %s",
        (database, roles.service, roles.worker, secret, inner, outer, database),
    )


def _bytes(value: object) -> bytes:
    assert isinstance(value, bytes | bytearray | memoryview)
    return bytes(value)
