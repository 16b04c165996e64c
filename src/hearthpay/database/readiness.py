"""Whether a database can be worked with at this moment."""

from __future__ import annotations

from functools import cache
from typing import Final

from sqlalchemy import text

from hearthpay.database.migrations import newest_revision
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database

# A message into the write-ahead log is the smallest write there is: no row, nothing to clean up, and yet it needs the
# primary server, a disk with room, and a commit that reaches it.
_PROBE: Final = text(
    "SELECT (SELECT version_num FROM alembic_version), pg_logical_emit_message(true, 'hearthpay', 'ready')"
)


class WrongSchemaError(DatabaseUnavailable):
    """The schema is of another version than this program: another one is being brought out, or was taken back."""


async def require_ready(database: Database) -> None:
    """Write and commit. Raises DatabaseUnavailable where that fails, WrongSchemaError for another schema's program."""
    async with database.transaction(None) as session:
        revision, _ = (await session.execute(_PROBE)).one()
    if revision != _own_revision():
        raise WrongSchemaError(
            f"the database's schema is at {revision}, this program is of {_own_revision()}: start the newer program"
        )


@cache
def _own_revision() -> str:
    return newest_revision()
