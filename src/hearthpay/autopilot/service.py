"""What may happen to an enrollment in Autopilot: enroll, pause, resume, skip, disable, change, confirm; and the reads.

Locks are taken as everywhere: the household, the enrollment, its payrolls, its employee. So of a person and the worker
who want the same thing at once, one is first, and the other finds what it left.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import ENROLL_AUTOPILOT, MANAGE_AUTOPILOT, READ_AUTOPILOT, allow
from hearthpay.access.refusal import Problem, Refusal, invalid, invalid_fields
from hearthpay.autopilot.commands import (
    LONGEST_SKIP,
    Agreement,
    ChangeEnrollment,
    EnrolledTerms,
    EnrollEmployee,
    HistoryWanted,
    Manage,
)
from hearthpay.autopilot.eligibility import (
    Reason,
    authorized_enrollments,
    read_facts,
    reason_of_code,
    reasons_against,
)
from hearthpay.autopilot.estimates import estimate, planned
from hearthpay.autopilot.models import (
    AutopilotEvent,
    DecidedPeriod,
    Enrollment,
    EnrollmentVersion,
)
from hearthpay.autopilot.records import (
    STANDING_TEXT_VERSION,
    latest_of,
    lock_live,
    note,
    send_on_errand,
    stages_of,
    stand_before,
    standing_text,
    versions_of,
)
from hearthpay.autopilot.schedule import (
    AutopilotPeriod,
    Schedule,
    Stage,
    common_starts,
    first_still_sent,
    is_skipped,
    periods_of,
    preview,
    stage_of,
)
from hearthpay.banking.calendar import earliest_pay_date
from hearthpay.banking.standing_authorizations import authorize_standing, end_standing
from hearthpay.clock import Clock
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.payroll.scheduling import NotPlanned, try_at_once
from hearthpay.payroll.voiding import void_unsent
from hearthpay.wire.paging import page_of

FURTHEST_ANCHOR: Final = datetime.timedelta(days=366)
"""How far from today the first period may begin, and how far back it may be counted from."""

_DAY: Final = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class EnrollmentView:
    """An enrollment as it stands; amounts in cents. ``next_pay_date`` is None where nothing is to be paid."""

    enrollment: Enrollment
    version: EnrollmentVersion
    next_pay_date: datetime.date | None
    coming: tuple[AutopilotPeriod, ...]


@dataclass(frozen=True, slots=True)
class AutopilotView:
    """What is known of an employee and Autopilot: the enrollment if there is one, and what speaks against paying."""

    employer_id: UUID
    enrolled: EnrollmentView | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Managed:
    """What came of a wish: whether anything changed, which payrolls were voided, and which are paid all the same."""

    view: EnrollmentView
    changed: bool
    voided: tuple[UUID, ...] = ()
    still_paid: tuple[UUID, ...] = ()


async def read_autopilot(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID, employee_id: UUID, *, offered: bool
) -> AutopilotView:
    """Return where an employee stands.

    Raises what `allow` and `resolve_employer` raise, and `employee_not_in_household`.
    """
    allow(actor, READ_AUTOPILOT, employer_id)
    await resolve_employer(session, actor, employer_id)
    await _employee_of(session, employer_id, employee_id)
    enrollment = await latest_of(session, employee_id)
    if enrollment is None:
        paid = earliest_pay_date(clock.now())
        facts = (await read_facts(session, [employee_id], offered=offered))[employee_id]
        return AutopilotView(
            employer_id, None, reasons_against(facts, authorized=True, period_end=paid, pay_date=paid)
        )
    (view,) = await _views(session, clock, [enrollment])
    return AutopilotView(employer_id, view, await _reasons(session, view, clock, offered=offered))


async def list_autopilot(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID
) -> list[EnrollmentView]:
    """Return a household's enrollments, the live ones and those that were ended, newest first.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_AUTOPILOT, employer_id)
    await resolve_employer(session, actor, employer_id)
    statement = select(Enrollment).where(Enrollment.employer_id == employer_id).order_by(Enrollment.id.desc())
    return await _views(session, clock, (await session.scalars(statement)).all())


