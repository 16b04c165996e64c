"""Enrollments in the database: finding and locking them, their versions as stages of a schedule, and the history."""

import datetime
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast
from uuid import UUID

import orjson
from sqlalchemy import Select, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.models import AutopilotEvent, DecidedPeriod, Enrollment, EnrollmentVersion
from hearthpay.autopilot.refusals import not_enrolled
from hearthpay.autopilot.schedule import AutopilotPeriod, Schedule, Stage
from hearthpay.clock import Clock
from hearthpay.database.audit import ActorKind
from hearthpay.employees.commands import PayFrequency
from hearthpay.employees.models import Employee
from hearthpay.employers.service import resolve_employer, resolve_employer_of
from hearthpay.payroll.ledger.rows import Owner

SOURCES: Final[Mapping[ActorKind, str]] = {
    "user": "app",
    "operator": "app",
    "key": "api",
    "mcp": "mcp",
    "system": "system",
}
"""The source recorded for each kind of actor; the operator's commands count as the app."""

STANDING_TEXT_VERSION: Final = "2026-11-24"
"""The version of `authorization.md`; changing the text makes a new version."""

_TASK: Final = text(
    "INSERT INTO autopilot_errands (id, organization_id, employer_id, sandbox, enrollment_id, kind, payroll_id, "
    "details, due_at) VALUES (:id, :organization_id, :employer_id, :sandbox, :enrollment_id, :kind, :payroll_id, "
    "CAST(:details AS jsonb), :due_at)"
)


@cache
def standing_text() -> str:
    """Return the text of the standing authorization, in Markdown."""
    return files("hearthpay.autopilot").joinpath("authorization.md").read_text(encoding="utf-8")


async def lock_live(session: AsyncSession, employee_id: UUID) -> Enrollment | None:
    """Return the employee's live enrollment, locked against changes and payments until the commit; None without one.

    Enrollments are locked after the household, and before payrolls and employees.
    """
    statement = _live(employee_id).with_for_update(key_share=True)
    return cast(
        "Enrollment | None", await session.scalar(statement.execution_options(populate_existing=True))
    )


async def find_live(session: AsyncSession, employee_id: UUID) -> Enrollment | None:
    """Return the employee's live enrollment, active or paused, without locking it; None without one."""
    return cast("Enrollment | None", await session.scalar(_live(employee_id)))


def _live(employee_id: UUID) -> Select[Enrollment]:
    return select(Enrollment).where(Enrollment.employee_id == employee_id, Enrollment.status != "disabled")


async def latest_of(session: AsyncSession, employee_id: UUID) -> Enrollment | None:
    """Return the employee's live enrollment, or else the one that ended last, if any."""
    statement = select(Enrollment).where(Enrollment.employee_id == employee_id)
    order = statement.order_by((Enrollment.status == "disabled"), Enrollment.id.desc()).limit(1)
    return cast("Enrollment | None", await session.scalar(order))


async def versions_of(
    session: AsyncSession, enrollments: Sequence[UUID]
) -> dict[UUID, list[EnrollmentVersion]]:
    """Return the versions of each enrollment, in the order of their creation."""
    statement = select(EnrollmentVersion).where(EnrollmentVersion.enrollment_id.in_(enrollments))
    found: dict[UUID, list[EnrollmentVersion]] = {}
    for version in await session.scalars(statement.order_by(EnrollmentVersion.number)):
        found.setdefault(version.enrollment_id, []).append(version)
    return found


def stages_of(versions: Sequence[EnrollmentVersion]) -> tuple[Stage, ...]:
    """Return an enrollment's versions as stages of its schedule."""
    return tuple(
        Stage(
            version.from_period,
            Schedule(cast(PayFrequency, version.frequency), version.anchor, version.pay_days_after),
        )
        for version in versions
    )


def stand_before(enrollment: Enrollment, period: AutopilotPeriod) -> None:
    """Make the period the enrollment's first undecided one."""
    enrollment.next_start, enrollment.next_end = period.start, period.end
    enrollment.next_pay_date = period.pay_date
    enrollment.generate_at = period.generate_at if enrollment.status == "active" else None
    enrollment.mend_by = None


