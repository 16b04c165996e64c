"""What is left to do once something has happened to an enrollment: failures counted, the household notified.

A task is written in the transaction of the event it reports, and deleted in the one that queues its mail: so each
mail is queued once, by any worker, and none is lost. Three failures in a row pause the enrollment.
"""

import datetime
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.mails import Names, TaskDetails, TaskPayroll, mail_of
from hearthpay.autopilot.task_kinds import HANDLERS, Task, TaskContext, TaskEnrollment, TaskNotice
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, PAYROLLS
from hearthpay.database.session import Database
from hearthpay.database.statements import Fragment, statement
from hearthpay.database.turns import Turns
from hearthpay.database.typed_rows import Query, fetch_all, query
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.people.recipients import Topic, addressed, readers_of_households
from hearthpay.security.key_ring import KeyRing

CHUNK: Final = 50
"""Tasks in one transaction."""

_POSTPONED: Final = datetime.timedelta(hours=1)

_log = structlog.get_logger("hearthpay.autopilot")


class _TaskRow(NamedTuple):
    id: UUID
    organization_id: UUID
    enrollment_id: UUID
    kind: str
    payroll_id: UUID | None
    details: dict[str, Any]
    due_at: datetime.datetime


def _claim(which: Fragment) -> Query[_TaskRow]:
    # Deleted by the statement that locks them: a killed worker leaves them as they were. An enrollment
    # that is locked is skipped: a process that deletes a household locks its enrollments before their tasks.
    return query(
        _TaskRow,
        "WITH due AS MATERIALIZED (SELECT x.id FROM autopilot_errands x "
        "JOIN autopilot_enrollments e ON e.id = x.enrollment_id WHERE x.due_at <= :now {which} "
        "ORDER BY x.due_at, x.id LIMIT :chunk FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF e SKIP LOCKED) "
        "DELETE FROM autopilot_errands x USING due WHERE x.id = due.id "
        "RETURNING x.id, x.organization_id, x.enrollment_id, x.kind, x.payroll_id, x.details, x.due_at",
        which=which,
    )


_CLAIM_DUE: Final = _claim(Fragment("AND x.organization_id <> ALL(CAST(:resting AS uuid[]))"))
_CLAIM_ONE: Final = _claim(Fragment("AND x.id = :id"))


class _EnrollmentRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID
    status: str
    failure_count: int


_ENROLLMENTS: Final = query(
    _EnrollmentRow,
    "SELECT e.id, e.organization_id, e.employer_id, e.sandbox, e.employee_id, e.status, e.failure_count "
    "FROM autopilot_enrollments e WHERE e.id = ANY(:ids)",
)


class _PeopleRow(NamedTuple):
    id: UUID
    first_name: str
    last_name: str
    household_first: str
    household_last: str


_PEOPLE: Final = query(
    _PeopleRow,
    "SELECT m.id, m.first_name, m.last_name, h.first_name AS household_first, h.last_name AS household_last "
    "FROM {employees} m JOIN {employers} h ON h.id = m.employer_id WHERE m.id = ANY(:employees)",
    employees=EMPLOYEES,
    employers=EMPLOYERS,
)
_PAYROLLS: Final = query(
    TaskPayroll,
    "SELECT p.id, p.status, p.period_start, p.period_end, p.pay_date, p.net_pay, p.scheduled_send_at, "
    "p.failure ->> 'code' AS code FROM {payrolls} p WHERE p.id = ANY(:payrolls)",
    payrolls=PAYROLLS,
)
_POSTPONE: Final = text("UPDATE autopilot_errands SET due_at = :again WHERE id = :id")
_COUNT_DUE: Final = statement(
    "SELECT count(*) FROM (SELECT FROM autopilot_errands WHERE due_at <= :now LIMIT {most}) due",
    most=10 * CHUNK,
)


