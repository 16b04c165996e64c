"""Resuming the enrollments of reinstated employees, from the next whole period."""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.autopilot.models import AutopilotEvent, Enrollment
from hearthpay.autopilot.pausing import paused_periods
from hearthpay.autopilot.records import queue_task, stages_of, stand_before, versions_of
from hearthpay.autopilot.schedule import periods_of
from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, query


class _BackRow(NamedTuple):
    id: UUID
    start_date: datetime.date


_BACK: Final = query(
    _BackRow,
    "SELECT e.id, m.start_date FROM autopilot_enrollments e "
    "JOIN {employees} m ON m.id = e.employee_id AND m.status = 'active' "
    "WHERE e.status = 'paused' AND e.pause_reason = 'employee_inactive' ORDER BY e.id LIMIT :limit",
    employees=EMPLOYEES,
)


async def resume_reinstated(session: AsyncSession, now: datetime.datetime, *, limit: int) -> int:
    """Resume enrollments that rested while their employee was a former one, after a reinstatement; return how many.

    The session is the worker's. Each resumes with the first period that begins on or after the first day of work and
    can still be sent; Autopilot never pays for those in between. The household is notified.
    """
    starts = {row.id: row.start_date for row in await fetch_all(session, _BACK, {"limit": limit})}
    if not starts:
        return 0
    statement = (
        select(Enrollment)
        .where(
            Enrollment.id.in_(starts),
            Enrollment.status == "paused",
            Enrollment.pause_reason == "employee_inactive",
        )
        .order_by(Enrollment.id)
        .with_for_update(key_share=True, skip_locked=True)
        .execution_options(populate_existing=True)
    )
    enrollments = (await session.scalars(statement)).all()
    versions = await versions_of(session, [enrollment.id for enrollment in enrollments])
    for enrollment in enrollments:
        own = versions[enrollment.id]
        coming = periods_of(stages_of(own), enrollment.next_start)
        period = next(each for each in coming if each.start >= starts[enrollment.id] and each.send_at > now)
        missed = paused_periods(enrollment, own, period.start, now)
        session.add_all(missed)
        enrollment.status, enrollment.pause_reason, enrollment.failure_count = "active", None, 0
        stand_before(enrollment, period)
        enrollment.updated_at = now
        details = {
            "reinstated": True,
            "next_period": {
                "start": period.start.isoformat(),
                "end": period.end.isoformat(),
                "pay_date": period.pay_date.isoformat(),
            },
            "not_paid": [
                {"start": each.period_start.isoformat(), "end": each.period_end.isoformat()}
                for each in missed
            ],
        }
        session.add(_resumed(enrollment, now, details))
        await session.flush()
        await queue_task(session, enrollment, "resumed", now, details)
    return len(enrollments)


def _resumed(enrollment: Enrollment, now: datetime.datetime, details: dict[str, object]) -> AutopilotEvent:
    return AutopilotEvent(
        id=uuid7(),
        organization_id=enrollment.organization_id,
        employer_id=enrollment.employer_id,
        sandbox=enrollment.sandbox,
        enrollment_id=enrollment.id,
        employee_id=enrollment.employee_id,
        event="resume",
        at=now,
        actor_kind="system",
        actor_id=None,
        source="system",
        request_id=None,
        details=details,
    )
