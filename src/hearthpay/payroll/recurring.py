"""What Autopilot has to say of a payroll that a person runs: nothing is paid twice, and nothing ahead of its turn.

A period that Autopilot has not scheduled may be run by hand, and Autopilot steps over it. Read with the employees
locked, as the worker has them when it schedules, so that of both the second sees what the first did.
"""

import datetime
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.database.relations import AUTOPILOT_ENROLLMENTS, AUTOPILOT_PERIODS

_SCHEDULED: Final = text(
    "SELECT g.employee_id, g.payroll_id, g.period_start, g.period_end, g.pay_date, g.send_at "
    f"FROM {AUTOPILOT_PERIODS} g WHERE g.employee_id = ANY(:employees) AND g.outcome = 'scheduled' "
    "AND g.period_start <= :last AND g.period_end >= :first ORDER BY g.period_start LIMIT 1"
)
_AHEAD: Final = text(
    "SELECT e.employee_id, e.next_start, e.next_end, e.next_pay_date "
    f"FROM {AUTOPILOT_ENROLLMENTS} e WHERE e.employee_id = ANY(:employees) AND e.status = 'active' "
    "AND e.next_end < :last ORDER BY e.next_end LIMIT 1"
)

_TRY_AT_ONCE: Final = text(
    "UPDATE payrolls SET next_attempt_at = :now WHERE id = ANY(:payrolls) AND status = 'scheduled' "
    "AND next_attempt_at > :now"
)


async def try_at_once(session: AsyncSession, payrolls: Sequence[UUID], now: datetime.datetime) -> None:
    """Let those of the payrolls be fired now that have been put off: what was in their way may be gone."""
    await session.execute(_TRY_AT_ONCE, {"payrolls": list(payrolls), "now": now})


async def refuse_what_autopilot_pays(
    session: AsyncSession, employees: Sequence[UUID], first: datetime.date, last: datetime.date
) -> None:
    """Raise where hours of these days, of one of the employees, are Autopilot's to pay.

    `autopilot_run_scheduled` where it has scheduled a payroll for some of them, `period_ahead_of_anchor` for days
    beyond its next run.
    """
    days = {"employees": list(employees), "first": first, "last": last}
    scheduled = (await session.execute(_SCHEDULED, days)).one_or_none()
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
    ahead = (await session.execute(_AHEAD, {"employees": list(employees), "last": last})).one_or_none()
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
