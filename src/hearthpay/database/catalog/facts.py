"""Reads the catalog of a database as facts: its tables, columns, policies, functions, rights and roles.

A fact is a kind, a name and a value, all text, in a form that doesn't depend on the server's version, on the order of
columns, or on the names of the database and its roles: these are `<owner>`, `<service>` and `<worker>`. What an
extension brought is left out, and of PostgreSQL's own objects all but the rights of our roles.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.catalog.expressions import normalize
from hearthpay.database.catalog.relation_facts import RELATION_QUERIES, FactRow
from hearthpay.database.catalog.right_facts import OBJECT_QUERIES, ROLE_QUERIES
from hearthpay.database.installation import Roles
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query

Facts = Mapping[tuple[str, str], str]
"""The value of each fact, by its kind and name."""


class _OwnerRow(NamedTuple):
    owner: str


_OWNER: Final = query(
    _OwnerRow,
    "SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE oid = to_regclass('public.installation')",
)
# PostgreSQL writes names as this path asks for.
_SEARCH_PATH: Final = text("SELECT set_config('search_path', 'public', true)")
_PLAIN_QUERIES: Final = (*RELATION_QUERIES, *OBJECT_QUERIES)
_ROLE: Final = re.compile(r"<([^<>]+)>")
_DIGEST_LENGTH: Final = 16
_OF_OLDER_SERVERS: Final = {
    # Before PostgreSQL 18 it makes the ids of version 7 itself; a copy on a newer server still does.
    (
        "function",
        "new_id()",
        (
            "owner <owner>, returns uuid, language plpgsql, volatile, set search_path=pg_catalog, pg_temp, "
            "text 98196e1095670ffb"
        ),
    ): "owner <owner>, returns uuid, language sql, volatile, text 7ad2c5f1a8380e76",
}
"""What the migrations make on a server before 18, by kind, name and value: what they make on the newest."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """What a database has, and the name of the role that owns its schema."""

    facts: Facts
    owner: str


async def read_catalog(session: AsyncSession, roles: Roles) -> Catalog:
    """Return the catalog as the session's transaction sees it; `roles` are the database's own."""
    await session.execute(_SEARCH_PATH)
    owner = await fetch_optional(session, _OWNER)
    rows = [row for each in _PLAIN_QUERIES for row in await fetch_all(session, each)]
    parameters = {"service": roles.service, "worker": roles.worker}
    rows += [row for each in ROLE_QUERIES for row in await fetch_all(session, each, parameters)]
    return _catalog(rows, roles, owner)


def read_catalog_of(connection: Connection, roles: Roles) -> Catalog:
    """Return the catalog as the connection's transaction sees it, for callers without an event loop."""
    connection.execute(_SEARCH_PATH)
    found = connection.execute(_OWNER.statement).one_or_none()
    owner = None if found is None else _OwnerRow._make(found)
    rows = [FactRow._make(row) for each in _PLAIN_QUERIES for row in connection.execute(each.statement)]
    parameters = {"service": roles.service, "worker": roles.worker}
    rows += [
        FactRow._make(row) for each in ROLE_QUERIES for row in connection.execute(each.statement, parameters)
    ]
    return _catalog(rows, roles, owner)


def _catalog(rows: Iterable[FactRow], roles: Roles, owner: _OwnerRow | None) -> Catalog:
    known = {roles.service: "<service>", roles.worker: "<worker>"}
    if owner is not None:
        known[owner.owner] = "<owner>"

    def rename(told: str) -> str:
        return _ROLE.sub(lambda role: known.get(role[1], role[0]), told)

    facts = {}
    for row in rows:
        value = _with_digest(row.value, roles) if row.kind == "function" else row.value
        name, value = rename(row.name), rename(normalize(value))
        facts[row.kind, name] = _OF_OLDER_SERVERS.get((row.kind, name, value), value)
    return Catalog(facts, "owner" if owner is None else owner.owner)


def _with_digest(function: str, roles: Roles) -> str:
    """Return what a function is with a digest of its text, in which the roles have the names of the migrations."""
    told, _, body = function.partition("\n")
    for name, written in ((roles.service, "hearthpay_service"), (roles.worker, "hearthpay_worker")):
        body = re.sub(rf"\b{re.escape(name)}\b", written, body)
    return f"{told}, text {hashlib.sha256(body.encode()).hexdigest()[:_DIGEST_LENGTH]}"
