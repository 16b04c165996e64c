"""Whether a database can be used right now."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from sqlalchemy import text

from hearthpay.database.migrations import newest_revision
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_one, query

# No row is written, so nothing has to be cleaned up. A message into the write-ahead log needs the primary
# server and a commit that reaches the disk; a sort that doesn't fit into so little memory needs disk space.
_LITTLE_MEMORY: Final = text("SELECT set_config('work_mem', '64kB', true)")


class _ProbeRow(NamedTuple):
    revision: str | None
    read_only: bool
    logged: str | None
    sorted: int


_PROBE: Final = query(
    _ProbeRow,
    "SELECT (SELECT version_num FROM alembic_version) AS revision, "
    "pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only, "
    "CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_logical_emit_message(true, 'hearthpay', 'ready') END AS logged, "
    "(SELECT count(*) FROM (SELECT repeat(md5(n::text), 64) FROM generate_series(1, 4096) n ORDER BY 1 OFFSET 0) s) "
    "AS sorted",
)
_READ_ONLY: Final = "25006"


class WrongSchemaError(DatabaseUnavailable):
    """The schema is of another version than this program: a release is being deployed, or was rolled back."""


async def require_ready(database: Database) -> None:
    """Write and commit. Raises DatabaseUnavailable if that fails, WrongSchemaError for another program's schema."""
    async with database.transaction(None) as session:
        await session.execute(_LITTLE_MEMORY)
        probe = await fetch_one(session, _PROBE)
    if probe.read_only:
        raise DatabaseUnavailable(
            "the database takes no writes: it is read-only, or no longer the primary server", _READ_ONLY
        )
    if probe.revision != _own_revision():
        raise WrongSchemaError(
            f"the database's schema is at {probe.revision}, this program is of {_own_revision()}: "
            "start the newer program"
        )


@cache
def _own_revision() -> str:
    return newest_revision()
