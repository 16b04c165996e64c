"""What each kind of Autopilot's tasks does, and what the household's notice of it says.

Failures of payrolls are counted; three in a row pause the enrollment.
"""

import datetime
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.generation import MOST_FAILURES
from hearthpay.autopilot.mails import TaskDetails, TaskPayroll
from hearthpay.banking.authorizations import authorized_payrolls
from hearthpay.database.relations import PAYCHECKS, PAYROLLS
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.payroll.issues.failures import FOR_THE_OPERATOR

_NOT_COUNTED: Final = FOR_THE_OPERATOR
"""Failures that the household can't fix; neither does `year_passed` count, since another payroll pays the period."""

_MADE_ANEW: Final = query(
    TaskPayroll,
    "SELECT p.id, p.status, p.period_start, p.period_end, p.pay_date, p.net_pay, p.scheduled_send_at, "
    "p.failure ->> 'code' AS code FROM {payrolls} p JOIN {payrolls} o ON o.employer_id = p.employer_id "
    "AND o.created_at = p.approved_at AND o.period_start = p.period_start AND o.period_end = p.period_end "
    "WHERE o.id = :payroll AND p.id <> o.id AND p.status = 'pending_funding' "
    "AND EXISTS (SELECT FROM {paychecks} c WHERE c.payroll_id = p.id AND c.employee_id = :employee) "
    "ORDER BY p.id DESC LIMIT 1",
    payrolls=PAYROLLS,
    paychecks=PAYCHECKS,
)
"""The payroll of the new year that replaces one whose year had passed."""
_COUNT: Final = text(
    "UPDATE autopilot_enrollments SET failure_count = :failures, updated_at = :now WHERE id = :id"
)
_PAUSE: Final = text(
    "WITH paused AS (UPDATE autopilot_enrollments SET status = 'paused', generate_at = NULL, pause_reason = :reason, "
    "updated_at = :now WHERE id = :id AND status = 'active' "
    "RETURNING id, organization_id, employer_id, sandbox, employee_id) "
    "INSERT INTO autopilot_events (id, organization_id, employer_id, sandbox, enrollment_id, employee_id, event, at, "
    "actor_kind, source, details) SELECT new_id(), organization_id, employer_id, sandbox, id, employee_id, 'pause', "
    ":now, 'system', 'system', jsonb_build_object('reasons', jsonb_build_array(CAST(:reason AS text)), "
    "'failure_count', CAST(:failures AS integer)) FROM paused"
)


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it is queued."""

    id: UUID
    enrollment_id: UUID
    kind: str
    payroll_id: UUID | None
    details: TaskDetails
    due_at: datetime.datetime


@dataclass(slots=True)
class TaskEnrollment:
    """The enrollment that a task is about."""

    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID
    status: str
    failure_count: int
    """Failures in a row, with those of the tasks that have been done in this transaction."""


@dataclass(frozen=True, slots=True)
class TaskContext:
    """One task with what it is about, in the transaction that does it."""

    session: AsyncSession
    now: datetime.datetime
    task: Task
    enrollment: TaskEnrollment
    payroll: TaskPayroll | None


@dataclass(frozen=True, slots=True)
class TaskNotice:
    """A notice to the household of a task that has been done."""

    kind: str
    payroll: TaskPayroll | None
    details: TaskDetails


async def _tell(context: TaskContext) -> TaskNotice | None:
    """Tell of what has happened, as the task says it."""
    return TaskNotice(context.task.kind, context.payroll, context.task.details)


async def _tell_of_held(context: TaskContext) -> TaskNotice | None:
    """Ask for the approval of a payroll, unless it has been voided, or sent."""
    if context.payroll is None or context.payroll.status != "scheduled":
        return None
    return await _tell(context)


async def _tell_of_debit(context: TaskContext) -> TaskNotice | None:
    """Announce a debit, unless there will be none; a worker that was away tells of what has been sent all the same."""
    if context.payroll is None or context.payroll.status in ("voided", "failed"):
        return None
    return await _tell(context)


async def _end_failures(context: TaskContext) -> TaskNotice | None:
    """Tell of a payroll that was paid; failures are counted from the beginning again."""
    if context.enrollment.failure_count:
        await _count_failures(context, 0)
    return await _tell(context)


async def _count_failure(context: TaskContext) -> TaskNotice | None:
    """Count a payroll that failed; pause the enrollment at the last of three, and tell of that."""
    payroll, enrollment = context.payroll, context.enrollment
    if payroll is None:
        return None
    if payroll.code == "year_passed":
        anew = await _regenerated(context.session, payroll.id, enrollment.employee_id, context.now)
        return None if anew is None else TaskNotice("debit_tomorrow", anew, context.task.details)
    if payroll.code in _NOT_COUNTED:
        return None
    failures = enrollment.failure_count + 1
    await _count_failures(context, failures)
    if failures < MOST_FAILURES or enrollment.status != "active":
        return None
    reason = payroll.code or "failed"
    pause = {"id": enrollment.id, "failures": failures, "now": context.now, "reason": reason}
    await context.session.execute(_PAUSE, pause)
    return TaskNotice("paused", payroll, {"reasons": [reason], "failure_count": failures})


async def _count_failures(context: TaskContext, failures: int) -> None:
    context.enrollment.failure_count = failures
    await context.session.execute(
        _COUNT, {"id": context.enrollment.id, "failures": failures, "now": context.now}
    )


async def _regenerated(
    session: AsyncSession, payroll_id: UUID, employee_id: UUID, now: datetime.datetime
) -> TaskPayroll | None:
    """Return the payroll that replaces one whose year had passed, if its debit is authorized.

    The household is notified of this debit as of any other of Autopilot.
    """
    anew = await fetch_optional(session, _MADE_ANEW, {"payroll": payroll_id, "employee": employee_id})
    if anew is None or not await authorized_payrolls(session, [anew.id], now):
        return None
    return anew


HANDLERS: Final[Mapping[str, Callable[[TaskContext], Awaitable[TaskNotice | None]]]] = {
    "enrolled": _tell,
    "refused": _tell,
    "paused": _tell,
    "resumed": _tell,
    "held": _tell_of_held,
    "debit_tomorrow": _tell_of_debit,
    "paid": _end_failures,
    "failed": _count_failure,
}
"""What each kind of task does, and what the household's notice of it says."""
