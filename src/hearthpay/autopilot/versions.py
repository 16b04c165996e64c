"""What is enrolled from a period on: hours and a schedule, in immutable versions."""

import datetime
from decimal import Decimal

from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import invalid
from hearthpay.autopilot.commands import EnrolledTerms
from hearthpay.autopilot.models import Enrollment, EnrollmentVersion
from hearthpay.autopilot.schedule import AutopilotPeriod
from hearthpay.taxes.messages import message


def new_version(
    enrollment: Enrollment,
    actor: Actor,
    now: datetime.datetime,
    number: int,
    start: datetime.date,
    terms: EnrolledTerms,
    net_pay: int,
    *,
    large_confirmed: bool,
) -> EnrollmentVersion:
    """Return a version that applies from the period beginning at `start`; `net_pay` is in cents.

    ``large_confirmed`` says that pay above the limits for large payrolls was confirmed for these terms.
    """
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
        large_confirmed=large_confirmed,
        made_by_kind=actor.kind,
        made_by=actor.id,
        made_at=now,
    )


def refuse_other_pay(hours: Decimal, *, salaried: bool) -> None:
    """Raise `validation_error` for hours of a salaried employee, and for zero hours of an hourly one."""
    if salaried and hours:
        raise invalid("standard_hours", message("hours_of_salaried"))
    if not salaried and not hours:
        raise invalid("standard_hours", message("hours_of_hourly"))


def refuse_hours(hours: Decimal, period: AutopilotPeriod) -> None:
    """Raise `validation_error` for more hours than the period has."""
    there_are = ((period.end - period.start).days + 1) * 24
    if hours > there_are:
        raise invalid("standard_hours", message("more_hours_than_schedule", hours=there_are))
