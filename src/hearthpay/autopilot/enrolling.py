"""Enrolling an employee, with the authorization of the debits."""

import datetime
from typing import Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import ENROLL_AUTOPILOT, allow
from hearthpay.access.refusal import invalid
from hearthpay.autopilot.agreeing import record_agreement
from hearthpay.autopilot.commands import EnrolledTerms, EnrollEmployee
from hearthpay.autopilot.eligibility import Reason, read_facts, reason_of_code, reasons_against
from hearthpay.autopilot.estimates import estimate, planned
from hearthpay.autopilot.models import Enrollment
from hearthpay.autopilot.records import audit, employee_of, lock_live, note, queue_task, stand_before
from hearthpay.autopilot.refusals import enrolled_already, not_eligible
from hearthpay.autopilot.schedule import AutopilotPeriod, PayDayError, Schedule, Stage, first_still_sent
from hearthpay.autopilot.versions import new_version, refuse_hours, refuse_other_pay
from hearthpay.autopilot.views import EnrollmentView, views_of
from hearthpay.clock import Clock
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.approval import confirmations_needed, require_confirmations
from hearthpay.payroll.commands import Confirmations
from hearthpay.payroll.ledger.rows import Owner, PayrollRecord
from hearthpay.payroll.scheduling import NotPlanned

FURTHEST_ANCHOR: Final = datetime.timedelta(days=366)
"""How far from today the first period may begin, and how far in the past the anchor may be."""


async def enroll(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    requested: EnrollEmployee,
    *,
    direct_deposit_enabled: bool,
) -> EnrollmentView:
    """Enroll an employee and record the debit authorization; the first period is the first that can still be sent.

    Writes to the household. Raises what `allow` and `resolve_employer` raise; `employee_not_in_household`;
    `validation_error` for terms that are no schedule and for agreeing to another text; `invalid_state` if the
    employee is already enrolled, or with the reasons in `details` if Autopilot may not pay; and
    `confirmation_required` for unconfirmed pay above the limits for large payrolls.
    """
    allow(actor, ENROLL_AUTOPILOT, requested.employer_id)
    now = clock.now()
    employer = await resolve_employer(session, actor, requested.employer_id, hold=True)
    employee = await employee_of(session, employer.id, requested.employee_id)
    if await lock_live(session, employee.id) is not None:
        raise enrolled_already(employee.id)
    stages = (Stage(requested.terms.anchor, _schedule(requested.terms, clock)),)
    first = first_still_sent(stages, requested.terms.anchor, now)
    refuse_other_pay(requested.terms.standard_hours, salaried=employee.pay_type == "salary")
    refuse_hours(requested.terms.standard_hours, first)
    reasons, expected = await _look_ahead(
        session,
        employer,
        employee,
        requested.terms,
        first,
        now,
        direct_deposit_enabled=direct_deposit_enabled,
    )
    if expected is None:
        raise not_eligible(reasons)
    large = confirmations_needed(expected, authorization_needed=False)
    given = Confirmations(confirm_large_payroll=requested.agreement.confirm_large_payroll)
    require_confirmations(expected, large, given)
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
        raise enrolled_already(requested.employee_id) from error
    version = new_version(
        enrollment, actor, now, 1, first.start, requested.terms, expected.net_pay, large_confirmed=bool(large)
    )
    session.add(version)
    agreed = await record_agreement(session, actor, employer, enrollment, requested.agreement, now)
    details = {
        "standard_hours": str(requested.terms.standard_hours),
        "frequency": requested.terms.frequency,
        "first_period": {"start": first.start, "end": first.end, "pay_date": first.pay_date},
        "text_version": requested.agreement.text_version,
        "confirmed": list(large),
    }
    note(session, enrollment, "enroll", actor, now, details)
    await session.flush()
    await queue_task(session, enrollment, "enrolled", now)
    given_now = {"version": version.number, "expected_net": expected.net_pay, "authorization": agreed}
    await audit(session, actor, enrollment, "autopilot.enroll", {**details, "given": given_now})
    (view,) = await views_of(session, clock, [enrollment])
    return view


async def _look_ahead(
    session: AsyncSession,
    employer: Employer,
    employee: Employee,
    terms: EnrolledTerms,
    period: AutopilotPeriod,
    now: datetime.datetime,
    *,
    direct_deposit_enabled: bool,
) -> tuple[tuple[Reason, ...], PayrollRecord | None]:
    """Return the reasons not to enroll, or the expected payroll of the first period."""
    facts = (await read_facts(session, [employee.id], direct_deposit_enabled=direct_deposit_enabled))[
        employee.id
    ]
    reasons = reasons_against(facts, authorized=True, period_end=period.end, pay_date=period.pay_date)
    if reasons:
        return reasons, None
    owner = Owner(employer.organization_id, employer.id, employer.sandbox)
    payroll = planned(owner, employee.id, terms.frequency, terms.standard_hours, period, now)
    record = await estimate(session, payroll)
    if isinstance(record, NotPlanned):
        return (reason_of_code(record.code),), None
    return (), record


def _schedule(terms: EnrolledTerms, clock: Clock) -> Schedule:
    if abs(terms.anchor - clock.today()) > FURTHEST_ANCHOR:
        raise invalid("anchor_period_start", "Choose a date within a year of today.")
    try:
        return Schedule(terms.frequency, terms.anchor, terms.pay_days_after)
    except PayDayError as error:
        raise invalid("pay_days_after", f"is no schedule: {error}") from None
    except ValueError as error:
        raise invalid("anchor_period_start", f"is no schedule: {error}") from None
