"""Which time it is for a sandbox household: real time, or that of the test clock it was given.

The table is `hearthpay.sandbox`'s; it is read here because every face asks, before any service, which household's time
a request is about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final
from uuid import UUID

from sqlalchemy import ARRAY, TextClause, Uuid, bindparam, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock, FixedClock, HouseholdTime
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, HOUSEHOLD_CLOCKS, PAYROLLS
from hearthpay.database.session import CLOCK_OF

OF_THIS_CLOCK: Final = f"coalesce(current_setting('{CLOCK_OF}', true), '')"
"""SQL: which household's time the worker's transaction is at; empty for real time. It parts the worker's turns."""


def at_a_clock(session: AsyncSession) -> bool:
    """Return whether the worker's transaction is at the time of a household that has a clock of its own."""
    return CLOCK_OF in session.info


def by_mode(statement: Callable[[str], TextClause], sandbox: str) -> Mapping[bool, TextClause]:
    """Return the statement about real households alone, and (True) about the one whose clock the transaction is at.

    `statement` takes the condition on the column `sandbox`; real ones are found by indexes that have it as well.
    """
    return {False: statement(f"NOT {sandbox}"), True: statement(sandbox)}


def time_of(household: str, otherwise: str) -> str:
    """Return SQL for the time it is at the household of this id (an expression); without a clock, `otherwise`."""
    return f"coalesce((SELECT c.stands_at FROM {HOUSEHOLD_CLOCKS} c WHERE c.employer_id = {household}), {otherwise})"


_OF_HOUSEHOLD: Final = text(
    f"SELECT stands_at, advancing FROM {HOUSEHOLD_CLOCKS} c WHERE c.employer_id = :household"
)
_OF_THINGS: Final = text(
    f"SELECT c.stands_at, c.advancing FROM {HOUSEHOLD_CLOCKS} c WHERE c.employer_id = ANY (:things) "
    f"OR EXISTS (SELECT FROM {EMPLOYEES} e WHERE e.employer_id = c.employer_id AND e.id = ANY (:things)) "
    f"OR EXISTS (SELECT FROM {PAYROLLS} p WHERE p.employer_id = c.employer_id AND p.id = ANY (:things)) LIMIT 2"
).bindparams(bindparam("things", type_=ARRAY(Uuid)))
_OF_THE_ONLY_ONE: Final = text(
    f"SELECT c.stands_at, c.advancing FROM {HOUSEHOLD_CLOCKS} c "
    f"WHERE (SELECT count(*) FROM {EMPLOYERS} h) = 1"
)


async def household_time_of(session: AsyncSession, household: UUID) -> HouseholdTime | None:
    """Return the time at which this household's clock stands; None where it has none."""
    row = (await session.execute(_OF_HOUSEHOLD, {"household": household})).one_or_none()
    return None if row is None else HouseholdTime(row.stands_at, row.advancing)


async def time_of_request(
    session: AsyncSession, things: Collection[UUID], remembered: UUID | None
) -> HouseholdTime | None:
    """Return the time of the household that a request is about; the session sees one organization's sandbox.

    `things` are the ids that the request names: households, employees or payrolls. Without any it is about the
    household that the key remembers, or about the only one. About several it is none's: real time.
    """
    if things:
        rows = (await session.execute(_OF_THINGS, {"things": list(things)})).all()
    elif remembered is not None:
        return await household_time_of(session, remembered)
    else:
        rows = (await session.execute(_OF_THE_ONLY_ONE)).all()
    return HouseholdTime(rows[0].stands_at, rows[0].advancing) if len(rows) == 1 else None


async def clock_at(session: AsyncSession, household: UUID, real: Clock) -> Clock:
    """Return the clock that a household goes by: its own, standing, or `real`."""
    stands = await household_time_of(session, household)
    return real if stands is None else FixedClock(stands.at)
