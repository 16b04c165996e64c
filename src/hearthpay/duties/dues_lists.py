"""Lists of households by what they have to do: by next payday, by what is overdue longest, and what is kept of each.

The kept figures of a household are fresh on their own day, under the same rules, as long as no change is noted. Others
still give it its place in a list, but must not be shown. Each page reads its own rows, however many others there are.
"""

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import (
    AUTOPILOT_PAYDAYS,
    HOUSEHOLD_CLOCKS,
    PAYROLLS,
)
from hearthpay.database.statements import Fragment, compose
from hearthpay.database.typed_rows import fetch_all, fetch_one, query
from hearthpay.duties.dues import SIX_DAYS, HouseholdDues, rules_fingerprint
from hearthpay.employers.list_queries import ListScope, PaydayKey
from hearthpay.payroll.next_payday import LATE_FOR

MOST_COUNTED: Final = 100
"""Households are counted up to this number."""

_UPCOMING: Final = Fragment("status IN ('scheduled', 'firing', 'pending_funding', 'processing')")
_IN_SCOPE: Final = Fragment(
    "d.organization_id = :organization_id AND d.sandbox = :sandbox "
    "AND (CAST(:reached AS uuid[]) IS NULL OR d.employer_id = ANY(CAST(:reached AS uuid[])))"
)
_FRESH: Final = Fragment(
    "d.computed_on = CAST(:today AS date) AND d.rules = :rules "
    "AND (SELECT true FROM outdated_dues o WHERE o.employer_id = d.employer_id LIMIT 1) IS NULL"
)
"""With a look-up of notes for each row: as a join, the planner would read those of all households."""


class _KeptRow(NamedTuple):
    employer_id: UUID
    overdue_since: datetime.date | None
    overdue_count: int
    overdue_cents: int
    week_count: int
    week_cents: int
    next_due: datetime.date | None
    payday_to_run: datetime.date | None
    fresh: bool
    own_clock: bool


_KEPT: Final = query(
    _KeptRow,
    "SELECT d.employer_id, d.overdue_since, d.overdue_count, d.overdue_cents, d.week_count, d.week_cents, d.next_due, "
    "d.payday_to_run, coalesce({fresh}, false) AS fresh, "
    "EXISTS (SELECT FROM {clocks} c WHERE c.employer_id = d.employer_id) AS own_clock "
    "FROM household_dues d WHERE d.employer_id = ANY(CAST(:households AS uuid[]))",
    fresh=_FRESH,
    clocks=HOUSEHOLD_CLOCKS,
)
_BY_OVERDUE: Final = query(
    PaydayKey,
    "SELECT d.employer_id, d.overdue_since AS pay_date, d.employer_id AS id FROM household_dues d "
    "WHERE {in_scope} AND d.overdue_count > 0 AND (d.overdue_since, d.employer_id) > "
    "(CAST(:day AS date), CAST(:after AS uuid)) ORDER BY d.overdue_since, d.employer_id LIMIT :limit",
    in_scope=_IN_SCOPE,
)
_BY_PAYDAY_TO_RUN: Final = query(
    PaydayKey,
    "SELECT d.employer_id, d.payday_to_run AS pay_date, d.employer_id AS id FROM household_dues d "
    "WHERE {in_scope} AND d.payday_to_run <= CAST(:until AS date) AND (d.payday_to_run, d.employer_id) > "
    "(CAST(:day AS date), CAST(:after AS uuid)) ORDER BY d.payday_to_run, d.employer_id LIMIT :limit",
    in_scope=_IN_SCOPE,
)


def _first_payday(day: Fragment, since: Fragment) -> Fragment:
    """Return the conditions on a row `d` of a payday: on one of the days, and the household's first from then on."""
    return compose(
        "{in_scope} AND {day} >= CAST({since} AS date) AND {day} <= CAST(:until AS date) "
        "AND ({day}, d.id) > (CAST(:day AS date), CAST(:after AS uuid)) "
        "AND NOT EXISTS (SELECT FROM {payrolls} o WHERE o.employer_id = d.employer_id AND o.{upcoming} "
        "AND o.pay_date >= CAST(:today AS date) AND (o.pay_date, o.id) < ({day}, d.id)) "
        "AND NOT EXISTS (SELECT FROM {autopilot} o WHERE o.employer_id = d.employer_id "
        "AND o.next_pay_date >= CAST(:today AS date) AND (o.next_pay_date, o.id) < ({day}, d.id)) "
        "AND NOT EXISTS (SELECT FROM household_dues o WHERE o.employer_id = d.employer_id "
        "AND o.payday_to_run >= CAST(:oldest AS date) AND (o.payday_to_run, o.employer_id) < ({day}, d.id)) "
        "ORDER BY {day}, d.id LIMIT :limit",
        in_scope=_IN_SCOPE,
        day=day,
        since=since,
        payrolls=PAYROLLS,
        autopilot=AUTOPILOT_PAYDAYS,
        upcoming=_UPCOMING,
    )


