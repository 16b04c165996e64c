"""A household's employments and policies, from its records, as the calendar of hires and endings needs them."""

import datetime
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.employment import Engagement, PolicyStatus, employment_items
from hearthpay.duties.household import FEDERAL
from hearthpay.employees.models import Employee, SignedCertificate
from hearthpay.employees.work_places import work_places
from hearthpay.employers.models import Employer
from hearthpay.insurance.service import HouseholdPolicy, read_policies
from hearthpay.taxes.place_names import plain_name


async def items_of_employment(
    session: AsyncSession,
    employer: Employer,
    today: datetime.date,
    done: Mapping[str, datetime.date],
    records: Sequence[Employee],
) -> tuple[CalendarItem, ...]:
    """Return the items for hires, endings and policies; the caller has checked that they may be shown."""
    policies = await read_policies(session, employer.id, today, records)
    signed = {
        row.employee_id: row.signed_on
        for row in await session.execute(
            select(SignedCertificate.employee_id, func.min(SignedCertificate.signed_on).label("signed_on"))
            .where(SignedCertificate.employer_id == employer.id, SignedCertificate.jurisdiction == FEDERAL)
            .group_by(SignedCertificate.employee_id)
        )
    }
    return employment_items(
        employer.id,
        [
            each
            for record in records
            for each in engagements_of(record, employer.address, signed.get(record.id))
        ],
        [_standing(policy) for policy in policies],
        done,
    )


def engagements_of(
    record: Employee,
    household_address: Mapping[str, str] | None,
    w4_on: datetime.date | None = None,
) -> Iterator[Engagement]:
    """Yield the employments of a record, the earlier ones in the current one's state."""
    spells = [
        (datetime.date.fromisoformat(each["start_date"]), datetime.date.fromisoformat(each["end_date"]))
        for each in record.earlier_employments
    ]
    places = frozenset(plain_name(place) for place in work_places(record, household_address))
    for number, (since, until) in enumerate([*spells, (record.start_date, record.end_date)], 1):
        yield Engagement(
            person_id=record.person_id or record.id,
            name=record.name,
            number=number,
            state=record.work_state,
            places=places,
            since=since,
            until=until,
            weekly_hours=record.usual_weekly_hours,
            pay_frequency=record.pay_frequency,
            withholds=record.federal_withholding.get("elected", True)
            and not record.federal_withholding.get("exempt", False),
            w4_on=w4_on,
        )


def _standing(policy: HouseholdPolicy) -> PolicyStatus:
    details = policy.entered
    if details is None:
        return PolicyStatus(policy.needed, policy.state, policy.kind)
    return PolicyStatus(
        policy.needed, policy.state, policy.kind, details.starts_on, details.ends_on, details.carrier
    )
