"""Names the tenant of a plain connection, signed as the service signs it."""

from __future__ import annotations

from functools import cache
from uuid import UUID

import psycopg

from hearthpay.database.embedded import OWNER_ROLE, ROLES
from hearthpay.database.installation import read_installation
from hearthpay.database.session import Database
from hearthpay.security.tenant_seal import TenantSeal


@cache
def _seal(host: str, port: int, database: str) -> TenantSeal:
    with psycopg.connect(host=host, port=port, dbname=database, user=OWNER_ROLE) as owner:
        return read_installation(owner).seal


def seal_of(connection: psycopg.Connection) -> TenantSeal:
    """The seal of the embedded database that the connection leads to."""
    return _seal(connection.info.host, connection.info.port, connection.info.dbname)


def enter(
    connection: psycopg.Connection,
    organization_id: UUID | str,
    *,
    sandbox: bool = False,
    employer_id: UUID | str | None = None,
) -> None:
    """Name the tenant for the rest of the session."""
    claim = seal_of(connection).claim(
        UUID(str(organization_id)),
        sandbox=sandbox,
        employer_id=UUID(str(employer_id)) if employer_id else None,
    )
    connection.execute("SELECT set_config('hearthpay.tenant', %s, false)", (claim,))


def service_database(service_url: str, way: str | None = None, **options: int) -> Database:
    """The embedded database as the service uses it, by its own login or another `way`."""
    with psycopg.connect(service_url.replace("+psycopg", "", 1)) as connection:
        seal = seal_of(connection)
    return Database(way or service_url, role=ROLES.service, seal=seal, **options)
