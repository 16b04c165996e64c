"""What all workers together have done since the installation began, for the operator's metrics."""

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_all, query


class _FiguresRow(NamedTuple):
    name: str
    figure: float


_FIGURES: Final = query(_FiguresRow, "SELECT name, figure FROM clockwork_figures(:now)")
_READ_WITHIN: Final = 2.0
_ADD: Final = text(
    "INSERT INTO worker_counts AS w (name, total) SELECT r.name, r.number "
    "FROM unnest(CAST(:names AS text[]), CAST(:numbers AS bigint[])) AS r(name, number) ORDER BY r.name "
    "ON CONFLICT (name) DO UPDATE SET total = w.total + excluded.total"
)


async def add_to_counts(session: AsyncSession, counts: Mapping[str, int]) -> None:
    """Add to the counts so far; a worker that is killed before this point has counted nothing."""
    counted = {name: number for name, number in counts.items() if number}
    if counted:
        await session.execute(_ADD, {"names": list(counted), "numbers": list(counted.values())})


async def worker_figures(database: Database, clock: Clock) -> dict[str, float]:
    """Return figures on the worker across all tenants: numbers by name; none while the database doesn't answer.

    `database` acts as the service's role.
    """
    try:
        async with asyncio.timeout(_READ_WITHIN), database.transaction(None) as session:
            return {row.name: row.figure for row in await fetch_all(session, _FIGURES, {"now": clock.now()})}
    except (DatabaseUnavailable, TimeoutError):
        return {}
