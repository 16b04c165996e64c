"""The time that an operator's command uses: a sandbox household's, if it has a test clock."""

from typing import TYPE_CHECKING
from uuid import UUID

from hearthpay.clock import SystemClock

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from hearthpay.clock import Clock


async def clock_for_reading(session: "AsyncSession", household: UUID) -> "Clock":
    """Return the household's clock, standing, or real time where it has none."""
    from hearthpay.database.household_clocks import clock_at

    return await clock_at(session, household, SystemClock())


async def clock_for_changing(session: "AsyncSession", household: UUID) -> "Clock":
    """Return the same for a change; raises `clock_advancing` while the worker leads the household on."""
    from hearthpay.clock import FixedClock
    from hearthpay.database.household_clocks import household_time_of
    from hearthpay.sandbox.clocks import still_advancing

    stands = await household_time_of(session, household)
    if stands is None:
        return SystemClock()
    if stands.advancing:
        raise still_advancing(household)
    return FixedClock(stands.at)
