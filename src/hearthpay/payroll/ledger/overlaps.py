"""What else is paid for the days of a pay period: the live entries that overlap it, and what Autopilot pays."""

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.database.relations import AUTOPILOT_ENROLLMENTS, AUTOPILOT_PERIODS
from hearthpay.database.statements import Fragment, column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.orders.pay_dates import PayDates


class _PaidRow(NamedTuple):
    """A period that Autopilot has scheduled, one beyond which it has not come, or a live entry that overlaps.

    Autopilot's have no amounts; `payroll_id` and `send_at` are only those of a scheduled one.
    """

    kind: Literal["scheduled", "ahead", "overlap"]
    employee_id: UUID
    payroll_id: UUID | None
    first_day: datetime.date
    last_day: datetime.date
    pay_date: datetime.date
    send_at: datetime.datetime | None
    salaried: bool
    regular_hours: Decimal
    regular_pay: int
    overtime_hours: Decimal
    overtime_pay: int
    bonus: int
    other_earnings: int


_NO_AMOUNTS: Final = Fragment(
    "NULL::boolean AS salaried, NULL::numeric AS regular_hours, NULL::bigint AS regular_pay, "
    "NULL::numeric AS overtime_hours, NULL::bigint AS overtime_pay, NULL::bigint AS bonus, "
    "NULL::bigint AS other_earnings"
)
_PAID: Final = query(
    _PaidRow,
    "(SELECT 'scheduled' AS kind, g.employee_id, g.payroll_id, g.period_start AS first_day, "
    "g.period_end AS last_day, g.pay_date, g.send_at, {no_amounts} FROM {autopilot_periods} g "
    "WHERE g.employee_id = ANY(:paid_for_period) AND g.outcome = 'scheduled' "
    "AND g.period_start <= :last AND g.period_end >= :first ORDER BY g.period_start LIMIT 1) "
    "UNION ALL (SELECT 'ahead', e.employee_id, NULL, e.next_start, e.next_end, e.next_pay_date, NULL, {no_amounts} "
    "FROM {autopilot_enrollments} e WHERE e.employee_id = ANY(:paid_for_period) AND e.status = 'active' "
    "AND e.next_end < :last ORDER BY e.next_end LIMIT 1) "
    "UNION ALL (SELECT 'overlap', e.employee_id, e.payroll_id, lower(e.period), upper(e.period) - 1, "
    "(SELECT p.pay_date FROM payrolls p WHERE p.id = e.payroll_id), NULL, e.salary IS NOT NULL, {earnings} "
    "FROM payroll_entries e "
    "WHERE e.employee_id = ANY(:employees) AND e.live AND e.period && daterange(:first, :last, '[]'))",
    no_amounts=_NO_AMOUNTS,
    autopilot_periods=AUTOPILOT_PERIODS,
    autopilot_enrollments=AUTOPILOT_ENROLLMENTS,
    earnings=column_list(Earnings._fields, "e"),
)
"""One statement, since each costs a round trip. The payroll is looked up only if there is an overlap, which is rare."""


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


async def find_overlaps(
    session: AsyncSession, employees: Sequence[UUID], paid_for_period: Sequence[UUID], dates: PayDates
) -> list[Overlap]:
    """Return the employees' live entries that overlap the pay period, with hours or without.

    Raises if Autopilot is to pay hours of these days for one of those ``paid_for_period``: `autopilot_run_scheduled`
    if it has scheduled a payroll for some of them, `period_ahead_of_anchor` for days beyond its next run.
    """
    asked = {
        "employees": list(employees),
        "paid_for_period": list(paid_for_period),
        "first": dates.period_start,
        "last": dates.period_end,
    }
    rows = await fetch_all(session, _PAID, asked)
    for kind, refuse in (("scheduled", _refuse_scheduled), ("ahead", _refuse_ahead)):
        for row in rows:
            if row.kind == kind:
                refuse(row)
    overlaps = [
        Overlap(
            row.employee_id,
            row.payroll_id,
            row.first_day,
            row.last_day,
            row.pay_date,
            row.salaried,
            Earnings._make(row[8:]),
        )
        for row in rows
        if row.payroll_id is not None
    ]
    return sorted(overlaps, key=lambda overlap: (overlap.employee_id, overlap.payroll_id))


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


def _refuse_scheduled(row: _PaidRow) -> None:
    raise Refusal(
        "autopilot_run_scheduled",
        f"Autopilot has scheduled a payroll for {row.first_day} to {row.last_day}. Void or skip it first to run this "
        "period by hand.",
        details={
            "employee_id": row.employee_id,
            "payroll_id": row.payroll_id,
            "pay_period": {"start": row.first_day, "end": row.last_day},
            "pay_date": row.pay_date,
            "scheduled_send_at": row.send_at,
        },
    )


def _refuse_ahead(row: _PaidRow) -> None:
    raise Refusal(
        "period_ahead_of_anchor",
        f"This period goes beyond the next run of Autopilot, {row.first_day} to {row.last_day}. Up to its last day a "
        "payroll may be run by hand, and Autopilot steps over it.",
        details={
            "employee_id": row.employee_id,
            "next_run": {"start": row.first_day, "end": row.last_day, "pay_date": row.pay_date},
        },
    )
