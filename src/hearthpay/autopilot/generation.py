"""Generating payrolls for enrolled employees: each period once, decided when it is due.

Due enrollments are claimed in chunks, each a transaction of a few statements, and one period of each is decided: paid
by a scheduled payroll, passed over because it was paid by hand or skipped, or not paid because Autopilot may not.
Enrollments that aren't due aren't read. What can't be decided in its chunk is tried on its own, and then later.

What the household can fix becomes a failure when its time has run out. What only the operator or the law can fix never
does: the period stays open, is tried every hour, and is paid as soon as possible.

For a former employee, nothing is decided after the last day: the enrollment rests, which isn't a failure, and resumes
automatically after a reinstatement.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast
from uuid import UUID

import orjson
import structlog
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.eligibility import (
    FOR_THE_OPERATOR,
    Reason,
    authorized_enrollments,
    read_facts,
    reason_of_code,
    reasons_against,
)
from hearthpay.autopilot.estimates import held_for, planned
from hearthpay.autopilot.models import Enrollment, EnrollmentVersion
from hearthpay.autopilot.records import stages_of, versions_of
from hearthpay.autopilot.reinstatement import resume_reinstated
from hearthpay.autopilot.schedule import GENERATE_AHEAD, AutopilotPeriod, is_skipped, periods_of, stage_of
from hearthpay.clock import Clock
from hearthpay.database.chunks import Started, in_chunks
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.statements import statement
from hearthpay.database.turns import Turns
from hearthpay.payroll.ledger.columns import array_of
from hearthpay.payroll.ledger.overlaps import hours_paid
from hearthpay.payroll.ledger.rows import Owner, PayrollRecord
from hearthpay.payroll.orders import Payee, read_payees
from hearthpay.payroll.scheduling import NotPlanned, Planned, calculate_planned, schedule_planned

CHUNK: Final = 200
"""Enrollments in one transaction."""

MOST_FAILURES: Final = 3
"""Consecutive failures after which an enrollment is paused."""

TRY_AGAIN: Final = datetime.timedelta(hours=6)
"""How often to check again whether the household has fixed the problem, until the time for that has run out."""

_FIRST_PAUSE_FOR_US: Final = datetime.timedelta(minutes=5)
_LONGEST_PAUSE_FOR_US: Final = datetime.timedelta(hours=1)
"""The longest interval between attempts at what only the operator or the law can fix."""

TELL_BEFORE: Final = datetime.timedelta(hours=24)
"""How long before a debit the household is notified of it."""

_log = structlog.get_logger("hearthpay.autopilot")

_DUE: Final = (
    select(Enrollment)
    .where(Enrollment.status == "active")
    .order_by(Enrollment.generate_at, Enrollment.id)
    .with_for_update(key_share=True, skip_locked=True)
    .execution_options(populate_existing=True)
)
_COUNT_DUE: Final = statement(
    "SELECT count(*) FROM (SELECT FROM autopilot_enrollments WHERE status = 'active' AND generate_at <= :now "
    "LIMIT {most}) due",
    most=10 * CHUNK,
)
_WRITE: Final = text(
    "WITH decided AS (INSERT INTO autopilot_periods (id, organization_id, employer_id, sandbox, enrollment_id, "
    "employee_id, version, period_start, period_end, pay_date, send_at, outcome, payroll_id, by_hand, reasons, held, "
    "net_pay, decided_at) "
    "SELECT new_id(), e.organization_id, e.employer_id, e.sandbox, e.id, e.employee_id, d.version, d.period_start, "
    "d.period_end, d.pay_date, d.send_at, d.outcome, d.payroll_id, CAST(d.by_hand AS uuid[]), "
    "CAST(d.reasons AS text[]), CAST(d.held AS text[]), d.net_pay, :now "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:versions AS smallint[]), CAST(:starts AS date[]), CAST(:ends AS date[]), "
    "CAST(:pay_dates AS date[]), CAST(:send_ats AS timestamptz[]), CAST(:outcomes AS text[]), "
    "CAST(:payrolls AS uuid[]), CAST(:by_hand AS text[]), CAST(:reasons AS text[]), CAST(:held AS text[]), "
    "CAST(:net_pays AS bigint[])) AS d(id, version, period_start, period_end, pay_date, send_at, outcome, payroll_id, "
    "by_hand, reasons, held, net_pay) JOIN autopilot_enrollments e ON e.id = d.id), "
    "noted AS (INSERT INTO autopilot_events (id, organization_id, employer_id, sandbox, enrollment_id, employee_id, "
    "event, at, actor_kind, source, details) SELECT new_id(), e.organization_id, e.employer_id, e.sandbox, e.id, "
    "e.employee_id, d.event, :now, 'system', 'system', d.details "
    "FROM unnest(CAST(:event_ids AS uuid[]), CAST(:events AS text[]), CAST(:event_details AS jsonb[])) "
    "WITH ORDINALITY AS d(id, event, details, number) JOIN autopilot_enrollments e ON e.id = d.id "
    "ORDER BY d.number), "
    "queued AS (INSERT INTO autopilot_errands (id, organization_id, employer_id, sandbox, enrollment_id, kind, "
    "payroll_id, details, due_at) SELECT new_id(), e.organization_id, e.employer_id, e.sandbox, e.id, d.kind, "
    "d.payroll_id, d.details, d.due_at FROM unnest(CAST(:task_ids AS uuid[]), CAST(:task_kinds AS text[]), "
    "CAST(:task_payrolls AS uuid[]), CAST(:task_details AS jsonb[]), CAST(:due_ats AS timestamptz[])) "
    "WITH ORDINALITY AS d(id, kind, payroll_id, details, due_at, number) "
    "JOIN autopilot_enrollments e ON e.id = d.id ORDER BY d.number) "
    "UPDATE autopilot_enrollments e SET next_start = d.next_start, next_end = d.next_end, "
    "next_pay_date = d.next_pay_date, generate_at = d.generate_at, mend_by = d.mend_by, status = d.status, "
    "failure_count = d.failures, pause_reason = d.pause_reason, updated_at = :now "
    "FROM unnest(CAST(:next_ids AS uuid[]), CAST(:next_starts AS date[]), CAST(:next_ends AS date[]), "
    "CAST(:next_pay_dates AS date[]), CAST(:generate_ats AS timestamptz[]), CAST(:mend_bys AS timestamptz[]), "
    "CAST(:statuses AS text[]), CAST(:failures AS smallint[]), CAST(:pause_reasons AS text[])) AS d(id, next_start, "
    "next_end, next_pay_date, generate_at, mend_by, status, failures, pause_reason) WHERE e.id = d.id"
)


_WRITE_TYPES: Final = {
    "ids": "uuid",
    "versions": "smallint",
    "starts": "date",
    "ends": "date",
    "pay_dates": "date",
    "send_ats": "timestamptz",
    "outcomes": "text",
    "payrolls": "uuid",
    "by_hand": "text",
    "reasons": "text",
    "held": "text",
    "net_pays": "bigint",
    "next_ids": "uuid",
    "next_starts": "date",
    "next_ends": "date",
    "next_pay_dates": "date",
    "generate_ats": "timestamptz",
    "mend_bys": "timestamptz",
    "statuses": "text",
    "failures": "smallint",
    "pause_reasons": "text",
    "event_ids": "uuid",
    "events": "text",
    "event_details": "jsonb",
    "task_ids": "uuid",
    "task_kinds": "text",
    "task_payrolls": "uuid",
    "task_details": "jsonb",
    "due_ats": "timestamptz",
}
"""The types of the arrays, which are sent as text: the driver would check every element."""


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """What came of the periods that were due; at least `remaining` are still due."""

    scheduled: int = 0
    stepped_over: int = 0
    refused: int = 0
    remaining: int = 0

    @property
    def decided(self) -> int:
        """How many periods were decided."""
        return self.scheduled + self.stepped_over + self.refused


class OutboxTask(NamedTuple):
    """A pending notification or follow-up about an enrollment."""

    enrollment_id: UUID
    kind: str
    payroll_id: UUID | None
    details: Mapping[str, object]
    due_at: datetime.datetime


@dataclass(frozen=True, slots=True)
class _Case:
    """An enrollment with the period to decide."""

    enrollment: Enrollment
    version: EnrollmentVersion
    period: AutopilotPeriod
    following: AutopilotPeriod


@dataclass(slots=True)
class _Decision:
    """The decision on a period; without an outcome it is checked again."""

    outcome: str | None
    payroll_id: UUID | None = None
    pay_date: datetime.date | None = None
    send_at: datetime.datetime | None = None
    by_hand: tuple[UUID, ...] = ()
    reasons: tuple[Reason, ...] = ()
    held: tuple[str, ...] = ()
    net_pay: int | None = None
    mend_by: datetime.datetime | None = None
    ended: datetime.date | None = None
    """The last day of work, if the period begins after it: nothing is decided then."""


@dataclass(slots=True)
class _Chunk:
    """What is written for one chunk."""

    events: list[tuple[UUID, str, Mapping[str, object]]] = field(default_factory=list)
    tasks: list[OutboxTask] = field(default_factory=list)


async def generate_due(
    database: Database,
    clock: Clock,
    *,
    direct_deposit_enabled: bool,
    chunk: int = CHUNK,
    stopping: Callable[[], bool] = lambda: False,
    turns: Turns[UUID] | None = None,
) -> GenerationReport:
    """Decide every due period that no other worker has claimed, chunk by chunk, two chunks at a time.

    `database` acts as the worker's role; ``offered`` says whether this installation has a bank. Organizations take
    turns, also between calls with the same `turns`. Ends early, between chunks, when `stopping` is set. Raises
    DatabaseUnavailable; what was decided before stays.
    """
    async with database.transaction(None) as session:
        await resume_reinstated(session, clock.now(), limit=chunk)
        if not await _count_due(session, clock):
            return GenerationReport()
    counts = {"scheduled": 0, "stepped_over": 0, "refused": 0}
    in_turn = Turns[UUID]() if turns is None else turns

    async def one(more: Started) -> bool:
        outcomes = await _generate_some(
            database, clock, chunk, more, in_turn, direct_deposit_enabled=direct_deposit_enabled
        )
        for outcome in outcomes:
            counts[outcome] += 1
        return bool(outcomes)

    await in_chunks(one, stopping=stopping)
    if not any(counts.values()):  # nothing was due, or others have it in hand
        return GenerationReport()
    async with database.transaction(None) as session:
        return GenerationReport(**counts, remaining=await _count_due(session, clock))


async def _count_due(session: AsyncSession, clock: Clock) -> int:
    return int(await session.scalar(_COUNT_DUE, {"now": clock.now()}) or 0)


async def _generate_some(
    database: Database,
    clock: Clock,
    chunk: int,
    more: Started,
    turns: Turns[UUID],
    *,
    direct_deposit_enabled: bool,
) -> list[str]:
    """Decide one chunk; return the result of each: scheduled, stepped_over or refused."""
    claimed: list[UUID] = []
    now = clock.now()
    try:
        async with database.transaction(None) as session:
            enrollments = await _claim(session, now, chunk, turns)
            claimed = [enrollment.id for enrollment in enrollments]
            if len(claimed) == chunk:
                more()
            return await _generate(session, enrollments, now, direct_deposit_enabled=direct_deposit_enabled)
    except DatabaseUnavailable:
        raise
    except Exception:  # one of them is at fault, found by deciding them apart
        if not claimed:
            raise
        _log.warning("a chunk of Autopilot is decided one by one", enrollments=len(claimed), exc_info=True)
    outcomes = []
    for enrollment_id in claimed:
        outcomes += await _generate_apart(
            database, enrollment_id, now, direct_deposit_enabled=direct_deposit_enabled
        )
    return outcomes


async def _claim(
    session: AsyncSession, now: datetime.datetime, chunk: int, turns: Turns[UUID]
) -> Sequence[Enrollment]:
    async def claim(resting: list[UUID]) -> Sequence[Enrollment]:
        due = _DUE.where(Enrollment.generate_at <= now, Enrollment.organization_id.not_in(resting))
        return (await session.scalars(due.limit(chunk))).all()

    return await turns.take(chunk, claim, lambda enrollment: enrollment.organization_id)


async def _generate_apart(
    database: Database, enrollment_id: UUID, now: datetime.datetime, *, direct_deposit_enabled: bool
) -> list[str]:
    """Decide one period in its own transaction; if that fails too, it counts as not eligible for now."""
    mine = _DUE.where(Enrollment.generate_at <= now, Enrollment.id == enrollment_id)
    try:
        async with database.transaction(None) as session:
            return await _generate(
                session,
                (await session.scalars(mine)).all(),
                now,
                direct_deposit_enabled=direct_deposit_enabled,
            )
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
        _log.error("Autopilot could not make a payroll", enrollment_id=str(enrollment_id), exc_info=error)
    async with database.transaction(None) as session:
        enrollments = (await session.scalars(mine)).all()
        cases = await _cases(session, enrollments)
        decided = [(case, _refused(case, ("internal_error",), now)) for case in cases]
        await _write(session, decided, now)
        return ["refused"] * len(cases)


async def _cases(session: AsyncSession, enrollments: Sequence[Enrollment]) -> list[_Case]:
    versions = await versions_of(session, [enrollment.id for enrollment in enrollments])
    cases = []
    for enrollment in enrollments:
        own = versions[enrollment.id]
        stages = stages_of(own)
        coming = periods_of(stages, enrollment.next_start)
        period, following = next(coming), next(coming)
        version = own[stage_of(stages, period.start)]
        cases.append(_Case(enrollment, version, period, following))
    return cases


async def _generate(
    session: AsyncSession,
    enrollments: Sequence[Enrollment],
    now: datetime.datetime,
    *,
    direct_deposit_enabled: bool,
) -> list[str]:
    if not enrollments:
        return []
    cases = await _cases(session, enrollments)
    decided: list[tuple[_Case, _Decision]] = []
    open_cases: list[_Case] = []
    for case in cases:
        if is_skipped(case.period, case.enrollment.skip_through):
            decided.append((case, _Decision("skipped")))
        else:
            open_cases.append(case)
    if open_cases:
        # Locked before anything is read: a process that runs or releases a payroll of the enrollment comes
        # before or after.
        payees = await read_payees(session, [case.enrollment.employee_id for case in open_cases])
        decided += await _decide(
            session, open_cases, payees, now, direct_deposit_enabled=direct_deposit_enabled
        )
    await _write(session, decided, now)
    return [_result_name(decision) for _, decision in decided]


def _result_name(decision: _Decision) -> str:
    if decision.outcome == "scheduled":
        return "scheduled"
    return "refused" if decision.reasons else "stepped_over"


async def _decide(
    session: AsyncSession,
    cases: Sequence[_Case],
    payees: Mapping[UUID, Payee],
    now: datetime.datetime,
    *,
    direct_deposit_enabled: bool,
) -> list[tuple[_Case, _Decision]]:
    employees = [case.enrollment.employee_id for case in cases]
    facts = await read_facts(session, employees, direct_deposit_enabled=direct_deposit_enabled)
    authorized = await authorized_enrollments(session, [case.enrollment.id for case in cases])
    by_hand = await hours_paid(
        session, {case.enrollment.employee_id: (case.period.start, case.period.end) for case in cases}
    )
    decided: list[tuple[_Case, _Decision]] = []
    payable: list[tuple[_Case, Planned]] = []
    for case in cases:
        employee = case.enrollment.employee_id
        payroll = planned(
            _owner(case.enrollment),
            employee,
            case.version.frequency,
            case.version.standard_hours,
            case.period,
            now,
        )
        last_day = facts[employee].last_day
        if employee in by_hand:
            decided.append((case, _Decision("by_hand", by_hand=by_hand[employee])))
        elif last_day is not None and last_day < case.period.start:
            decided.append((case, _Decision(None, reasons=("employee_inactive",), ended=last_day)))
        elif reasons := reasons_against(
            facts[employee],
            authorized=case.enrollment.id in authorized,
            period_start=case.period.start,
            period_end=case.period.end,
            pay_date=payroll.order.dates.pay_date,
        ):
            decided.append((case, _refused(case, reasons, now)))
        else:
            payable.append((case, payroll))
    calculated = await calculate_planned(session, [payroll for _, payroll in payable], payees)
    fine: list[tuple[_Case, Planned, PayrollRecord]] = []
    for (case, payroll), record in zip(payable, calculated, strict=True):
        if isinstance(record, NotPlanned):
            decided.append((case, _refused(case, (reason_of_code(record.code),), now)))
        else:
            fine.append((case, payroll, record))
    ids = await schedule_planned(session, [(payroll, record) for _, payroll, record in fine], now)
    for payroll_id, (case, payroll, record) in zip(ids, fine, strict=True):
        dates = payroll.order.dates
        decision = _Decision(
            "scheduled",
            payroll_id,
            dates.pay_date,
            dates.send_at,
            held=held_for(record, case.version.expected_net, large_confirmed=case.version.large_confirmed),
            net_pay=record.net_pay,
        )
        decided.append((case, decision))
    return decided


def _refused(case: _Case, reasons: tuple[Reason, ...], now: datetime.datetime) -> _Decision:
    """Return the decision not to pay a period.

    The household has until the sending time to fix what it can, or three days if it couldn't know before: because the
    worker was down, or nothing could be paid for reasons beyond the household. While there is such a reason, the
    period stays open.
    """
    send_at = case.period.send_at
    afterwards = now + GENERATE_AHEAD
    mend_by = case.enrollment.mend_by or (send_at if now < send_at else afterwards)
    if FOR_THE_OPERATOR.intersection(reasons):
        return _Decision(None, reasons=reasons, mend_by=max(mend_by, afterwards))
    return _Decision("ineligible" if now >= mend_by else None, reasons=reasons, mend_by=mend_by)


async def _write(
    session: AsyncSession, decided: Sequence[tuple[_Case, _Decision]], now: datetime.datetime
) -> None:
    """Write the decisions with one statement: periods, next periods, the history, and the notifications."""
    if not decided:
        return
    chunk = _Chunk()
    final = [(case, decision) for case, decision in decided if decision.outcome is not None]
    next_periods = [_goes_on(case, decision, now, chunk) for case, decision in decided]
    names = ("ids", "starts", "ends", "pay_dates")
    columns = (*(f"next_{name}" for name in names), "generate_ats", "mend_bys", "statuses", "failures")
    values = {
        **_period_values(final),
        **dict(zip((*columns, "pause_reasons"), map(list, zip(*next_periods, strict=True)), strict=True)),
        "event_ids": [each[0] for each in chunk.events],
        "events": [each[1] for each in chunk.events],
        "event_details": [_json(each[2]) for each in chunk.events],
        "task_ids": [each.enrollment_id for each in chunk.tasks],
        "task_kinds": [each.kind for each in chunk.tasks],
        "task_payrolls": [each.payroll_id for each in chunk.tasks],
        "task_details": [_json(each.details) for each in chunk.tasks],
        "due_ats": [each.due_at for each in chunk.tasks],
    }
    arrays = {name: array_of(kind, values[name]) for name, kind in _WRITE_TYPES.items()}
    await session.execute(_WRITE, {**arrays, "now": now})


def _period_values(final: Sequence[tuple[_Case, _Decision]]) -> dict[str, list[object]]:
    return {
        "ids": [case.enrollment.id for case, _ in final],
        "versions": [case.version.number for case, _ in final],
        "starts": [case.period.start for case, _ in final],
        "ends": [case.period.end for case, _ in final],
        "pay_dates": [decision.pay_date or case.period.pay_date for case, decision in final],
        "send_ats": [decision.send_at or case.period.send_at for case, decision in final],
        "outcomes": [decision.outcome for _, decision in final],
        "payrolls": [decision.payroll_id for _, decision in final],
        "by_hand": [_array(decision.by_hand) for _, decision in final],
        "reasons": [_array(decision.reasons) for _, decision in final],
        "held": [_array(decision.held) for _, decision in final],
        "net_pays": [decision.net_pay for _, decision in final],
    }


def _goes_on(case: _Case, decision: _Decision, now: datetime.datetime, chunk: _Chunk) -> tuple[object, ...]:
    """Return the enrollment's next period, and add its history and notifications to the chunk."""
    enrollment, period = case.enrollment, case.period
    days: dict[str, object] = {"period_start": period.start, "period_end": period.end}
    failures, reasons = enrollment.failure_count, list(decision.reasons)
    if decision.ended is not None:
        details = {"reasons": reasons, "failure_count": 0, "last_day": decision.ended}
        chunk.events.append((enrollment.id, "pause", details))
        chunk.tasks.append(OutboxTask(enrollment.id, "paused", None, details, now))
        return (
            *(enrollment.id, period.start, period.end, period.pay_date, None, None),
            *("paused", 0, reasons[0]),
        )
    if decision.outcome is None:
        waiting = FOR_THE_OPERATOR.issuperset(reasons)
        details = {**days, "reasons": reasons} | ({"waiting": True} if waiting else {})
        chunk.tasks.append(OutboxTask(enrollment.id, "refused", None, details, now))
        again = _try_again(case, decision, now)
        return (
            enrollment.id,
            *period[:2],
            period.pay_date,
            again,
            decision.mend_by,
            "active",
            failures,
            None,
        )
    match decision.outcome:
        case "scheduled":
            _queue_scheduled_notice(case, decision, now, chunk, days)
        case "by_hand":
            details = {**days, "stepped_over": list(decision.by_hand), "why": "paid_by_hand"}
            chunk.events.append((enrollment.id, "skip", details))
        case "skipped":
            details = {**days, "through": enrollment.skip_through, "why": "skipped"}
            chunk.events.append((enrollment.id, "skip", details))
        case _:
            failures += 1
            details = {**days, "pay_date": period.pay_date, "reasons": reasons, "failure_count": failures}
            chunk.events.append((enrollment.id, "fail", details))
            chunk.tasks.append(OutboxTask(enrollment.id, "refused", None, {**details, "for_good": True}, now))
    status, pause_reason = "active", None
    if failures >= MOST_FAILURES and decision.outcome == "ineligible":
        status, pause_reason = "paused", reasons[0]
        details = {"reasons": reasons, "failure_count": failures}
        chunk.events.append((enrollment.id, "pause", details))
        chunk.tasks.append(OutboxTask(enrollment.id, "paused", None, details, now))
    following = case.following
    generate_at = following.generate_at if status == "active" else None
    return (
        enrollment.id,
        following.start,
        following.end,
        following.pay_date,
        generate_at,
        None,
        status,
        failures,
        pause_reason,
    )


