"""Autopilot's requests and answers."""

import datetime
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from pydantic import Field

from hearthpay.autopilot.commands import AutopilotAction, HistoryQuery, Manage
from hearthpay.autopilot.eligibility import Reason
from hearthpay.autopilot.models import AutopilotEvent
from hearthpay.autopilot.schedule import AutopilotPeriod
from hearthpay.autopilot.views import AutopilotView, EnrollmentView, Managed
from hearthpay.payroll.schemas import HoursPaid
from hearthpay.taxes.money import from_cents
from hearthpay.wire.answer_fields import EmployeeIdentifier, HouseholdIdentifier
from hearthpay.wire.fields import Day, Identifier, RequestModel
from hearthpay.wire.money import Dollars
from hearthpay.wire.paging import Page

EnrollmentStatus = Literal["active", "paused", "disabled"]
AutopilotEventName = Literal["enroll", "skip", "pause", "resume", "disable", "generate", "fire", "fail"]
AutopilotSource = Literal["app", "api", "mcp", "system"]


class AutopilotQuery(RequestModel):
    """Whose Autopilot: a household's, or one employee's."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; needed only where no employee is named."
    )
    employee_id: Identifier | None = Field(
        default=None, description="The employee; left out, all enrollments of the household."
    )


class AutopilotHistoryQuery(Page):
    """Whose history, and which page of it."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; needed only where no employee is named."
    )
    employee_id: Identifier | None = Field(
        default=None, description="Only the events of this employee's enrollments."
    )

    def to_command(self) -> HistoryQuery:
        """Return what is asked of the service."""
        return HistoryQuery(
            employer_id=self.employer_id,
            employee_id=self.employee_id,
            cursor=self.cursor,
            limit=self.limit,
        )


class AutopilotRequest(RequestModel):
    """Whose enrollment to pause, resume, skip a period of, or end."""

    employer_id: Identifier | None = Field(default=None, description="The employee's household; not needed.")
    employee_id: Identifier
    """The employee whose enrollment it is."""

    through_date: Day | None = Field(
        default=None,
        description="Of a skip: every period that begins by this day is not paid. From today to two years ahead; left "
        "out, the next period alone.",
    )

    def to_command(self, action: AutopilotAction) -> Manage:
        """Return what is asked of the service."""
        return Manage(
            employer_id=self.employer_id,
            employee_id=self.employee_id,
            action=action,
            through_date=self.through_date,
        )


@dataclass(frozen=True, slots=True)
class EnrollmentItem:
    """An employee's recurring payroll."""

    id: UUID
    """The enrollment's id."""

    status: EnrollmentStatus
    """`active`: payrolls are made for each period. `paused`: none are made until it is resumed. `disabled`: it was
    ended; only the household can enroll the employee again, in the app."""

    employee_id: EmployeeIdentifier
    standard_hours: HoursPaid
    """The hours that each period pays at the regular rate."""

    expected_net_pay: Dollars
    """What a period is expected to pay out, as it was enrolled; one that pays a fifth more is asked about first."""

    next_pay_date: datetime.date | None
    """Null where nothing is to be paid."""

    failure_count: int
    """Failures in a row; with three of them the enrollment is paused."""

    skip_through: datetime.date | None
    """Periods that begin by this day are not paid."""


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether Autopilot may pay the employee, and if not, why."""

    eligible: bool
    """Whether Autopilot may pay the employee; `false` where `reasons` names at least one obstacle."""

    reasons: list[Reason]
    """What prevents it, by code; empty if nothing does."""


@dataclass(frozen=True, slots=True)
class ScheduledPeriod:
    """A period to come."""

    period_start: datetime.date
    """First day of the pay period."""

    period_end: datetime.date
    """Last day of the pay period."""

    pay_date: datetime.date
    """The day on which the money arrives."""

    send_at: datetime.datetime
    """When the household's account is debited: 15:00 Eastern five business days before the pay date."""


