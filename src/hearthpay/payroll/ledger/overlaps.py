"""What else is paid for the days of a pay period: the live entries that overlap it."""

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.orders.pay_dates import PayDates

_OVERLAPS: Final = text(
    "SELECT e.employee_id, e.payroll_id, lower(e.period), upper(e.period) - 1, "
    "(SELECT p.pay_date FROM payrolls p WHERE p.id = e.payroll_id), "
    f"{', '.join(f'e.{name}' for name in Earnings._fields)} FROM payroll_entries e "
    "WHERE e.employee_id = ANY(:employees) AND e.live AND e.period && daterange(:start, :end, '[]') "
    "ORDER BY e.employee_id, e.payroll_id"
)
"""The payroll is looked up only where there is an overlap, which is seldom."""

_HOURS_PAID: Final = text(
    "SELECT w.employee_id, e.payroll_id FROM unnest(CAST(:employees AS uuid[]), CAST(:starts AS date[]), "
    "CAST(:ends AS date[])) AS w(employee_id, first, last) JOIN payroll_entries e ON e.employee_id = w.employee_id "
    "AND e.live AND e.period && daterange(w.first, w.last, '[]') "
    "WHERE e.regular_hours > 0 OR e.overtime_hours > 0 ORDER BY w.employee_id, e.payroll_id"
)


class Overlap(NamedTuple):
    """A live entry whose period overlaps the one asked for."""

    employee_id: UUID
    payroll_id: UUID
    start: datetime.date
    end: datetime.date
    pay_date: datetime.date
    earnings: Earnings

    @property
    def hours(self) -> Decimal:
        """All of its hours."""
        return self.earnings.regular_hours + self.earnings.overtime_hours


async def find_overlaps(session: AsyncSession, employees: Sequence[UUID], dates: PayDates) -> list[Overlap]:
    """Return the live entries of the employees that overlap the pay period, with hours or without."""
    period = {"employees": list(employees), "start": dates.period_start, "end": dates.period_end}
    found = await session.execute(_OVERLAPS, period)
    return [Overlap._make((*row[:5], Earnings(*row[5:]))) for row in found]


async def hours_paid(
    session: AsyncSession, periods: Mapping[UUID, tuple[datetime.date, datetime.date]]
) -> dict[UUID, tuple[UUID, ...]]:
    """Return by employee the live payrolls that pay hours of the period given, first day to last; others have none."""
    days = list(periods.values())
    asked = {
        "employees": list(periods),
        "starts": [each[0] for each in days],
        "ends": [each[1] for each in days],
    }
    found: dict[UUID, tuple[UUID, ...]] = {}
    for row in await session.execute(_HOURS_PAID, asked):
        found[row.employee_id] = (*found.get(row.employee_id, ()), row.payroll_id)
    return found