async def read_history(
    session: AsyncSession, actor: Actor, wanted: HistoryWanted
) -> tuple[Sequence[AutopilotEvent], str | None]:
    """Return one page of what happened, newest first, and the cursor of the next.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_AUTOPILOT, wanted.employer_id)
    await resolve_employer(session, actor, wanted.employer_id)
    statement = select(AutopilotEvent).where(AutopilotEvent.employer_id == wanted.employer_id)
    if wanted.employee_id is not None:
        await _employee_of(session, wanted.employer_id, wanted.employee_id)
        statement = statement.where(AutopilotEvent.employee_id == wanted.employee_id)
    return await page_of(session, statement, AutopilotEvent.id, wanted)


async def enroll(
    session: AsyncSession, actor: Actor, clock: Clock, wanted: EnrollEmployee, *, offered: bool
) -> EnrollmentView:
    """Enroll an employee and record the agreement to the debits; the first period is the first that can still be sent.

    The household is written to. Raises what `allow` and `resolve_employer` raise, `employee_not_in_household`,
    `validation_error` for terms that are no schedule and an agreement to another text, and `invalid_state` where the
    employee is enrolled already, or with `details` of the reasons where Autopilot may not pay.
    """
    allow(actor, ENROLL_AUTOPILOT, wanted.employer_id)
    now = clock.now()
    employer = await resolve_employer(session, actor, wanted.employer_id, hold=True)
    employee = await _employee_of(session, employer.id, wanted.employee_id)
    if await lock_live(session, employee.id) is not None:
        raise _enrolled_already(employee.id)
    stages = (Stage(wanted.terms.anchor, _schedule(wanted.terms, clock)),)
    first = first_still_sent(stages, wanted.terms.anchor, now)
    _refuse_hours(wanted.terms.standard_hours, first)
    reasons, net_pay = await _look_ahead(
        session, employer, employee, wanted.terms, first, now, offered=offered
    )
    if reasons:
        raise _not_eligible(reasons)
    enrollment = Enrollment(
        id=uuid7(),
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        employee_id=employee.id,
        status="active",
        first_start=first.start,
        skip_through=None,
        failure_count=0,
        pause_reason=None,
        enrolled_by_kind=actor.kind,
        enrolled_by=actor.id,
        enrolled_at=now,
        updated_at=now,
        disabled_at=None,
    )
    stand_before(enrollment, first)
    session.add(enrollment)
    try:
        await session.flush()
    except IntegrityError as error:  # two at once: a constraint lets one of them in
        raise _enrolled_already(employee.id) from error
    version = _version(enrollment, actor, now, 1, first.start, wanted.terms, net_pay)
    session.add(version)
    await _agree(session, actor, employer, enrollment, wanted.agreement, now)
    details = {
        "standard_hours": str(wanted.terms.standard_hours),
        "frequency": wanted.terms.frequency,
        "first_period": {"start": first.start, "end": first.end, "pay_date": first.pay_date},
        "text_version": wanted.agreement.text_version,
    }
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await send_on_errand(session, enrollment, "enrolled", now)
    await _audit(session, actor, enrollment, "autopilot.enroll", details)
    (view,) = await _views(session, clock, [enrollment])
    return view


async def change_enrollment(
    session: AsyncSession, actor: Actor, clock: Clock, wanted: ChangeEnrollment
) -> EnrollmentView:
    """Enroll other hours or another schedule, from a period on about which nothing is decided yet.

    The periods of a new schedule begin where one of the old ends. Raises as `enroll` does, `invalid_state` where the
    employee is not enrolled or a later change of the schedule is waiting, and `validation_error` naming
    ``from_period`` with days that would do.
    """
    allow(actor, ENROLL_AUTOPILOT, wanted.employer_id)
    now = clock.now()
    employer = await resolve_employer(session, actor, wanted.employer_id, hold=True)
    employee = await _employee_of(session, employer.id, wanted.employee_id)
    enrollment = await _live(session, employee.id)
    versions = (await versions_of(session, [enrollment.id]))[enrollment.id]
    stages = stages_of(versions)
    terms, period = _changed(wanted, versions, stages, enrollment.next_start)
    _refuse_hours(terms.standard_hours, period)
    payroll = planned(_owner(enrollment), employee.id, terms.frequency, terms.standard_hours, period, now)
    record = await estimate(session, payroll)
    if isinstance(record, NotPlanned):
        raise _not_eligible((reason_of_code(record.code),))
    version = _version(enrollment, actor, now, versions[-1].number + 1, period.start, terms, record.net_pay)
    session.add(version)
    if period.start == enrollment.next_start:
        stand_before(enrollment, period)
    enrollment.updated_at = now
    await session.flush()
    details = {
        "version": version.number,
        "from_period": period.start,
        "standard_hours": str(terms.standard_hours),
        "frequency": terms.frequency,
        "pay_days_after": terms.pay_days_after,
    }
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await _audit(session, actor, enrollment, "autopilot.change", details)
    (view,) = await _views(session, clock, [enrollment])
    return view


async def agree_anew(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer_id: UUID,
    employee_id: UUID,
    agreement: Agreement,
) -> None:
    """Record the agreement to debits of the account that is connected now, in place of the one before.

    Raises as `enroll` does, `invalid_state` where the employee is not enrolled, and `direct_deposit_unavailable`
    without an account.
    """
    allow(actor, ENROLL_AUTOPILOT, employer_id)
    now = clock.now()
    employer = await resolve_employer(session, actor, employer_id, hold=True)
    await _employee_of(session, employer_id, employee_id)
    enrollment = await _live(session, employee_id)
    await _agree(session, actor, employer, enrollment, agreement, now)
    waiting = await _waiting(session, enrollment)
    await try_at_once(session, [period.payroll_id for period in waiting if period.payroll_id], now)
    details = {"text_version": agreement.text_version, "authorized_anew": True}
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await _audit(session, actor, enrollment, "autopilot.authorize", details)


async def confirm_payroll(session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID) -> None:
    """Let a payroll that Autopilot holds be sent; what it pays is the enrolled net from then on.

    Again it changes nothing. Raises what `allow` raises, `not_found` for a payroll that Autopilot does not hold, and
    `invalid_state` where it does not wait any more.
    """
    allow(actor, ENROLL_AUTOPILOT)
    now = clock.now()
    unknown = Refusal("not_found", "Autopilot holds no such payroll.")
    found = select(DecidedPeriod).where(DecidedPeriod.payroll_id == payroll_id)
    period = await session.scalar(found)
    if period is None or not actor.reaches(period.employer_id) or not period.held:
        raise unknown
    await resolve_employer(session, actor, period.employer_id, hold=True)
    enrollment = await lock_live(session, period.employee_id)
    period = await session.scalar(found.with_for_update().execution_options(populate_existing=True))
    if period is None or enrollment is None or enrollment.id != period.enrollment_id:
        raise Refusal("invalid_state", "The enrollment of this payroll has been ended.")
    if period.confirmed_at is not None:
        return
    if period.outcome != "scheduled":
        raise Refusal(
            "invalid_state",
            f"This payroll does not wait any more: it is {period.outcome}.",
            details={"payroll_id": payroll_id, "status": period.outcome},
        )
    period.confirmed_at = now
    await try_at_once(session, [payroll_id], now)
    versions = (await versions_of(session, [enrollment.id]))[enrollment.id]
    before = versions[stage_of(stages_of(versions), period.period_start)]
    if "above_enrolled_net" in period.held and enrollment.next_start > period.period_start:
        at_present = versions[stage_of(stages_of(versions), enrollment.next_start)]
        if at_present.number == before.number:
            session.add(
                EnrollmentVersion(
                    id=uuid7(),
                    organization_id=enrollment.organization_id,
                    employer_id=enrollment.employer_id,
                    sandbox=enrollment.sandbox,
                    enrollment_id=enrollment.id,
                    number=versions[-1].number + 1,
                    from_period=enrollment.next_start,
                    frequency=before.frequency,
                    anchor=before.anchor,
                    pay_days_after=before.pay_days_after,
                    standard_hours=before.standard_hours,
                    expected_net=period.net_pay,
                    made_by_kind=actor.kind,
                    made_by=actor.id,
                    made_at=now,
                )
            )
    details = {"payroll_id": payroll_id, "confirmed": period.held}
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await _audit(session, actor, enrollment, "autopilot.confirm", details)


async def manage(
    session: AsyncSession, actor: Actor, clock: Clock, wanted: Manage, *, offered: bool
) -> Managed:
    """Pause, resume, skip or end an enrollment. Asked again, it changes nothing and answers how things stand.

    `pause`: nothing more is made; payrolls that are scheduled are still paid. `resume`: goes on with the first period
    that can still be sent, and never pays for those in between. `skip`: the next period is not paid, or all that begin
    by ``through_date``; a payroll already scheduled for one is voided. `disable`: ends it for good, voids what is
    scheduled and ends the authorization of its debits.

    Raises what `allow` and `resolve_employer` raise, `employee_not_in_household`, `not_found` without an enrollment,
    `invalid_state` for what cannot be resumed, with the reasons in `details`, and `validation_error` for a
    ``through_date`` that is past, more than two years ahead, or of anything but a skip.
    """
    allow(actor, MANAGE_AUTOPILOT, wanted.employer_id)
    _check_through_date(wanted, clock)
    await resolve_employer(session, actor, wanted.employer_id, hold=True)
    await _employee_of(session, wanted.employer_id, wanted.employee_id)
    enrollment = await lock_live(session, wanted.employee_id)
    if enrollment is None:
        ended = await latest_of(session, wanted.employee_id)
        if ended is None or wanted.action != "disable":
            raise _not_enrolled(wanted.employee_id)
        (view,) = await _views(session, clock, [ended])
        return Managed(view, changed=False)
    match wanted.action:
        case "pause":
            return await _pause(session, actor, clock, enrollment)
        case "resume":
            return await _resume(session, actor, clock, enrollment, offered=offered)
        case "skip":
            return await _skip(session, actor, clock, enrollment, wanted.through_date)
        case "disable":
            return await _disable(session, actor, clock, enrollment)


async def _pause(session: AsyncSession, actor: Actor, clock: Clock, enrollment: Enrollment) -> Managed:
    still_paid = tuple(
        period.payroll_id for period in await _waiting(session, enrollment) if period.payroll_id
    )
    changed = enrollment.status == "active"
    if changed:
        enrollment.status, enrollment.generate_at = "paused", None
        await _keep(session, actor, clock, enrollment, "pause", {"still_paid": still_paid})
    (view,) = await _views(session, clock, [enrollment])
    return Managed(view, changed, still_paid=still_paid)


async def _resume(
    session: AsyncSession, actor: Actor, clock: Clock, enrollment: Enrollment, *, offered: bool
) -> Managed:
    if enrollment.status == "active":
        (view,) = await _views(session, clock, [enrollment])
        return Managed(view, changed=False)
    now = clock.now()
    versions = (await versions_of(session, [enrollment.id]))[enrollment.id]
    stages = stages_of(versions)
    period = first_still_sent(stages, enrollment.next_start, now)
    version = versions[stage_of(stages, period.start)]
    facts = (await read_facts(session, [enrollment.employee_id], offered=offered))[enrollment.employee_id]
    authorized = enrollment.id in await authorized_enrollments(session, [enrollment.id])
    reasons = reasons_against(facts, authorized=authorized, period_end=period.end, pay_date=period.pay_date)
    if not reasons:
        payroll = planned(
            _owner(enrollment), enrollment.employee_id, version.frequency, version.standard_hours, period, now
        )
        record = await estimate(session, payroll)
        reasons = (reason_of_code(record.code),) if isinstance(record, NotPlanned) else ()
    if reasons:
        raise _not_eligible(reasons)
    missed = _paused_periods(enrollment, versions, period.start, now)
    session.add_all(missed)
    enrollment.status, enrollment.pause_reason, enrollment.failure_count = "active", None, 0
    stand_before(enrollment, period)
    details = {
        "next_period": {"start": period.start, "end": period.end, "pay_date": period.pay_date},
        "not_paid": [{"start": each.period_start, "end": each.period_end} for each in missed],
    }
    await _keep(session, actor, clock, enrollment, "resume", details)
    (view,) = await _views(session, clock, [enrollment])
    return Managed(view, changed=True)


def _paused_periods(
    enrollment: Enrollment,
    versions: Sequence[EnrollmentVersion],
    until: datetime.date,
    now: datetime.datetime,
) -> list[DecidedPeriod]:
    """Return the periods that passed while the enrollment was paused: they are never paid by Autopilot."""
    stages = stages_of(versions)
    missed: list[DecidedPeriod] = []
    for period in periods_of(stages, enrollment.next_start):
        if period.start >= until:
            return missed
        skipped = is_skipped(period, enrollment.skip_through)
        missed.append(
            DecidedPeriod(
                id=uuid7(),
                organization_id=enrollment.organization_id,
                employer_id=enrollment.employer_id,
                sandbox=enrollment.sandbox,
                enrollment_id=enrollment.id,
                employee_id=enrollment.employee_id,
                version=versions[stage_of(stages, period.start)].number,
                period_start=period.start,
                period_end=period.end,
                pay_date=period.pay_date,
                send_at=period.send_at,
                outcome="skipped" if skipped else "paused",
                by_hand=[],
                reasons=[],
                held=[],
                decided_at=now,
            )
        )
    raise AssertionError("periods never end")


async def _skip(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    enrollment: Enrollment,
    through: datetime.date | None,
) -> Managed:
    waiting = await _waiting(session, enrollment)
    only_next = through is None
    if through is None:
        target = await _next_unsent(session, enrollment, clock.now())
        if target is None:  # what comes next is skipped already
            (view,) = await _views(session, clock, [enrollment])
            return Managed(view, changed=False)
        through = target
    voided: list[UUID] = []
    still_paid: list[UUID] = []
    for period in waiting:
        if period.period_start > through or period.payroll_id is None:
            continue
        found = await void_unsent(session, actor, clock, period.payroll_id, "autopilot.skip")
        (voided if found == "scheduled" else still_paid).append(period.payroll_id)
    before = enrollment.skip_through
    if not only_next or through >= enrollment.next_start:
        enrollment.skip_through = through
    changed = bool(voided) or enrollment.skip_through != before
    if changed:
        details = {"through": through, "voided": voided, "still_paid": still_paid}
        await _keep(session, actor, clock, enrollment, "skip", details)
    (view,) = await _views(session, clock, [enrollment])
    return Managed(view, changed, tuple(voided), tuple(still_paid))


async def _next_unsent(
    session: AsyncSession, enrollment: Enrollment, now: datetime.datetime
) -> datetime.date | None:
    """Return the last day of the next period whose money is not sent; None where that one is skipped already."""
    decided = await session.scalar(
        select(DecidedPeriod)
        .where(
            DecidedPeriod.enrollment_id == enrollment.id,
            (DecidedPeriod.outcome == "scheduled")
            | (DecidedPeriod.outcome.in_(("skipped", "voided")) & (DecidedPeriod.send_at > now)),
        )
        .order_by(DecidedPeriod.period_start)
        .limit(1)
        .execution_options(populate_existing=True)
    )
    if decided is not None:
        return decided.period_end if decided.outcome == "scheduled" else None
    skipped = enrollment.skip_through is not None and enrollment.next_start <= enrollment.skip_through
    return None if skipped else enrollment.next_end


async def _disable(session: AsyncSession, actor: Actor, clock: Clock, enrollment: Enrollment) -> Managed:
    now = clock.now()
    voided: list[UUID] = []
    still_paid: list[UUID] = []
    for period in await _waiting(session, enrollment):
        if period.payroll_id is not None:
            found = await void_unsent(session, actor, clock, period.payroll_id, "autopilot.disable")
            (voided if found == "scheduled" else still_paid).append(period.payroll_id)
    await end_standing(session, enrollment.id, now)
    enrollment.status, enrollment.generate_at, enrollment.disabled_at = "disabled", None, now
    details = {"voided": voided, "still_paid": still_paid}
    await _keep(session, actor, clock, enrollment, "disable", details)
    (view,) = await _views(session, clock, [enrollment])
    return Managed(view, True, tuple(voided), tuple(still_paid))


async def _keep(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    enrollment: Enrollment,
    event: str,
    details: Mapping[str, object],
) -> None:
    """Write an enrollment that was changed, with its line of the history and its audit row."""
    enrollment.updated_at = clock.now()
    note(session, enrollment, event, actor, clock.now(), details)
    await session.flush()
    await _audit(session, actor, enrollment, f"autopilot.{event}", details)


async def _audit(
    session: AsyncSession, actor: Actor, enrollment: Enrollment, action: str, details: Mapping[str, object]
) -> None:
    await record_audit(
        session,
        actor,
        action,
        employer_id=enrollment.employer_id,
        subject_id=enrollment.id,
        details={"employee_id": enrollment.employee_id, **details},
    )


async def _agree(
    session: AsyncSession,
    actor: Actor,
    employer: Employer,
    enrollment: Enrollment,
    agreement: Agreement,
    now: datetime.datetime,
) -> None:
    if agreement.text_version != STANDING_TEXT_VERSION:
        raise invalid(
            "text_version",
            f"is not the version of the authorization that is asked for now, {STANDING_TEXT_VERSION}",
        )
    await authorize_standing(
        session,
        actor,
        employer,
        enrollment.id,
        now,
        text_version=agreement.text_version,
        agreed_text=standing_text(),
        address=agreement.address,
    )


async def _waiting(session: AsyncSession, enrollment: Enrollment) -> Sequence[DecidedPeriod]:
    """Return the periods whose payrolls are scheduled and not sent, as far as is known without locking them."""
    statement = (
        select(DecidedPeriod)
        .where(DecidedPeriod.enrollment_id == enrollment.id, DecidedPeriod.outcome == "scheduled")
        .order_by(DecidedPeriod.payroll_id)
        .execution_options(populate_existing=True)
    )
    return (await session.scalars(statement)).all()


async def _views(
    session: AsyncSession, clock: Clock, enrollments: Sequence[Enrollment]
) -> list[EnrollmentView]:
    ids = [enrollment.id for enrollment in enrollments]
    versions = await versions_of(session, ids)
    under_way = select(DecidedPeriod).where(
        DecidedPeriod.enrollment_id.in_(ids),
        DecidedPeriod.outcome.in_(("scheduled", "fired")),
        DecidedPeriod.pay_date >= clock.today(),
    )
    paid: dict[UUID, list[datetime.date]] = {}
    for period in await session.scalars(under_way.execution_options(populate_existing=True)):
        paid.setdefault(period.enrollment_id, []).append(period.pay_date)
    views = []
    for enrollment in enrollments:
        own = versions[enrollment.id]
        stages = stages_of(own)
        coming: tuple[AutopilotPeriod, ...] = ()
        if enrollment.status != "disabled":
            start = enrollment.next_start
            if enrollment.status == "paused":
                start = first_still_sent(stages, start, clock.now()).start
            coming = preview(stages, start, skip_through=enrollment.skip_through)
        days = paid.get(enrollment.id, [])
        if enrollment.status == "active":
            days = [*days, coming[0].pay_date]
        at_present = own[stage_of(stages, enrollment.next_start)]
        views.append(EnrollmentView(enrollment, at_present, min(days, default=None), coming))
    return views


async def _reasons(
    session: AsyncSession, view: EnrollmentView, clock: Clock, *, offered: bool
) -> tuple[Reason, ...]:
    enrollment = view.enrollment
    facts = (await read_facts(session, [enrollment.employee_id], offered=offered))[enrollment.employee_id]
    ended = enrollment.status == "disabled"  # who enrolls anew agrees anew
    authorized = ended or enrollment.id in await authorized_enrollments(session, [enrollment.id])
    end, paid = (
        (view.coming[0].end, view.coming[0].pay_date)
        if view.coming
        else (earliest_pay_date(clock.now()),) * 2
    )
    return reasons_against(facts, authorized=authorized, period_end=end, pay_date=paid)


async def _look_ahead(
    session: AsyncSession,
    employer: Employer,
    employee: Employee,
    terms: EnrolledTerms,
    period: AutopilotPeriod,
    now: datetime.datetime,
    *,
    offered: bool,
) -> tuple[tuple[Reason, ...], int]:
    """Return what speaks against enrolling, and the net pay, in cents, that the first period is expected to pay."""
    facts = (await read_facts(session, [employee.id], offered=offered))[employee.id]
    reasons = reasons_against(facts, authorized=True, period_end=period.end, pay_date=period.pay_date)
    if reasons:
        return reasons, 0
    owner = Owner(employer.organization_id, employer.id, employer.sandbox)
    payroll = planned(owner, employee.id, terms.frequency, terms.standard_hours, period, now)
    record = await estimate(session, payroll)
    if isinstance(record, NotPlanned):
        return (reason_of_code(record.code),), 0
    return (), record.net_pay


def _schedule(terms: EnrolledTerms, clock: Clock) -> Schedule:
    if abs(terms.anchor - clock.today()) > FURTHEST_ANCHOR:
        raise invalid("anchor_period_start", "must be within a year of today")
    try:
        return Schedule(terms.frequency, terms.anchor, terms.pay_days_after)
    except ValueError as error:
        field = "pay_days_after" if "pay_days_after" in str(error) else "anchor_period_start"
        raise invalid(field, f"is no schedule: {error}") from None


def _changed(
    wanted: ChangeEnrollment,
    versions: Sequence[EnrollmentVersion],
    stages: Sequence[Stage],
    next_start: datetime.date,
) -> tuple[EnrolledTerms, AutopilotPeriod]:
    """Return the terms of a change and its first period; raises where that would leave a gap or an overlap."""
    old = versions[stage_of(stages, max(wanted.from_period, next_start))]
    schedule = stages[stage_of(stages, max(wanted.from_period, next_start))].schedule
    same = (wanted.frequency, wanted.pay_days_after) == (old.frequency, old.pay_days_after)
    fitting = common_starts(schedule, wanted.frequency, max(wanted.from_period, next_start))
    if wanted.from_period < next_start or wanted.from_period != (nearest := next(fitting, None)):
        days = [
            str(day)
            for _, day in zip(range(3), common_starts(schedule, wanted.frequency, next_start), strict=False)
        ]
        raise invalid(
            "from_period",
            "must be the first day of a period, of the schedule so far and of the new one, about which nothing is "
            f"decided yet: {', '.join(days) or 'there is none within two years; end Autopilot and enroll anew'}",
        )
    if not same and any(version.from_period > nearest for version in versions):
        raise Refusal(
            "invalid_state",
            "A change from a later period on is waiting already: the schedule can only be changed after it.",
            details={"from_period": max(version.from_period for version in versions)},
        )
    anchor = old.anchor if wanted.frequency == old.frequency else nearest
    terms = EnrolledTerms(
        standard_hours=wanted.standard_hours,
        frequency=wanted.frequency,
        anchor=anchor,
        pay_days_after=wanted.pay_days_after,
    )
    try:
        return terms, Schedule(terms.frequency, anchor, terms.pay_days_after).period(nearest)
    except ValueError as error:
        raise invalid("pay_days_after", f"is no schedule: {error}") from None


def _version(
    enrollment: Enrollment,
    actor: Actor,
    now: datetime.datetime,
    number: int,
    start: datetime.date,
    terms: EnrolledTerms,
    net_pay: int,
) -> EnrollmentVersion:
    return EnrollmentVersion(
        id=uuid7(),
        organization_id=enrollment.organization_id,
        employer_id=enrollment.employer_id,
        sandbox=enrollment.sandbox,
        enrollment_id=enrollment.id,
        number=number,
        from_period=start,
        frequency=terms.frequency,
        anchor=terms.anchor,
        pay_days_after=terms.pay_days_after,
        standard_hours=terms.standard_hours,
        expected_net=net_pay,
        made_by_kind=actor.kind,
        made_by=actor.id,
        made_at=now,
    )


def _check_through_date(wanted: Manage, clock: Clock) -> None:
    day, today = wanted.through_date, clock.today()
    if day is None:
        return
    problems = []
    if wanted.action != "skip":
        problems.append("belongs to a skip alone")
    if day < today:
        problems.append(f"must not be in the past; today is {today}")
    if day > today + LONGEST_SKIP:
        problems.append(f"must be within two years, by {today + LONGEST_SKIP}")
    if problems:
        raise invalid_fields([Problem("through_date", problem) for problem in problems])


def _refuse_hours(hours: Decimal, period: AutopilotPeriod) -> None:
    there_are = ((period.end - period.start).days + 1) * 24
    if hours > there_are:
        raise invalid("standard_hours", f"must not be more than the {there_are} hours of the pay period")


async def _employee_of(session: AsyncSession, employer_id: UUID, employee_id: UUID) -> Employee:
    employee = await session.get(Employee, employee_id)
    if employee is None or employee.employer_id != employer_id:
        raise Refusal(
            "employee_not_in_household",
            "employee_id is not an employee of this household.",
            details={"employee_id": employee_id},
        )
    return employee


async def _live(session: AsyncSession, employee_id: UUID) -> Enrollment:
    enrollment = await lock_live(session, employee_id)
    if enrollment is None:
        raise _not_enrolled(employee_id)
    return enrollment


def _owner(enrollment: Enrollment) -> Owner:
    return Owner(enrollment.organization_id, enrollment.employer_id, enrollment.sandbox)


def _not_enrolled(employee_id: UUID) -> Refusal:
    return Refusal(
        "not_found",
        "This employee is not enrolled in Autopilot.",
        details={"employee_id": employee_id},
    )


def _enrolled_already(employee_id: UUID) -> Refusal:
    return Refusal(
        "invalid_state",
        "This employee is enrolled in Autopilot already. Change the enrollment, or end it first.",
        details={"employee_id": employee_id},
    )


def _not_eligible(reasons: Sequence[Reason]) -> Refusal:
    return Refusal(
        "invalid_state",
        f"Autopilot may not pay this employee: {', '.join(reasons)}.",
        details={"eligible": False, "reasons": list(reasons)},
    )
