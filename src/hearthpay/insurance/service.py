"""The policies of a household: which it needs, which it has, and storing what it enters about them."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_REGISTRATIONS, READ_REGISTRATIONS, allow
from hearthpay.access.refusal import invalid
from hearthpay.clock import Clock
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.insurance.models import InsurancePolicy
from hearthpay.insurance.requirements import (
    POLICY_KINDS,
    NeededPolicy,
    PolicyKind,
    Worker,
    needed_policies,
    rules_of,
)
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.messages import message

_PERIODS_A_YEAR: Final = {"weekly": 52, "biweekly": 26, "semimonthly": 24, "monthly": 12}
_WEEKS: Final = Decimal(52)
_LONGEST: Final = 80
_FIELDS: Final = ("carrier", "policy_number", "starts_on", "ends_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDetails:
    """What a household enters about a policy; a carrier of None removes the entry."""

    state: str
    kind: PolicyKind
    carrier: str | None
    policy_number: str | None = None
    starts_on: datetime.date | None = None
    ends_on: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class HouseholdPolicy:
    """A kind of policy in a state: whether the law requires it (None: nobody works there), and what is on record."""

    state: str
    kind: PolicyKind
    needed: NeededPolicy | None
    entered: PolicyDetails | None

    @property
    def missing(self) -> bool:
        """Whether the law requires it and none is on record."""
        return self.entered is None and self.needed is not None and self.needed.need == "required"


async def policies_of_household(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer
) -> tuple[HouseholdPolicy, ...]:
    """Return the policies of each state where an employee works, and those on record. Raises what `allow` raises."""
    allow(actor, READ_REGISTRATIONS, employer.id)
    return await read_policies(session, employer.id, clock.today())


async def read_policies(
    session: AsyncSession,
    employer_id: UUID,
    today: datetime.date,
    employees: Sequence[Employee] | None = None,
) -> tuple[HouseholdPolicy, ...]:
    """Return the same policies; the caller has checked that they may be shown."""
    if employees is None:
        statement = select(Employee).where(Employee.employer_id == employer_id).order_by(Employee.id)
        employees = (await session.scalars(statement)).all()
    rows = (
        await session.scalars(select(InsurancePolicy).where(InsurancePolicy.employer_id == employer_id))
    ).all()
    details = {(row.state, row.kind): _details(row) for row in rows if row.carrier is not None}
    needed = {
        (each.rule.state, each.rule.kind): each
        for each in needed_policies([_worker(each) for each in employees if _works(each, today)])
    }
    places = sorted({*details, *needed}, key=lambda place: (place[0], place[1] != POLICY_KINDS[0]))
    return tuple(
        HouseholdPolicy(state, kind, needed.get((state, kind)), details.get((state, kind)))  # type: ignore[arg-type]
        for state, kind in places
    )


def _works(employee: Employee, today: datetime.date) -> bool:
    return employee.end_date is None or employee.end_date >= today


def _details(row: InsurancePolicy) -> PolicyDetails:
    return PolicyDetails(
        state=row.state,
        kind=row.kind,  # type: ignore[arg-type]
        **{name: getattr(row, name) for name in _FIELDS},
    )


def _worker(employee: Employee) -> Worker:
    return Worker(
        id=employee.id,
        state=employee.work_state,
        since=employee.start_date,
        relationship=employee.relationship,
        lives_in=employee.lives_in,
        weekly_hours=employee.usual_weekly_hours,
        weekly_wages=_weekly_wages(employee),
        days_a_week=None if employee.working_days is None else len(employee.working_days),
    )


def _weekly_wages(employee: Employee) -> Decimal | None:
    """Return what the employee usually earns in a week, in dollars; None if hours or pay aren't known."""
    if employee.pay_type == "salary":
        if employee.salary is None:
            return None
        periods = 1 if employee.salary_per == "year" else _PERIODS_A_YEAR[employee.pay_frequency]
        return employee.salary * periods / _WEEKS
    if employee.pay_rate is None or employee.usual_weekly_hours is None:
        return None
    return employee.pay_rate * employee.usual_weekly_hours


async def keep_policy(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer, details: PolicyDetails
) -> None:
    """Store what a household enters about a policy, in place of an earlier entry, with an audit row.

    Raises what `allow` raises, and `validation_error` for a state or kind without such a policy, a text that is empty
    or too long, and a last day before the first.
    """
    allow(actor, KEEP_REGISTRATIONS, employer.id)
    _check_policy(details)
    values = {name: getattr(details, name) if details.carrier is not None else None for name in _FIELDS}
    now = clock.now()
    row = values | {
        "id": uuid7(),
        "organization_id": employer.organization_id,
        "employer_id": employer.id,
        "sandbox": employer.sandbox,
        "state": details.state,
        "kind": details.kind,
        "created_at": now,
        "updated_at": now,
    }
    same = (
        InsurancePolicy.employer_id == employer.id,
        InsurancePolicy.state == details.state,
        InsurancePolicy.kind == details.kind,
    )
    stored = select(InsurancePolicy.carrier, InsurancePolicy.starts_on, InsurancePolicy.ends_on)
    former = (await session.execute(stored.where(*same).with_for_update())).one_or_none()
    before = _in_history(*(former or (None, None, None)))
    after = _in_history(values["carrier"], values["starts_on"], values["ends_on"])
    statement = (
        insert(InsurancePolicy)
        .values(row)
        .on_conflict_do_update(
            index_elements=("employer_id", "state", "kind"), set_=values | {"updated_at": now}
        )
        .returning(InsurancePolicy.id)
    )
    subject = (await session.execute(statement)).scalar_one()
    changed = [name for name in after if before[name] != after[name]]
    await record_audit(
        session,
        actor,
        "insurance.policy",
        employer_id=employer.id,
        subject_id=subject,
        details={
            "state": details.state,
            "kind": details.kind,
            **after,
            "before": {name: before[name] for name in changed},
            "after": {name: after[name] for name in changed},
        },
    )


def _in_history(
    carrier: str | None, starts_on: datetime.date | None, ends_on: datetime.date | None
) -> dict[str, str | None]:
    """Return what the audit log stores of a policy; its number isn't stored."""
    return {
        "carrier": carrier,
        "starts_on": None if starts_on is None else starts_on.isoformat(),
        "ends_on": None if ends_on is None else ends_on.isoformat(),
    }


def _check_policy(details: PolicyDetails) -> None:
    if details.state not in STATES or details.kind not in [rule.kind for rule in rules_of(details.state)]:
        raise invalid("kind", "is no policy of this state")
    for field in ("carrier", "policy_number"):
        text = getattr(details, field)
        if text is not None and not (0 < len(text) <= _LONGEST and text.isprintable()):
            raise invalid(field, message("not_printable", longest=_LONGEST))
    if details.carrier is not None and details.starts_on is None:
        raise invalid("starts_on", message("required"))
    if details.starts_on is not None and details.ends_on is not None and details.ends_on < details.starts_on:
        raise invalid("ends_on", message("policy_ends_before_start"))
