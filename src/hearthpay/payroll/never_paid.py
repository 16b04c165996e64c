"""Employees who were never paid though their first payday has passed: somebody may have forgotten them.

Nothing is owed for certain, so this is no alarm. Left out are employees who haven't worked through a first pay period,
who have left, whom Autopilot pays, or who have earlier pay recorded since their first day of work.
"""

import datetime
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, cast
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import AUTOPILOT_ENROLLMENTS, EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.commands import PayFrequency
from hearthpay.payroll.pay_periods import latest_ended_period, period_from

_DAY: Final = datetime.timedelta(days=1)


class NeverPaid(NamedTuple):
    """An active employee without a payroll since the first day of work, or of work again after a return."""

    employer_id: UUID
    employee_id: UUID
    name: str
    since: datetime.date
    frequency: str

    @property
    def first_payday(self) -> datetime.date:
        """The last day of the first pay period."""
        return period_from(self.since, cast(PayFrequency, self.frequency)).end

    def latest_payday(self, today: datetime.date) -> datetime.date:
        """Return the last day of the latest pay period that has ended: the payday that was missed last."""
        ended = latest_ended_period(cast(PayFrequency, self.frequency), today - _DAY)
        return max(self.first_payday, ended.end)


# A payroll that is scheduled or under way pays as well. The entries of one that failed or was voided aren't live.
_NEVER_PAID: Final = query(
    NeverPaid,
    "SELECT w.employer_id, w.id AS employee_id, w.first_name || ' ' || w.last_name AS name, w.start_date AS since, "
    "w.pay_frequency AS frequency FROM {employees} w "
    "WHERE w.employer_id = ANY(CAST(:employers AS uuid[])) AND w.status = 'active' "
    "AND w.start_date < CAST(:today AS date) AND (w.end_date IS NULL OR w.end_date >= CAST(:today AS date)) "
    "AND NOT EXISTS (SELECT FROM payroll_entries e WHERE e.employee_id = w.id AND e.live "
    "AND upper(e.period) > w.start_date) "
    "AND NOT EXISTS (SELECT FROM prior_wages o WHERE o.employee_id = w.id AND o.replaced_by IS NULL "
    "AND o.as_of >= w.start_date) "
    "AND NOT EXISTS (SELECT FROM {enrollments} a WHERE a.employee_id = w.id AND a.status = 'active') "
    "ORDER BY w.employer_id, w.start_date, w.last_name, w.id",
    employees=EMPLOYEES,
    enrollments=AUTOPILOT_ENROLLMENTS,
)


async def read_never_paid(
    session: AsyncSession, employer_ids: Collection[UUID], today: datetime.date
) -> Mapping[UUID, tuple[NeverPaid, ...]]:
    """Return who was never paid though their first payday has passed, by household, the longest first.

    Households without any are left out. The caller has checked that payrolls may be read.
    """
    found: dict[UUID, list[NeverPaid]] = {}
    if not employer_ids:
        return {}
    for each in await fetch_all(session, _NEVER_PAID, {"employers": list(employer_ids), "today": today}):
        if each.first_payday < today:
            found.setdefault(each.employer_id, []).append(each)
    return {employer_id: tuple(employees) for employer_id, employees in found.items()}