@dataclass(frozen=True, slots=True)
class AutopilotOfEmployee:
    """An employee's enrollment, null where there is none or it was ended, and what comes next."""

    employer_id: HouseholdIdentifier
    enrollment: EnrollmentItem | None
    """The enrollment, active or paused; null if the employee was never enrolled or the enrollment was ended."""

    eligibility: Eligibility
    """Whether Autopilot may pay the employee now, and if not, why."""

    schedule_preview: Annotated[list[ScheduledPeriod], Field(max_length=3)]
    """The next three periods that are to be scheduled, exactly as they will be. Of an eligible employee who is not
    enrolled: those that enrolling now would give, by the employee's pay frequency, from the day after the last period
    that was paid, each paid five days after its end. Empty for somebody who is neither enrolled nor eligible."""


@dataclass(frozen=True, slots=True)
class AutopilotOfHousehold:
    """A household's live enrollments (active and paused), newest first."""

    employer_id: HouseholdIdentifier
    enrollments: list[EnrollmentItem]
    """The household's enrollments, active and paused, newest first; empty if there are none."""


@dataclass(frozen=True, slots=True)
class ManagedAutopilot:
    """How things stand after a wish."""

    employer_id: HouseholdIdentifier
    action: AutopilotAction
    """The action of the request's path."""

    changed: bool
    """False where it was so already."""

    enrollment: EnrollmentItem
    """The enrollment as it is after the action."""

    voided_payrolls: list[UUID]
    """Scheduled payrolls that were voided by it."""

    payrolls_still_paid: list[UUID]
    """Payrolls that are paid all the same: scheduled before a pause, or being sent at this moment."""


@dataclass(frozen=True, slots=True)
class AutopilotHistoryItem:
    """One thing that happened to an enrollment."""

    event: AutopilotEventName
    """What happened: `generate` made a payroll, `fire` sent it, `fail` could do neither; the others are actions of
    people, or of Autopilot itself (a pause after three failures)."""

    at: datetime.datetime
    """When it happened, in UTC."""

    actor: str
    """What kind of actor it was: user, key, mcp, operator or system."""

    source: AutopilotSource
    """Where it came from: the `app`, the `api`, an AI assistant over `mcp`, or Hearthpay itself (`system`)."""

    details: dict[str, Any]
    """Whose enrollment it was, and what belongs to the event: period, payroll, reasons."""


def enrollment_item(view: EnrollmentView) -> EnrollmentItem:
    """Return an enrollment as the API tells it."""
    enrollment = view.enrollment
    return EnrollmentItem(
        id=enrollment.id,
        status=cast(EnrollmentStatus, enrollment.status),
        employee_id=enrollment.employee_id,
        standard_hours=view.version.standard_hours,
        expected_net_pay=from_cents(view.version.expected_net),
        next_pay_date=view.next_pay_date,
        failure_count=enrollment.failure_count,
        skip_through=enrollment.skip_through,
    )


def autopilot_of_employee(view: AutopilotView) -> AutopilotOfEmployee:
    """Return where an employee stands, as the API tells it."""
    enrolled = view.enrolled
    return AutopilotOfEmployee(
        employer_id=view.employer_id,
        enrollment=None if enrolled is None else enrollment_item(enrolled),
        eligibility=Eligibility(not view.reasons, list(view.reasons)),
        schedule_preview=[_period(each) for each in view.coming],
    )


def managed_autopilot(requested: Manage, managed: Managed) -> ManagedAutopilot:
    """Return what came of a wish, as the API tells it."""
    return ManagedAutopilot(
        employer_id=managed.view.enrollment.employer_id,
        action=requested.action,
        changed=managed.changed,
        enrollment=enrollment_item(managed.view),
        voided_payrolls=list(managed.voided),
        payrolls_still_paid=list(managed.still_paid),
    )


def history_item(event: AutopilotEvent) -> AutopilotHistoryItem:
    """Return a line of the history, as the API tells it."""
    whose = {
        "employer_id": event.employer_id,
        "employee_id": event.employee_id,
        "enrollment_id": event.enrollment_id,
    }
    return AutopilotHistoryItem(
        event=cast(AutopilotEventName, event.event),
        at=event.at,
        actor=event.actor_kind,
        source=cast(AutopilotSource, event.source),
        details={**whose, **event.details},
    )


def _period(period: AutopilotPeriod) -> ScheduledPeriod:
    return ScheduledPeriod(period.start, period.end, period.pay_date, period.send_at)