def _try_again(case: _Case, decision: _Decision, now: datetime.datetime) -> datetime.datetime:
    """Return when to retry an open period: for our own problems at growing intervals, up to an hour."""
    if FOR_THE_OPERATOR.intersection(decision.reasons):
        since = now - case.period.generate_at
        again = now + min(max(since / 2, _FIRST_PAUSE_FOR_US), _LONGEST_PAUSE_FOR_US)
    else:
        again = now + TRY_AGAIN
    last = case.period.send_at if now < case.period.send_at else decision.mend_by
    return again if last is None else min(again, last)


def _queue_scheduled_notice(
    case: _Case,
    decision: _Decision,
    now: datetime.datetime,
    chunk: _Chunk,
    days: Mapping[str, object],
) -> None:
    enrollment = case.enrollment
    send_at = cast(datetime.datetime, decision.send_at)
    details = {
        **days,
        "payroll_id": decision.payroll_id,
        "pay_date": decision.pay_date,
        "send_at": send_at,
        "held": list(decision.held),
    }
    chunk.events.append((enrollment.id, "generate", details))
    if decision.held:
        chunk.tasks.append(OutboxTask(enrollment.id, "held", decision.payroll_id, {}, now))
    remind_at = max(now, send_at - TELL_BEFORE)
    chunk.tasks.append(OutboxTask(enrollment.id, "debit_tomorrow", decision.payroll_id, {}, remind_at))


def _owner(enrollment: Enrollment) -> Owner:
    return Owner(enrollment.organization_id, enrollment.employer_id, enrollment.sandbox)


def _array(values: Sequence[object]) -> str:
    """Return an array as text, because unnest would flatten an array of arrays. No value needs quotes."""
    return "{" + ",".join(map(str, values)) + "}"


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
