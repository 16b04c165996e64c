"""The next payday of an employee who was paid before: the period after the last one, and when it is paid.

`next_payday` is a pure function of the recorded payrolls; `read_next_paydays` reads them for households. Where
Autopilot pays somebody, its own next run is the next payday.
"""

import datetime
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, cast
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import banking_day_on_or_before, is_banking_day
from hearthpay.database.relations import AUTOPILOT_PAYDAYS, EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.commands import PayFrequency
from hearthpay.payroll.pay_periods import PeriodOfPay, following_period, unpaid_periods

LOOKED_AT: Final = 4
"""How many of the latest payrolls tell how long after its period somebody is usually paid."""

LONGEST_DELAY: Final = 14
"""The most calendar days after a period that count as a usual payday; more is a payroll that was late."""

LATE_FOR: Final = datetime.timedelta(days=45)
"""How long after a payday its payroll is still expected: after that, the household may have stopped paying."""

_DAY: Final = datetime.timedelta(days=1)
_A_WEEK: Final = 7


class PaidPeriod(NamedTuple):
    """A recorded payroll of an employee: its period, and the payday that was asked for."""

    start: datetime.date
    end: datetime.date
    pay_date: datetime.date

    @property
    def period(self) -> PeriodOfPay:
        """Its first and last day."""
        return PeriodOfPay(self.start, self.end)


@dataclass(frozen=True, slots=True)
class NextPayday:
    """A period that isn't paid yet, and its payday; both may be past if a payroll is late.

    ``autopilot``: Autopilot will run it.
    """

    start: datetime.date
    end: datetime.date
    frequency: PayFrequency
    pay_date: datetime.date
    employees: tuple[UUID, ...] = ()
    names: tuple[str, ...] = ()
    autopilot: bool = False


class _Offset(NamedTuple):
    """How many days the payday is after a period's end; before its end, how many after its start."""

    from_end: bool
    days: int


def next_payday(
    paid: Sequence[PaidPeriod], frequency: PayFrequency, *, by_deposit: bool = False
) -> NextPayday:
    """Return the period after the last paid one and its payday, which is as long after it as it usually was.

    ``paid`` are the latest payrolls, the latest period first; at least one. The payday is what most of the last
    `LOOKED_AT` agree on, and of two equally common ones the later payroll's. Where banks are closed on it, it is the
    business day before, except for weekly and biweekly pay by check or cash, which keeps its weekday. It is never
    before the period begins. Raises ValueError for nothing paid.
    """
    if not paid:
        raise ValueError("the next payday follows a payroll")
    period = following_period(paid[0].period, frequency)
    moves = by_deposit or frequency in ("semimonthly", "monthly")
    day = _day_of(_usual_offset(paid[:LOOKED_AT], moves=moves), period)
    if moves:
        day = banking_day_on_or_before(day)
    return NextPayday(period.start, period.end, frequency, max(day, period.start))


def _usual_offset(paid: Sequence[PaidPeriod], *, moves: bool) -> _Offset:
    """Return the most common offset; a payroll on the day before closed days may have been meant for those."""
    possible = [list(_offsets(each, moves=moves)) for each in paid]
    usual = Counter(offset for offsets in possible for offset in offsets)
    most = max(usual.values())
    return next(offset for offsets in possible for offset in offsets if usual[offset] == most)


def _offsets(paid: PaidPeriod, *, moves: bool) -> Iterator[_Offset]:
    day = paid.pay_date
    yield _offset(paid, day)
    if moves and is_banking_day(day):
        day += _DAY
        while not is_banking_day(day):
            yield _offset(paid, day)
            day += _DAY


def _offset(paid: PaidPeriod, day: datetime.date) -> _Offset:
    if day < paid.end:
        return _Offset(False, (day - paid.start).days)
    days = (day - paid.end).days
    return _Offset(True, days if days <= LONGEST_DELAY else days % _A_WEEK)


def _day_of(offset: _Offset, period: PeriodOfPay) -> datetime.date:
    if offset.from_end:
        return period.end + offset.days * _DAY
    return min(period.start + offset.days * _DAY, period.end)


class _PaidRow(NamedTuple):
    employer_id: UUID
    employee_id: UUID
    name: str
    frequency: str
    ends_on: datetime.date | None
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    direct_deposit: bool


# An employee's periods are few and end with an index of the employee's entries; bonuses alone pay for no period.
# Entries are in order before payrolls are joined to them, so that only the latest payrolls are read.
_PAID: Final = query(
    _PaidRow,
    "SELECT w.employer_id, w.id AS employee_id, w.first_name || ' ' || w.last_name AS name, "
    "w.pay_frequency AS frequency, w.end_date AS ends_on, p.period_start, p.period_end, p.pay_date, "
    "p.direct_deposit FROM {employees} w CROSS JOIN LATERAL ("
    "SELECT n.period_start, n.period_end, coalesce(n.pay_date_asked, n.pay_date) AS pay_date, n.direct_deposit "
    "FROM (SELECT e.payroll_id, upper(e.period) AS ended FROM payroll_entries e WHERE e.employee_id = w.id AND e.live "
    "AND (e.regular_hours > 0 OR e.overtime_hours > 0 OR e.salary IS NOT NULL) ORDER BY 2 DESC, 1 DESC) e "
    "JOIN payrolls n ON n.id = e.payroll_id WHERE n.kind <> 'fica_refund' "
    "ORDER BY e.ended DESC, e.payroll_id DESC LIMIT {looked_at}) p "
    "WHERE w.employer_id = ANY(CAST(:employers AS uuid[])) AND w.status = 'active' "
    "ORDER BY w.employer_id, w.last_name, w.id, p.period_end DESC",
    employees=EMPLOYEES,
    looked_at=LOOKED_AT,
)


