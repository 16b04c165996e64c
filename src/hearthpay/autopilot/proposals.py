"""What enrolling an employee now would give: the schedule that the enrollment form starts from, and its paydays."""

import datetime
from typing import Final, cast
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.schedule import AutopilotPeriod, Schedule, Stage, first_still_sent, preview
from hearthpay.database.relations import PAYCHECKS, PAYROLLS
from hearthpay.database.statements import statement
from hearthpay.employees.commands import PayFrequency
from hearthpay.employees.models import Employee

USUAL_PAY_DAYS_AFTER: Final = 5
"""Calendar days from a period's end to its payday, unless another payday is chosen."""

_DAY: Final = datetime.timedelta(days=1)
_OLDEST: Final = datetime.timedelta(days=366)
"""How long ago the last paid period may have ended for the schedule to continue from it."""

_LAST_PAID: Final = statement(
    "SELECT max(p.period_end) FROM {paychecks} c JOIN {payrolls} p ON p.id = c.payroll_id "
    "WHERE c.employee_id = :employee AND c.reverses IS NULL AND p.status = 'completed' "
    "AND NOT EXISTS (SELECT FROM {paychecks} r WHERE r.reverses = c.id)",
    paychecks=PAYCHECKS,
    payrolls=PAYROLLS,
)


async def usual_schedule(session: AsyncSession, employee: Employee, today: datetime.date) -> Schedule:
    """Return the default schedule for enrolling an employee.

    Periods have the employee's pay frequency. They follow the last paid period if one of that frequency may begin on
    the day after it; otherwise they are counted from this week's Monday, or from the calendar's half month or month.
    The payday is `USUAL_PAY_DAYS_AFTER` days after the period.
    """
    frequency = cast(PayFrequency, employee.pay_frequency)
    following = await _day_after_last_paid(session, employee.id)
    if following is not None and abs(following - today) < _OLDEST:
        try:
            return Schedule(frequency, following, USUAL_PAY_DAYS_AFTER)
        except ValueError:  # no half month or month begins on that day
            pass
    return Schedule(frequency, _usual_anchor(frequency, today), USUAL_PAY_DAYS_AFTER)


async def proposed_periods(
    session: AsyncSession, employee: Employee, now: datetime.datetime, today: datetime.date
) -> tuple[AutopilotPeriod, ...]:
    """Return the first three periods that enrolling an employee now would pay, on the default schedule.

    Periods that end before the employee starts are left out.
    """
    schedule = await usual_schedule(session, employee, today)
    stages = (Stage(schedule.anchor, schedule),)
    first = first_still_sent(stages, schedule.anchor, now)
    while first.end < employee.start_date:
        first = schedule.period(first.end + _DAY)
    return preview(stages, first.start)


async def _day_after_last_paid(session: AsyncSession, employee_id: UUID) -> datetime.date | None:
    last: datetime.date | None = await session.scalar(_LAST_PAID, {"employee": employee_id})
    return None if last is None else last + _DAY


def _usual_anchor(frequency: PayFrequency, today: datetime.date) -> datetime.date:
    if frequency == "monthly":
        return today.replace(day=1)
    if frequency == "semimonthly":
        return today.replace(day=1 if today.day < 16 else 16)
    return today - today.weekday() * _DAY