async def run_outbox_tasks(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    *,
    chunk: int = CHUNK,
    stopping: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """Run the due tasks, in turn by organization; return how many were done, and at least how many are left.

    `database` acts as the worker's role. A task that fails is retried later and doesn't delay others. Raises
    DatabaseUnavailable.
    """
    done = 0
    turns = Turns[UUID]()
    while not stopping():
        taken: list[UUID] = []
        try:
            async with database.transaction(None) as session:
                tasks = await _claim_in_turn(session, turns, clock.now(), chunk)
                taken = [task.id for task in tasks]
                if not taken:
                    return done, await _count_due(session, clock)
                await _do(session, ring, notifications, tasks, clock.now())
        except DatabaseUnavailable:
            raise
        except Exception:  # one of them is at fault, found by doing them apart
            if not taken:
                raise
            _log.warning("autopilot tasks are run one by one", tasks=len(taken), exc_info=True)
            await _do_apart(database, ring, clock, notifications, taken)
        done += len(taken)
    async with database.transaction(None) as session:
        return done, await _count_due(session, clock)


async def _count_due(session: AsyncSession, clock: Clock) -> int:
    return int(await session.scalar(_COUNT_DUE, {"now": clock.now()}) or 0)


async def _do_apart(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    taken: Sequence[UUID],
) -> None:
    now = clock.now()
    for task in taken:
        try:
            async with database.transaction(None) as session:
                tasks = _tasks(await fetch_all(session, _CLAIM_ONE, {"now": now, "chunk": 1, "id": task}))
                await _do(session, ring, notifications, tasks, now)
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("an autopilot task failed", task_id=str(task), exc_info=error)
            async with database.transaction(None) as session:
                await session.execute(_POSTPONE, {"id": task, "again": now + _POSTPONED})


async def _do(
    session: AsyncSession,
    ring: KeyRing,
    notifications: NotificationSettings,
    tasks: Sequence[Task],
    now: datetime.datetime,
) -> None:
    if not tasks:
        return
    enrollments = await _enrollments(session, {task.enrollment_id for task in tasks})
    names = await _names(session, [each.employee_id for each in enrollments.values()])
    readers = await readers_of_households(session, {each.employer_id for each in enrollments.values()})
    payrolls = await _payrolls(session, [task.payroll_id for task in tasks if task.payroll_id is not None])
    for task in sorted(tasks, key=lambda each: (each.due_at, each.id)):
        enrollment = enrollments[task.enrollment_id]
        payroll = None if task.payroll_id is None else payrolls.get(task.payroll_id)
        outcome = await HANDLERS[task.kind](TaskContext(session, now, task, enrollment, payroll))
        if outcome is None:
            continue
        write = partial(
            mail_of,
            kind=outcome.kind,
            names=names[enrollment.employee_id],
            payroll=outcome.payroll,
            details=outcome.details,
        )
        topic: Topic | None = "payday" if outcome.kind == "paid" else None
        notice = _notice(task, enrollment, outcome)
        for each in addressed(notice, readers.get(enrollment.employer_id, ()), write, topic):
            await queue_notice(session, ring, notifications, now, each)


def _notice(task: Task, enrollment: TaskEnrollment, outcome: TaskNotice) -> Notice:
    payroll_id = task.payroll_id if outcome.payroll is None else outcome.payroll.id
    about = payroll_id or outcome.details.get("period_start") or task.id
    again = next((f":{each}" for each in ("for_good", "waiting") if outcome.details.get(each)), "")
    return Notice(
        f"autopilot:{enrollment.id}:{outcome.kind}:{about}{again}",
        f"autopilot_{outcome.kind}",
        "household",
        None,
        enrollment.organization_id,
        enrollment.employer_id,
        enrollment.sandbox,
        enrollment.employee_id,
        payroll_id,
    )


async def _claim_in_turn(
    session: AsyncSession, turns: Turns[UUID], now: datetime.datetime, chunk: int
) -> list[Task]:
    async def claim(resting: list[UUID]) -> Sequence[_TaskRow]:
        return await fetch_all(session, _CLAIM_DUE, {"now": now, "chunk": chunk, "resting": resting})

    return _tasks(await turns.take(chunk, claim, lambda row: row.organization_id))


def _tasks(rows: Sequence[_TaskRow]) -> list[Task]:
    return [
        Task(
            row.id,
            row.enrollment_id,
            row.kind,
            row.payroll_id,
            cast(TaskDetails, row.details),
            row.due_at,
        )
        for row in rows
    ]


async def _enrollments(session: AsyncSession, ids: Collection[UUID]) -> dict[UUID, TaskEnrollment]:
    found = await fetch_all(session, _ENROLLMENTS, {"ids": sorted(ids)})
    return {row.id: TaskEnrollment(*row) for row in found}


async def _names(session: AsyncSession, employees: Sequence[UUID]) -> dict[UUID, Names]:
    found = await fetch_all(session, _PEOPLE, {"employees": employees})
    return {row.id: Names(row.first_name, row.last_name, row.household_first) for row in found}


async def _payrolls(session: AsyncSession, payrolls: Sequence[UUID]) -> dict[UUID, TaskPayroll]:
    return {row.id: row for row in await fetch_all(session, _PAYROLLS, {"payrolls": payrolls})}
