"""Puts what a landed migration says into the words of the server and the database at hand.

Landed migrations are never edited. They were written for PostgreSQL 18, and call the acting roles `hearthpay_service`
and `hearthpay_worker`: their names in a database called `hearthpay`, which stand for its own in any other.
"""

from __future__ import annotations

from typing import Any, Self

import psycopg

from hearthpay.database.installation import Roles

# Each rule: the first version that understands the words, the words, and what to say before it.
_OLDER_WORDS = (
    # Such a default is never used, and later migrations drop it: ids are made by the program.
    (180000, "uuidv7()", "gen_random_uuid()"),
    # Before 16 every membership allows SET, and whether it inherits is the member's own attribute.
    (160000, " WITH SET TRUE, INHERIT FALSE", ""),
    (160000, "'SET')", "'MEMBER')"),
)


def rendering_cursor(roles: Roles, server_version: int) -> type[psycopg.Cursor[Any]]:
    """A cursor that renders every statement for a server of this version and a database with these roles."""
    words = [("hearthpay_service", roles.service), ("hearthpay_worker", roles.worker)]
    words += [(written, said) for since, written, said in _OLDER_WORDS if server_version < since]

    class RenderingCursor(psycopg.Cursor[Any]):
        """Sends what it is given in this database's words."""

        def execute(self, query: Any, *arguments: Any, **options: Any) -> Self:
            """As psycopg's own."""
            if isinstance(query, str):
                for written, said in words:
                    query = query.replace(written, said)
            return super().execute(query, *arguments, **options)

    return RenderingCursor