def note(
    session: AsyncSession,
    enrollment: Enrollment,
    event: str,
    actor: Actor,
    at: datetime.datetime,
    details: Mapping[str, Any],
) -> None:
    """Add a line to the history."""
    session.add(
        AutopilotEvent(
            id=uuid7(),
            organization_id=enrollment.organization_id,
            employer_id=enrollment.employer_id,
            sandbox=enrollment.sandbox,
            enrollment_id=enrollment.id,
            employee_id=enrollment.employee_id,
            event=event,
            at=at,
            actor_kind=actor.kind,
            actor_id=actor.id,
            source=SOURCES[actor.kind],
            request_id=actor.request_id,
            details=dict(details),
        )
    )


async def queue_task(
    session: AsyncSession,
    enrollment: Enrollment,
    kind: str,
    due_at: datetime.datetime,
    details: Mapping[str, object] | None = None,
) -> None:
    """Queue a notification to the household about the enrollment."""
    task = {
        "id": uuid7(),
        "organization_id": enrollment.organization_id,
        "employer_id": enrollment.employer_id,
        "sandbox": enrollment.sandbox,
        "enrollment_id": enrollment.id,
        "kind": kind,
        "payroll_id": None,
        "due_at": due_at,
        "details": orjson.dumps(dict(details or {})).decode(),
    }
    await session.execute(_TASK, task)


async def employee_of(session: AsyncSession, employer_id: UUID, employee_id: UUID) -> Employee:
    """Return the employee. Raises `employee_not_in_household` for an employee of another household."""
    employee = await session.get(Employee, employee_id)
    if employee is None or employee.employer_id != employer_id:
        raise _not_in_household(employee_id)
    return employee


def _not_in_household(employee_id: UUID) -> Refusal:
    return Refusal(
        "employee_not_in_household",
        "employee_id is not an employee of this household.",
        details={"employee_id": employee_id},
    )


async def household_of(
    session: AsyncSession, actor: Actor, employer_id: UUID | None, employee_id: UUID, *, hold: bool = False
) -> UUID:
    """Return the household that is named, or whose employee is, after checking that it is within reach.

    Raises what `resolve_employer` raises, and `employee_not_in_household` for an employee of another household.
    """
    if employer_id is None:
        owner = await session.scalar(select(Employee.employer_id).where(Employee.id == employee_id))
        missing = _not_in_household(employee_id)
        employer = await resolve_employer_of(session, actor, None, owner, missing, hold=hold)
    else:
        employer = await resolve_employer(session, actor, employer_id, hold=hold)
    await employee_of(session, employer.id, employee_id)
    return employer.id


async def require_live(session: AsyncSession, employee_id: UUID) -> Enrollment:
    """Return the employee's live enrollment, locked. Raises `not_found` without one."""
    enrollment = await lock_live(session, employee_id)
    if enrollment is None:
        raise not_enrolled(employee_id)
    return enrollment


def owner_of(enrollment: Enrollment) -> Owner:
    """Return the owner columns for payrolls of an enrollment."""
    return Owner(enrollment.organization_id, enrollment.employer_id, enrollment.sandbox)


async def waiting_periods(session: AsyncSession, enrollment: Enrollment) -> Sequence[DecidedPeriod]:
    """Return the periods whose payrolls are scheduled and unsent, as far as is known without locking them."""
    statement = (
        select(DecidedPeriod)
        .where(DecidedPeriod.enrollment_id == enrollment.id, DecidedPeriod.outcome == "scheduled")
        .order_by(DecidedPeriod.payroll_id)
        .execution_options(populate_existing=True)
    )
    return (await session.scalars(statement)).all()


async def keep(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    enrollment: Enrollment,
    event: str,
    details: Mapping[str, object],
) -> None:
    """Save a changed enrollment, with its history line and audit row."""
    enrollment.updated_at = clock.now()
    note(session, enrollment, event, actor, clock.now(), details)
    await session.flush()
    await audit(session, actor, enrollment, f"autopilot.{event}", details)


async def audit(
    session: AsyncSession, actor: Actor, enrollment: Enrollment, action: str, details: Mapping[str, object]
) -> None:
    """Write the audit row of an action on an enrollment."""
    await record_audit(
        session,
        actor,
        action,
        employer_id=enrollment.employer_id,
        subject_id=enrollment.id,
        details={"employee_id": enrollment.employee_id, **details},
    )
