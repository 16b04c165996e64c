"""What else is paid for the days of a pay period: the live entries that overlap it, and what Autopilot pays."""

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.database.relations import AUTOPILOT_ENROLLMENTS, AUTOPILOT_PERIODS
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.orders.pay_dates import PayDates


class _OverlapRow(NamedTuple):
    employee_id: UUID
    payroll_id: UUID
    first_day: datetime.date
    last_day: datetime.date
    pay_date: datetime.date
    salaried: bool
    regular_hours: Decimal
    regular_pay: int
    overtime_hours: Decimal
    overtime_pay: int
    bonus: int
    other_earnings: int


_OVERLAPS: Final = query(
    _OverlapRow,
    "SELECT e.employee_id, e.payroll_id, lower(e.period) AS first_day, upper(e.period) - 1 AS last_day, "
    "(SELECT p.pay_date FROM payrolls p WHERE p.id = e.payroll_id) AS pay_date, "
    "e.salary IS NOT NULL AS salaried, {earnings} FROM payroll_entries e "
    "WHERE e.employee_id = ANY(:employees) AND e.live AND e.period && daterange(:start, :end, '[]') "
    "ORDER BY e.employee_id, e.payroll_id",
    earnings=column_list(Earnings._fields, "e"),
)
"""The payroll is looked up only if there is an overlap, which is rare."""


class _HoursPaidRow(NamedTuple):
    employee_id: UUID
    payroll_id: UUID


_HOURS_PAID: Final = query(
    _HoursPaidRow,
    "SELECT w.employee_id, e.payroll_id FROM unnest(CAST(:employees AS uuid[]), CAST(:starts AS date[]), "
    "CAST(:ends AS date[])) AS w(employee_id, first, last) JOIN payroll_entries e ON e.employee_id = w.employee_id "
    "AND e.live AND e.period && daterange(w.first, w.last, '[]') "
    "WHERE e.regular_hours > 0 OR e.overtime_hours > 0 OR e.salary IS NOT NULL ORDER BY w.employee_id, e.payroll_id",
)


class _ScheduledRow(NamedTuple):
    employee_id: UUID
    payroll_id: UUID | None
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    send_at: datetime.datetime


_SCHEDULED: Final = query(
    _ScheduledRow,
    "SELECT g.employee_id, g.payroll_id, g.period_start, g.period_end, g.pay_date, g.send_at "
    "FROM {autopilot_periods} g WHERE g.employee_id = ANY(:employees) AND g.outcome = 'scheduled' "
    "AND g.period_start <= :last AND g.period_end >= :first ORDER BY g.period_start LIMIT 1",
    autopilot_periods=AUTOPILOT_PERIODS,
)


class _AheadRow(NamedTuple):
    employee_id: UUID
    next_start: datetime.date
    next_end: datetime.date
    next_pay_date: datetime.date


_AHEAD: Final = query(
    _AheadRow,
    "SELECT e.employee_id, e.next_start, e.next_end, e.next_pay_date "
    "FROM {autopilot_enrollments} e WHERE e.employee_id = ANY(:employees) AND e.status = 'active' "
    "AND e.next_end < :last ORDER BY e.next_end LIMIT 1",
    autopilot_enrollments=AUTOPILOT_ENROLLMENTS,
)


class Overlap(NamedTuple):
    """A live entry whose period overlaps the requested one."""

    employee_id: UUID
    payroll_id: UUID
    start: datetime.date
    end: datetime.date
    pay_date: datetime.date
    salary: bool
    """Whether it pays a salary for its period."""

    earnings: Earnings

    @property
    def hours(self) -> Decimal:
        """All of its hours."""
        return self.earnings.regular_hours + self.earnings.overtime_hours

    @property
    def pays_the_period(self) -> bool:
        """Whether it pays for the time of its period, by hours or by a salary."""
        return self.salary or bool(self.hours)


async def find_overlaps(session: AsyncSession, employees: Sequence[UUID], dates: PayDates) -> list[Overlap]:
    """Return the employees' live entries that overlap the pay period, with hours or without."""
    period = {"employees": list(employees), "start": dates.period_start, "end": dates.period_end}
    return [
        Overlap(
            row.employee_id,
            row.payroll_id,
            row.first_day,
            row.last_day,
            row.pay_date,
            row.salaried,
            Earnings._make(row[6:]),
        )
        for row in await fetch_all(session, _OVERLAPS, period)
    ]


async def hours_paid(
    session: AsyncSession, periods: Mapping[UUID, tuple[datetime.date, datetime.date]]
) -> dict[UUID, tuple[UUID, ...]]:
    """Return by employee the live payrolls that pay hours, or a salary, for the given period, both days included.

    Employees without any are left out.
    """
    days = list(periods.values())
    asked = {
        "employees": list(periods),
        "starts": [each[0] for each in days],
        "ends": [each[1] for each in days],
    }
    found: dict[UUID, tuple[UUID, ...]] = {}
    for row in await fetch_all(session, _HOURS_PAID, asked):
        found[row.employee_id] = (*found.get(row.employee_id, ()), row.payroll_id)
    return found


async def refuse_what_autopilot_pays(
    session: AsyncSession, employees: Sequence[UUID], first: datetime.date, last: datetime.date
) -> None:
    """Raise if Autopilot is to pay hours of these days for one of the employees.

    `autopilot_run_scheduled` if it has scheduled a payroll for some of them, `period_ahead_of_anchor` for days beyond
    its next run.
    """
    days = {"employees": list(employees), "first": first, "last": last}
    scheduled = await fetch_optional(session, _SCHEDULED, days)
    if scheduled is not None:
        raise Refusal(
            "autopilot_run_scheduled",
            f"Autopilot has scheduled a payroll for {scheduled.period_start} to {scheduled.period_end}. Void or skip "
            "it first to run this period by hand.",
            details={
                "employee_id": scheduled.employee_id,
                "payroll_id": scheduled.payroll_id,
                "pay_period": {"start": scheduled.period_start, "end": scheduled.period_end},
                "pay_date": scheduled.pay_date,
                "scheduled_send_at": scheduled.send_at,
            },
        )
    ahead = await fetch_optional(session, _AHEAD, {"employees": list(employees), "last": last})
    if ahead is not None:
        raise Refusal(
            "period_ahead_of_anchor",
            f"This period goes beyond the next run of Autopilot, {ahead.next_start} to {ahead.next_end}. Up to its "
            "last day a payroll may be run by hand, and Autopilot steps over it.",
            details={
                "employee_id": ahead.employee_id,
                "next_run": {
                    "start": ahead.next_start,
                    "end": ahead.next_end,
                    "pay_date": ahead.next_pay_date,
                },
            },
        )
