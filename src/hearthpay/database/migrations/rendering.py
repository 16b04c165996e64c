"""Adapts landed migrations to the server's version and the database's role names.

Landed migrations are never edited. They were written for PostgreSQL 18, and name the acting roles `hearthpay_service`
and `hearthpay_worker`: those of a database called `hearthpay`, which stand for its own roles in any other.
"""

from __future__ import annotations

import re
from typing import Any, Self

import psycopg

from hearthpay.database.installation import Roles

# Each rule: the first version that understands the syntax, the syntax, and its replacement.
_OLDER_WORDS = (
    # Such a default is never used, and later migrations drop it: the program generates ids.
    (180000, "uuidv7()", "gen_random_uuid()"),
    # Before 16 every membership allows SET, and whether it inherits is the member's own attribute.
    (160000, " WITH SET TRUE, INHERIT FALSE", ""),
    (160000, "'SET')", "'MEMBER')"),
)
# Before 17 a value added to an enumeration can't be used in the same transaction, even if the type was
# created in it: there the types are created with all their values at once. Their order means nothing.
_WHOLE_TYPES = (
    (
        170000,
        "CREATE TYPE procrastinate_job_status AS ENUM (",
        "CREATE TYPE procrastinate_job_status AS ENUM ('cancelled', 'aborting', 'aborted',",
    ),
    (
        170000,
        "CREATE TYPE procrastinate_job_event_type AS ENUM (",
        "CREATE TYPE procrastinate_job_event_type AS ENUM ('abort_requested', 'aborted', 'retried',",
    ),
)
_ADDED_VALUE = re.compile(r"ALTER TYPE procrastinate_job_\w+ ADD VALUE '\w+'(?: (?:BEFORE|AFTER) '\w+')?;")


def rendering_cursor(roles: Roles, server_version: int) -> type[psycopg.Cursor[Any]]:
    """Return a cursor that adapts every statement to a server of this version and a database with these roles."""
    words = [("hearthpay_service", roles.service), ("hearthpay_worker", roles.worker)]
    rules = _OLDER_WORDS + _WHOLE_TYPES
    words += [(written, replacement) for since, written, replacement in rules if server_version < since]
    whole_types = server_version < _WHOLE_TYPES[0][0]

    class RenderingCursor(psycopg.Cursor[Any]):
        """Executes statements as adapted to this database."""

        def execute(self, query: Any, *arguments: Any, **options: Any) -> Self:
            """As psycopg's own."""
            if isinstance(query, str):
                for written, replacement in words:
                    query = query.replace(written, replacement)
                if whole_types:
                    query = _ADDED_VALUE.sub("", query)
            return super().execute(query, *arguments, **options)

    return RenderingCursor
