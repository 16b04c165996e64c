"""The time at a sandbox household: real time, or that of its test clock.

`hearthpay.sandbox` owns the table; it is read here because every interface asks, before any service, which
household's time a request is about.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import ARRAY, TextClause, Uuid, bindparam
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import Clock, FixedClock, HouseholdTime
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, HOUSEHOLD_CLOCKS, PAYROLLS
from hearthpay.database.session import CLOCK_OF
from hearthpay.database.statements import Fragment, compose, literal, statement
from hearthpay.database.typed_rows import Query, fetch_all, fetch_optional, query

AnyStatement = TypeVar("AnyStatement", bound=TextClause | Query[Any])

OF_THIS_CLOCK: Final = compose("coalesce(current_setting({setting}, true), '')", setting=literal(CLOCK_OF))
"""SQL: which household's time the worker's transaction uses; empty for real time. It separates the worker's rounds."""


def at_a_clock(session: AsyncSession) -> bool:
    """Return whether the worker's transaction uses the time of a household with its own clock."""
    return CLOCK_OF in session.info


def by_mode(
    statement_for: Callable[[Fragment], AnyStatement], sandbox: Fragment
) -> Mapping[bool, AnyStatement]:
    """Return the statement about real households alone, and (True) about the one whose clock the transaction is at.

    `statement_for` takes the condition on the column `sandbox`; real ones are found by indexes that have it as well.
    """
    return {False: statement_for(compose("NOT {sandbox}", sandbox=sandbox)), True: statement_for(sandbox)}


def time_of(household: Fragment, otherwise: Fragment) -> Fragment:
    """Return SQL for the time at the household of this id (an expression); without a clock, `otherwise`."""
    return compose(
        "coalesce((SELECT c.stands_at FROM {household_clocks} c WHERE c.employer_id = {household}), {otherwise})",
        household_clocks=HOUSEHOLD_CLOCKS,
        household=household,
        otherwise=otherwise,
    )


class _ClockRow(NamedTuple):
    stands_at: datetime.datetime
    advancing: bool


_OF_HOUSEHOLD: Final = query(
    _ClockRow,
    "SELECT stands_at, advancing FROM {household_clocks} c WHERE c.employer_id = :household",
    household_clocks=HOUSEHOLD_CLOCKS,
)
_OF_THINGS: Final = Query(
    _ClockRow,
    statement(
        "SELECT c.stands_at, c.advancing FROM {household_clocks} c WHERE c.employer_id = ANY (:things) "
        "OR EXISTS (SELECT FROM {employees} e WHERE e.employer_id = c.employer_id AND e.id = ANY (:things)) "
        "OR EXISTS (SELECT FROM {payrolls} p WHERE p.employer_id = c.employer_id AND p.id = ANY (:things)) LIMIT 2",
        household_clocks=HOUSEHOLD_CLOCKS,
        employees=EMPLOYEES,
        payrolls=PAYROLLS,
    ).bindparams(bindparam("things", type_=ARRAY(Uuid))),
)


_OF_THE_ONLY_ONE: Final = query(
    _ClockRow,
    "SELECT c.stands_at, c.advancing FROM {household_clocks} c "
    "WHERE (SELECT count(*) FROM {employers} h) = 1",
    household_clocks=HOUSEHOLD_CLOCKS,
    employers=EMPLOYERS,
)


async def household_time_of(session: AsyncSession, household: UUID) -> HouseholdTime | None:
    """Return the time of this household's clock; None if it has none."""
    row = await fetch_optional(session, _OF_HOUSEHOLD, {"household": household})
    return None if row is None else HouseholdTime(row.stands_at, row.advancing)


async def time_of_request(
    session: AsyncSession, things: Collection[UUID], remembered: UUID | None
) -> HouseholdTime | None:
    """Return the time of the household that a request is about; the session sees one organization's sandbox.

    `things` are the ids that the request names: households, employees or payrolls. Without any it is about the
    household that the key remembers, or the only one. A request about several uses real time.
    """
    if things:
        rows = await fetch_all(session, _OF_THINGS, {"things": list(things)})
    elif remembered is not None:
        return await household_time_of(session, remembered)
    else:
        rows = await fetch_all(session, _OF_THE_ONLY_ONE)
    return HouseholdTime(rows[0].stands_at, rows[0].advancing) if len(rows) == 1 else None


async def clock_at(session: AsyncSession, household: UUID, real: Clock) -> Clock:
    """Return the clock that a household uses: its own, standing still, or `real`."""
    stands = await household_time_of(session, household)
    return real if stands is None else FixedClock(stands.at)
