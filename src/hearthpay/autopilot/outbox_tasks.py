"""What is left to do once something has happened to an enrollment: failures counted, the household told.

A task is written in the transaction of what it tells of, and goes in the one that queues the mail: so it is told
once, by whichever worker, and none is lost. Three failures in a row pause the enrollment.
"""

import datetime
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.generation import MOST_FAILURES
from hearthpay.autopilot.mails import mail_of
from hearthpay.banking.authorizations import authorized_payrolls
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, PAYCHECKS, PAYROLLS
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.payroll.issues.failures import FOR_THE_OPERATOR
from hearthpay.people.recipients import NoticeReader, Topic, addressed, readers_of_households
from hearthpay.security.key_ring import KeyRing

CHUNK: Final = 50
"""Tasks in one transaction."""

_POSTPONED: Final = datetime.timedelta(hours=1)
_NOT_COUNTED: Final = FOR_THE_OPERATOR
"""Failures that the household cannot mend; nor does a payroll count that another one pays, `year_passed`."""

_log = structlog.get_logger("hearthpay.autopilot")

# Taken with those that it locks: a killed worker leaves them as they were. Nobody waits for an enrollment with an
# task in hand: whoever deletes a household holds its enrollments and waits for their tasks.
_TAKE: Final = (
    "WITH due AS MATERIALIZED (SELECT x.id FROM autopilot_errands x "
    "JOIN autopilot_enrollments e ON e.id = x.enrollment_id WHERE x.due_at <= :now {mine} "
    "ORDER BY x.due_at, x.id LIMIT :chunk FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF e SKIP LOCKED) "
    "DELETE FROM autopilot_errands x USING due WHERE x.id = due.id "
    "RETURNING x.id, x.enrollment_id, x.kind, x.payroll_id, x.details, x.due_at"
)
_TAKE_SOME: Final = text(_TAKE.format(mine=""))
_TAKE_ONE: Final = text(_TAKE.format(mine="AND x.id = :id"))
_ENROLLMENTS: Final = text(
    "SELECT e.id, e.organization_id, e.employer_id, e.sandbox, e.employee_id, e.status, e.failure_count, "
    "e.next_pay_date FROM autopilot_enrollments e WHERE e.id = ANY(:ids)"
)
_PEOPLE: Final = text(
    "SELECT m.id, m.first_name, m.last_name, h.first_name AS household_first, h.last_name AS household_last "
    f"FROM {EMPLOYEES} m JOIN {EMPLOYERS} h ON h.id = m.employer_id WHERE m.id = ANY(:employees)"
)
_PAYROLLS: Final = text(
    "SELECT p.id, p.status, p.period_start, p.period_end, p.pay_date, p.net_pay, p.scheduled_send_at, "
    f"p.failure ->> 'code' AS code FROM {PAYROLLS} p WHERE p.id = ANY(:payrolls)"
)
_MADE_ANEW: Final = text(
    "SELECT p.id, p.status, p.period_start, p.period_end, p.pay_date, p.net_pay, p.scheduled_send_at, "
    f"p.failure ->> 'code' AS code FROM {PAYROLLS} p JOIN {PAYROLLS} o ON o.employer_id = p.employer_id "
    "AND o.created_at = p.approved_at AND o.period_start = p.period_start AND o.period_end = p.period_end "
    "WHERE o.id = :payroll AND p.id <> o.id AND p.status = 'pending_funding' "
    f"AND EXISTS (SELECT FROM {PAYCHECKS} c WHERE c.payroll_id = p.id AND c.employee_id = :employee) "
    "ORDER BY p.id DESC LIMIT 1"
)
"""The payroll of the new year that takes the place of one whose year had passed."""
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
_POSTPONE: Final = text("UPDATE autopilot_errands SET due_at = :again WHERE id = :id")
_COUNT_DUE: Final = text(
    f"SELECT count(*) FROM (SELECT FROM autopilot_errands WHERE due_at <= :now LIMIT {10 * CHUNK}) due"
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
    """Run the tasks that are due; return how many were done, and at least how many are left.

    `database` acts as the worker's role. One that cannot be done is tried again later and holds no other back. Raises
    DatabaseUnavailable.
    """
    done = 0
    while not stopping():
        taken: list[UUID] = []
        try:
            async with database.transaction(None) as session:
                rows = (await session.execute(_TAKE_SOME, {"now": clock.now(), "chunk": chunk})).all()
                taken = [row.id for row in rows]
                await _do(session, ring, notifications, rows, clock.now())
        except DatabaseUnavailable:
            raise
        except Exception:  # one of them is at fault, found by doing them apart
            if not taken:
                raise
            _log.warning("autopilot tasks are run one by one", tasks=len(taken), exc_info=True)
            await _do_apart(database, ring, clock, notifications, taken)
        if not taken:
            break
        done += len(taken)
    async with database.transaction(None) as session:
        return done, int(await session.scalar(_COUNT_DUE, {"now": clock.now()}) or 0)


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
                rows = (await session.execute(_TAKE_ONE, {"now": now, "chunk": 1, "id": task})).all()
                await _do(session, ring, notifications, rows, now)
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
    rows: Sequence[Any],
    now: datetime.datetime,
) -> None:
    if not rows:
        return
    ids = sorted({row.enrollment_id for row in rows})
    enrollments = {row.id: row for row in await session.execute(_ENROLLMENTS, {"ids": ids})}
    employees = [row.employee_id for row in enrollments.values()]
    people = {row.id: row for row in await session.execute(_PEOPLE, {"employees": employees})}
    readers = await readers_of_households(session, {row.employer_id for row in enrollments.values()})
    requested = [row.payroll_id for row in rows if row.payroll_id is not None]
    payrolls = {row.id: row for row in await session.execute(_PAYROLLS, {"payrolls": requested})}
    failures = {enrollment_id: row.failure_count for enrollment_id, row in enrollments.items()}
    for row in sorted(rows, key=lambda each: (each.due_at, each.id)):
        enrollment = enrollments[row.enrollment_id]
        payroll = payrolls.get(row.payroll_id)
        kind, details = row.kind, row.details
        if kind == "failed":
            if payroll is None:
                continue
            if payroll.code == "year_passed":
                payroll = await _regenerated(session, payroll.id, enrollment.employee_id, now)
                if payroll is None:
                    continue
                kind = "debit_tomorrow"
            elif payroll.code in _NOT_COUNTED:
                continue
            else:
                failures[enrollment.id] += 1
                count = {"id": enrollment.id, "failures": failures[enrollment.id], "now": now}
                await session.execute(_COUNT, count)
                if failures[enrollment.id] < MOST_FAILURES or enrollment.status != "active":
                    continue
                await session.execute(_PAUSE, {**count, "reason": payroll.code or "failed"})
                kind, details = (
                    "paused",
                    {"reasons": [payroll.code], "failure_count": failures[enrollment.id]},
                )
        elif kind == "paid" and failures[enrollment.id]:
            failures[enrollment.id] = 0
            await session.execute(_COUNT, {"id": enrollment.id, "failures": 0, "now": now})
        if kind == "held" and (payroll is None or payroll.status != "scheduled"):
            continue  # it has been voided, or sent
        if kind == "debit_tomorrow" and (payroll is None or payroll.status in ("voided", "failed")):
            continue  # a worker that was away tells of what has been sent all the same
        payroll_id = row.payroll_id if payroll is None else payroll.id
        about = payroll_id or details.get("period_start") or row.id
        again = next((f":{each}" for each in ("for_good", "waiting") if details.get(each)), "")
        notice = Notice(
            f"autopilot:{enrollment.id}:{kind}:{about}{again}",
            f"autopilot_{kind}",
            "household",
            None,
            enrollment.organization_id,
            enrollment.employer_id,
            enrollment.sandbox,
            enrollment.employee_id,
            payroll_id,
        )
        told = people[enrollment.employee_id]
        write = partial(_write, kind, told, payroll, details)
        topic: Topic | None = "payday" if kind == "paid" else None
        for each in addressed(notice, readers.get(enrollment.employer_id, ()), write, topic):
            await queue_notice(session, ring, notifications, now, each)


async def _regenerated(
    session: AsyncSession, payroll_id: UUID, employee_id: UUID, now: datetime.datetime
) -> Any:
    """Return the payroll that takes the place of one whose year had passed, if its debit is authorized.

    The household is told of this debit as of any other of Autopilot.
    """
    anew = (await session.execute(_MADE_ANEW, {"payroll": payroll_id, "employee": employee_id})).one_or_none()
    if anew is None or not await authorized_payrolls(session, [anew.id], now):
        return None
    return anew


def _write(kind: str, people: Any, payroll: Any, details: Any, reader: NoticeReader) -> Mail:
    return mail_of(kind, reader, people, payroll, details)