class _PlannedRow(NamedTuple):
    employer_id: UUID
    employee_id: UUID
    start: datetime.date
    end: datetime.date
    pay_date: datetime.date


_PLANNED: Final = query(
    _PlannedRow,
    "SELECT a.employer_id, a.employee_id, a.next_start AS start, a.next_end AS end, a.next_pay_date AS pay_date "
    "FROM {autopilot} a WHERE a.employer_id = ANY(CAST(:employers AS uuid[]))",
    autopilot=AUTOPILOT_PAYDAYS,
)


async def read_next_paydays(
    session: AsyncSession, employer_ids: Collection[UUID]
) -> Mapping[UUID, tuple[NextPayday, ...]]:
    """Return the next paydays of each household by its id, the earliest payday first.

    Active employees who share a period, a frequency and a payday share one. Left out are employees who were never
    paid for a period, those whose last day is before the next one, and households without any. The caller has checked
    that payrolls may be read.
    """
    asked = {"employers": list(employer_ids)}
    paid: dict[UUID, list[_PaidRow]] = {}
    for row in await fetch_all(session, _PAID, asked):
        paid.setdefault(row.employee_id, []).append(row)
    planned = {row.employee_id: row for row in await fetch_all(session, _PLANNED, asked)} if paid else {}
    shared: dict[UUID, dict[NextPayday, list[_PaidRow]]] = {}
    for employee_id, rows in paid.items():
        due = _next_of(rows, planned.get(employee_id))
        latest = rows[0]
        if latest.ends_on is None or latest.ends_on >= due.start:
            shared.setdefault(latest.employer_id, {}).setdefault(due, []).append(latest)
    return {
        employer_id: tuple(
            replace(
                due,
                employees=tuple(each.employee_id for each in people),
                names=tuple(each.name for each in people),
            )
            for due, people in sorted(found.items(), key=lambda each: (each[0].pay_date, each[0].start))
        )
        for employer_id, found in shared.items()
    }


def _next_of(rows: Sequence[_PaidRow], planned: _PlannedRow | None) -> NextPayday:
    latest = rows[0]
    frequency = cast(PayFrequency, latest.frequency)
    if planned is not None:
        return NextPayday(planned.start, planned.end, frequency, planned.pay_date, autopilot=True)
    paid = [PaidPeriod(row.period_start, row.period_end, row.pay_date) for row in rows]
    return next_payday(paid, frequency, by_deposit=latest.direct_deposit)


class _RecordedRow(NamedTuple):
    employee_id: UUID
    frequency: str
    since: datetime.date
    start: datetime.date | None
    end: datetime.date | None


# What was earned before prior wages were entered is in them, up to their day.
_RECORDED: Final = query(
    _RecordedRow,
    "SELECT w.id AS employee_id, w.pay_frequency AS frequency, "
    "greatest(w.start_date, CAST(:since AS date), (SELECT max(o.as_of) + 1 FROM prior_wages o "
    "WHERE o.employee_id = w.id AND o.replaced_by IS NULL)) AS since, "
    'lower(e.period) AS start, upper(e.period) - 1 AS "end" '
    "FROM {employees} w LEFT JOIN payroll_entries e ON e.employee_id = w.id AND e.live "
    "AND e.period && daterange(CAST(:since AS date), NULL) "
    "AND (e.regular_hours > 0 OR e.overtime_hours > 0 OR e.salary IS NOT NULL) "
    "WHERE w.employer_id = :employer AND w.status = 'active' ORDER BY w.id, 4",
    employees=EMPLOYEES,
)


async def read_unpaid_periods(
    session: AsyncSession, employer_id: UUID, today: datetime.date
) -> Mapping[UUID, Sequence[PeriodOfPay]]:
    """Return the periods of this year that have ended and have no payroll, oldest first, by active employee.

    They begin with the first day of work, or after the day up to which prior wages were entered. Employees without
    any are left out. The caller has checked that payrolls may be read.
    """
    asked = {"employer": employer_id, "since": today.replace(month=1, day=1)}
    rows: dict[UUID, list[_RecordedRow]] = {}
    for row in await fetch_all(session, _RECORDED, asked):
        rows.setdefault(row.employee_id, []).append(row)
    found = {
        employee_id: unpaid_periods(
            [PeriodOfPay(row.start, row.end) for row in own if row.start is not None and row.end is not None],
            cast(PayFrequency, own[0].frequency),
            own[0].since,
            today - _DAY,
        )
        for employee_id, own in rows.items()
    }
    return {employee_id: periods for employee_id, periods in found.items() if periods}