_TO_RUN: Final = Fragment(
    "(SELECT employer_id AS id, organization_id, sandbox, employer_id, payday_to_run FROM household_dues)"
)
# As `list_queries.after_payday`, and by the paydays that a household has to run itself.
_BY_PAYDAY: Final = query(
    PaydayKey,
    "(SELECT d.employer_id, d.pay_date, d.id FROM {payrolls} d WHERE d.{upcoming} AND {of_payrolls}) "
    "UNION ALL "
    "(SELECT d.employer_id, d.next_pay_date, d.id FROM {autopilot} d WHERE {of_autopilot}) "
    "UNION ALL "
    "(SELECT d.employer_id, d.payday_to_run, d.id FROM {to_run} d WHERE {of_dues}) "
    "ORDER BY 2, 3 LIMIT :limit",
    payrolls=PAYROLLS,
    autopilot=AUTOPILOT_PAYDAYS,
    to_run=_TO_RUN,
    upcoming=_UPCOMING,
    of_payrolls=_first_payday(Fragment("d.pay_date"), Fragment(":today")),
    of_autopilot=_first_payday(Fragment("d.next_pay_date"), Fragment(":today")),
    of_dues=_first_payday(Fragment("d.payday_to_run"), Fragment(":oldest")),
)
# As in `list_queries`: row security lets the planner expect a handful of rows, which it would sort.
_SORTING: Final = text("SELECT set_config('enable_sort', :sorting, true)")


class DuesCounts(NamedTuple):
    """How many households have a payroll to run this week, have something overdue, and are not calculated yet."""

    to_run: int
    overdue: int
    being_checked: int


_COUNTS: Final = query(
    DuesCounts,
    "SELECT (SELECT count(*) FROM (SELECT FROM household_dues d WHERE {in_scope} AND {fresh} "
    "AND d.payday_to_run <= CAST(:until AS date) LIMIT :most) n) AS to_run, "
    "(SELECT count(*) FROM (SELECT FROM household_dues d WHERE {in_scope} AND {fresh} "
    "AND d.overdue_count > 0 LIMIT :most) n) AS overdue, "
    "(SELECT count(*) FROM (SELECT * FROM (SELECT d.employer_id FROM household_dues d WHERE {in_scope} "
    "AND (d.computed_on IS NULL OR d.computed_on < CAST(:today AS date)) LIMIT :most) stale UNION "
    "SELECT * FROM (SELECT DISTINCT d.employer_id FROM outdated_dues d WHERE {in_scope} LIMIT :most) changed) n) "
    "AS being_checked",
    in_scope=_IN_SCOPE,
    fresh=_FRESH,
)


@dataclass(frozen=True, slots=True)
class KeptDues:
    """What is kept of a household; `fresh`: it is as of today, and nothing has changed since.

    A household with its own test clock (`own_clock`) is not calculated.
    """

    dues: HouseholdDues
    fresh: bool
    own_clock: bool = False


async def read_dues(
    session: AsyncSession, households: Collection[UUID], today: datetime.date
) -> Mapping[UUID, KeptDues]:
    """Return what is kept of these households; the caller has checked that it may be read."""
    asked = {"households": list(households), "today": today, "rules": rules_fingerprint()}
    return {
        row.employer_id: KeptDues(HouseholdDues(*row[1:8]), row.fresh and not row.own_clock, row.own_clock)
        for row in await fetch_all(session, _KEPT, asked)
    }


async def count_dues(session: AsyncSession, scope: ListScope, today: datetime.date) -> DuesCounts:
    """Return the counts within the scope, each up to MOST_COUNTED."""
    asked = dict(scope) | {
        "today": today,
        "until": today + SIX_DAYS,
        "rules": rules_fingerprint(),
        "most": MOST_COUNTED,
    }
    found = await fetch_one(session, _COUNTS, asked)
    return DuesCounts(*(min(each, MOST_COUNTED) for each in found))


async def after_overdue(
    session: AsyncSession, scope: ListScope, after: tuple[datetime.date, UUID], limit: int
) -> list[PaydayKey]:
    """Return the next households in the order of how long something has been overdue, as far as is kept."""
    asked = dict(scope) | {"day": after[0], "after": after[1], "limit": limit}
    return await fetch_all(session, _BY_OVERDUE, asked)


async def after_payday_to_run(
    session: AsyncSession,
    scope: ListScope,
    until: datetime.date,
    after: tuple[datetime.date, UUID],
    limit: int,
) -> list[PaydayKey]:
    """Return the next households whose own next payday is on or before a day, in its order, as far as is kept."""
    asked = dict(scope) | {"until": until, "day": after[0], "after": after[1], "limit": limit}
    return await fetch_all(session, _BY_PAYDAY_TO_RUN, asked)


async def after_payday(
    session: AsyncSession,
    scope: ListScope,
    today: datetime.date,
    until: datetime.date,
    after: tuple[datetime.date, UUID],
    limit: int,
) -> list[PaydayKey]:
    """Return the next households in the order of next paydays: planned ones, and those to run, also late ones."""
    asked = {
        "today": today,
        "oldest": oldest_payday(today),
        "until": until,
        "day": after[0],
        "after": after[1],
        "limit": limit,
    }
    await session.execute(_SORTING, {"sorting": "off"})
    rows = await fetch_all(session, _BY_PAYDAY, dict(scope) | asked)
    await session.execute(_SORTING, {"sorting": "on"})
    return rows


def oldest_payday(today: datetime.date) -> datetime.date:
    """Return the earliest payday whose payroll is still expected."""
    return today - LATE_FOR
