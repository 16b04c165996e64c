"""The operations on a household's employees."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.entitlements import refuse_beyond
from hearthpay.access.permissions import CHANGE_ADDRESSES, CHANGE_EMPLOYEES, READ_EMPLOYEES, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.accounts.freezing import refuse_frozen
from hearthpay.clock import Clock
from hearthpay.employees.certificates import to_storage
from hearthpay.employees.changes import settings_after
from hearthpay.employees.commands import AddEmployee, ChangeEmployee
from hearthpay.employees.models import Employee, PayChange
from hearthpay.employees.payable import (
    check_payable,
    localities_of,
    overtime_rate_of,
    refuse_future_birth,
    refuse_other_pay_type,
    salary_warnings,
)
from hearthpay.employees.salaries import Salary, regular_rate
from hearthpay.employees.same_person import former_namesakes, namesake_warning
from hearthpay.employers.commands import ListHouseholds
from hearthpay.employers.metadata import audit_details, with_metadata
from hearthpay.employers.models import Employer
from hearthpay.employers.service import reached_employers, resolve_employer
from hearthpay.people.former_addresses import note_former_address
from hearthpay.taxes.messages import Message, message
from hearthpay.unchanged import UNCHANGED, changes_of
from hearthpay.wire.metadata import NO_METADATA, Metadata
from hearthpay.wire.paging import PageRequest, page_of

_CHANGES_READ: Final = 200
_OF_SALARY: Final = frozenset({"pay_type", "salary", "salary_per", "usual_weekly_hours"})
_WHERE_TAXED: Final = frozenset({"work_state", "residence_state", "city", "locality", "state_withholding"})


async def list_employees(
    session: AsyncSession,
    actor: Actor,
    employer_id: UUID | None,
    page: PageRequest,
    metadata: Metadata = NO_METADATA,
) -> tuple[Sequence[Employee], str | None]:
    """Return one page of a household's employees with this metadata, newest first. Raises what `allow` and
    `resolve_employer` raise.
    """
    allow(actor, READ_EMPLOYEES)
    employer = await resolve_employer(session, actor, employer_id)
    statement = select(Employee).where(Employee.employer_id == employer.id)
    statement = with_metadata(
        statement, actor, "employee", Employee.id, metadata, employer_id=employer.id, before=page.cursor
    )
    return await page_of(session, statement, Employee.id, page)


async def list_households(
    session: AsyncSession, actor: Actor, clock: Clock, requested: ListHouseholds
) -> tuple[list[tuple[Employer, list[Employee]]], str | None]:
    """Return one page of households, newest first if no sort is requested, each with its employees, newest first.

    An actor who may not list households gets the one that a request without a household is about. Raises what `allow`
    and `reached_employers` raise.
    """
    allow(actor, READ_EMPLOYEES)
    employers, next_cursor = await reached_employers(session, actor, clock, requested)
    ids = [employer.id for employer in employers]
    people = select(Employee).where(Employee.employer_id.in_(ids)).order_by(Employee.id.desc())
    of_household: dict[UUID, list[Employee]] = {employer_id: [] for employer_id in ids}
    for employee in await session.scalars(people):
        of_household[employee.employer_id].append(employee)
    return [(employer, of_household[employer.id]) for employer in employers], next_cursor


async def find_employee(session: AsyncSession, actor: Actor, employee_id: UUID) -> Employee:
    """Return the employee with that id. Raises what `allow` raises, and `not_found` out of the actor's reach."""
    allow(actor, READ_EMPLOYEES)
    employee = await session.get(Employee, employee_id)
    if employee is None or not actor.reaches(employee.employer_id):
        raise _unknown()
    return employee


@dataclass(frozen=True, slots=True)
class Noted:
    """An employee after a change, and what the household should know about it."""

    employee: Employee
    warnings: Sequence[Message] = ()


async def create_employee(session: AsyncSession, actor: Actor, clock: Clock, new: AddEmployee) -> Noted:
    """Add an employee to a household.

    Warns if a former employee has this name: that employee should be reinstated instead. Raises what
    `resolve_employer` raises, `duplicate_employee`, `plan_limit_reached` beyond the active employees that the plan
    allows, `validation_error` for anything the tax engine couldn't pay wages by, and `unsupported_jurisdiction` for a
    state without rules.
    """
    allow(actor, CHANGE_EMPLOYEES)
    employer = await resolve_employer(session, actor, new.employer_id)
    employee = _employee(actor, clock, employer, new)
    warnings = check_payable(employee, clock, city=new.city)
    if not await _lock_household(session, employer.id):
        raise Refusal(
            "household_forbidden",
            "This household has just been deleted.",
            details={"employer_id": employer.id},
        )
    await _refuse_duplicate(session, employee)
    refuse_beyond(actor.terms, "employees_per_household", await _count_active(session, employer.id))
    session.add(employee)
    await session.flush()
    await record_audit(session, actor, "employee.create", employer_id=employer.id, subject_id=employee.id)
    warnings += salary_warnings(employee, clock)
    warnings += [namesake_warning(former) for former in await former_namesakes(session, employee)]
    return Noted(employee, warnings)


async def update_employee(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, changes: ChangeEmployee
) -> Noted:
    """Change the settings that were sent; of two simultaneous changes the later one sees the first one's result.

    A new email address requires the right to change addresses, and the old one is still notified for a while. Raises
    what `allow` raises, `not_found`, `invalid_state` for a new address while the organization is frozen, and for the
    settings together what `create_employee` raises for them.
    """
    allow(actor, CHANGE_EMPLOYEES)
    employee = await lock_employee(session, actor, employee_id)
    requested, warnings = settings_after(employee, changes, clock)
    before = _assign(employee, requested)
    if not before:
        return Noted(employee)
    if "email" in before:
        await _leave_address(session, actor, clock, employee, before["email"])
    city = None if changes.city is UNCHANGED else changes.city
    assumed = check_payable(employee, clock, city=city)
    if changes_of(changes).keys() & _WHERE_TAXED:
        warnings += assumed
    if before.keys() & _OF_SALARY:
        warnings += salary_warnings(employee, clock)
    if employee.status == "active" and before.keys() & {"first_name", "last_name", "email"}:
        await _refuse_duplicate(session, employee)
    await _store(session, actor, clock, employee, "employee.update", before)
    return Noted(employee, warnings)


async def _leave_address(
    session: AsyncSession, actor: Actor, clock: Clock, employee: Employee, address: object
) -> None:
    """Replace this email address; the old one is still notified for a while."""
    allow(actor, CHANGE_ADDRESSES, employee.employer_id)
    now = clock.now()
    await refuse_frozen(session, actor, now, employee.employer_id, correction=True)
    await note_former_address(
        session,
        now,
        organization_id=employee.organization_id,
        employer_id=employee.employer_id,
        sandbox=employee.sandbox,
        employee_id=employee.id,
        address=None if address is None else str(address),
    )


@dataclass(frozen=True, slots=True)
class Pay:
    """What an employee is paid by: an hourly rate, or a salary per year or period; dollars, None until set."""

    pay_type: str
    pay_rate: Decimal | None
    salary: Salary | None


@dataclass(frozen=True, slots=True)
class RateChange:
    """A change from one hourly rate or salary to another."""

    at: datetime.datetime
    before: Pay
    after: Pay


async def rate_changes(session: AsyncSession, actor: Actor, employee_id: UUID) -> Sequence[RateChange]:
    """Return the changes of the employee's hourly rate or salary, the latest first.

    A rate applies to payrolls run from then on; those that were run or approved keep theirs. Raises what `allow`
    raises, and `not_found`.
    """
    employee = await find_employee(session, actor, employee_id)
    newest = select(PayChange).where(PayChange.employee_id == employee.id).order_by(PayChange.id.desc())
    return [
        RateChange(
            each.changed_at,
            _pay(each.former_pay_type, each.former_pay_rate, each.former_salary, each.former_salary_per),
            _pay(each.pay_type, each.pay_rate, each.salary, each.salary_per),
        )
        for each in await session.scalars(newest.limit(_CHANGES_READ))
    ]


def _pay(pay_type: str, pay_rate: Decimal | None, amount: Decimal | None, per: str | None) -> Pay:
    salary = None if amount is None else Salary(amount, "year" if per == "year" else "period")
    return Pay(pay_type, pay_rate, salary)


async def terminate_employee(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employee_id: UUID,
    end_date: datetime.date | None = None,
) -> Employee:
    """End the employment on the given day, or today; the last paycheck may still be run for the days until it.

    Repeating it with the same day, or with none, changes nothing; another day corrects the first. Raises `not_found`,
    and `validation_error` for a day before the first one.
    """
    allow(actor, CHANGE_EMPLOYEES)
    employee = await lock_employee(session, actor, employee_id)
    if end_date is None:
        noted = employee.end_date if employee.status == "terminated" else None
        end_date = noted or clock.today()
    if end_date < employee.start_date:
        raise invalid("end_date", message("ends_before_first_day", day=employee.start_date))
    before = _assign(employee, {"status": "terminated", "end_date": end_date})
    if before:
        await _store(session, actor, clock, employee, "employee.terminate", before)
    return employee


async def reinstate_employee(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employee_id: UUID,
    start_date: datetime.date | None = None,
) -> Employee:
    """Reinstate a former employee: the same person, whose year to date continues.

    With a first day a new employment begins on it, and the earlier one is kept; without, the earlier one continues as
    if it had never ended. For a current employee it changes nothing, or raises `invalid_state` for another first day.
    Raises `not_found`, `validation_error` for a day that isn't after the last one, and as `create_employee` does
    `duplicate_employee`, `plan_limit_reached` and what the tax engine refuses.
    """
    allow(actor, CHANGE_EMPLOYEES)
    employee = await lock_employee(session, actor, employee_id)
    if employee.status == "active":
        if start_date not in (None, employee.start_date):
            raise Refusal(
                "invalid_state",
                "This employment has not ended. Its first day is corrected by PATCH.",
                details={"status": employee.status, "start_date": employee.start_date},
            )
        return employee
    assert employee.end_date is not None
    requested: dict[str, object] = {"status": "active", "end_date": None}
    if start_date is not None:
        if start_date <= employee.end_date:
            raise invalid("start_date", message("starts_before_last_day", day=employee.end_date))
        ended = {"start_date": employee.start_date.isoformat(), "end_date": employee.end_date.isoformat()}
        requested |= {
            "start_date": start_date,
            "earlier_employments": [*employee.earlier_employments, ended],
        }
    check_payable(employee, clock)
    await _refuse_duplicate(session, employee)
    refuse_beyond(actor.terms, "employees_per_household", await _count_active(session, employee.employer_id))
    before = _assign(employee, requested)
    await _store(session, actor, clock, employee, "employee.reinstate", before)
    return employee


async def lock_employee(session: AsyncSession, actor: Actor, employee_id: UUID) -> Employee:
    """Return the employee, whom nobody else can change or pay until the commit. Raises `not_found`, also out of
    reach.

    The household is locked first, as everywhere that needs both locks.
    """
    employer_id = await session.scalar(select(Employee.employer_id).where(Employee.id == employee_id))
    if employer_id is None or not actor.reaches(employer_id):
        raise _unknown()
    if await _lock_household(session, employer_id):
        statement = select(Employee).where(Employee.id == employee_id).with_for_update(key_share=True)
        # The current row: a reader earlier in this transaction may have waited for another one since.
        employee = await session.scalar(statement.execution_options(populate_existing=True))
        if employee is not None:
            return employee
    raise _unknown()


def _unknown() -> Refusal:
    return Refusal("not_found", "We couldn't find that employee.")


async def lock_everyone(session: AsyncSession, actor: Actor, employee_id: UUID) -> Employee:
    """Return the employee, locked with everyone else in the household. Raises `not_found`, also out of reach.

    For changes that may concern other records of the same person; all are locked in the order of their ids, as
    payrolls do.
    """
    employer_id = await session.scalar(select(Employee.employer_id).where(Employee.id == employee_id))
    if employer_id is None or not actor.reaches(employer_id):
        raise _unknown()
    if await _lock_household(session, employer_id):
        everyone = select(Employee.id).where(Employee.employer_id == employer_id).order_by(Employee.id)
        await session.execute(everyone.with_for_update(key_share=True))
    return await lock_employee(session, actor, employee_id)


async def _lock_household(session: AsyncSession, employer_id: UUID) -> bool:
    """Keep others from adding or renaming the household's employees until the commit; False if it no longer exists.

    Otherwise two equal requests could both find the name unused.
    """
    statement = select(Employer.id).where(Employer.id == employer_id).with_for_update(key_share=True)
    return await session.scalar(statement) is not None


def _assign(employee: Employee, requested: Mapping[str, object]) -> dict[str, object]:
    """Set the employee's settings that differ; return their former values."""
    before = {
        name: getattr(employee, name) for name in requested if getattr(employee, name) != requested[name]
    }
    for name in before:
        setattr(employee, name, requested[name])
    return before


async def _store(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employee: Employee,
    action: str,
    before: Mapping[str, object],
) -> None:
    employee.updated_at = clock.now()
    await session.flush()
    await record_audit(
        session,
        actor,
        action,
        employer_id=employee.employer_id,
        subject_id=employee.id,
        details=audit_details(before, {name: getattr(employee, name) for name in before}),
    )


def _employee(actor: Actor, clock: Clock, employer: Employer, new: AddEmployee) -> Employee:
    refuse_other_pay_type(new.pay_type, new.pay_rate, new.salary)
    refuse_future_birth(new.birth_year, clock)
    work_state = new.work_state or employer.state
    now = clock.now()
    employee = Employee(
        id=uuid7(),
        organization_id=actor.organization_id,
        employer_id=employer.id,
        sandbox=actor.sandbox,
        first_name=new.first_name,
        last_name=new.last_name,
        email=new.email,
        status="active",
        work_state=work_state,
        residence_state=new.residence_state or work_state,
        localities=localities_of(clock, work_state, new.city, new.locality),
        city=new.city,
        address=None if new.address is None else asdict(new.address),
        language=new.language,
        pay_type=new.pay_type,
        pay_rate=new.pay_rate,
        salary=None if new.salary is None else new.salary.amount,
        salary_per=None if new.salary is None else new.salary.per,
        usual_weekly_hours=new.usual_weekly_hours,
        working_days=None if new.working_days is None else list(new.working_days),
        overtime_rate=None,
        pay_frequency=new.pay_frequency,
        start_date=new.start_date or clock.today(),
        end_date=None,
        payment_method=new.payment_method,
        relationship=new.relationship,
        birth_year=new.birth_year,
        lives_in=new.lives_in,
        federal_withholding=to_storage(new.federal_withholding or {}),
        state_withholding=to_storage(new.state_withholding or {}),
        person_id=None,
        earlier_employments=[],
        left_states={},
        metadata_=dict(new.metadata),
        created_at=now,
        updated_at=now,
    )
    rate = regular_rate(employee)
    least = "pay_rate" if new.pay_type == "hourly" else f"the regular rate of the salary, {rate}"
    employee.overtime_rate = overtime_rate_of(rate, new.overtime_rate, least)
    return employee


async def active_employees(session: AsyncSession, employer_id: UUID) -> Sequence[UUID]:
    """Return the ids of the household's current employees, in order."""
    active = select(Employee.id).where(Employee.employer_id == employer_id, Employee.status == "active")
    return (await session.scalars(active.order_by(Employee.id))).all()


async def _count_active(session: AsyncSession, employer_id: UUID) -> int:
    """Return how many the household has; if the household is locked, the number holds until the commit."""
    active = (Employee.employer_id == employer_id, Employee.status == "active")
    return await session.scalar(select(func.count()).select_from(Employee).where(*active)) or 0


async def _refuse_duplicate(session: AsyncSession, employee: Employee) -> None:
    """Refuse another active employee of the same name, unless two email addresses tell them apart."""
    same = select(Employee.id).where(
        Employee.id != employee.id,
        Employee.employer_id == employee.employer_id,
        Employee.status == "active",
        func.lower(Employee.first_name) == func.lower(employee.first_name),
        func.lower(Employee.last_name) == func.lower(employee.last_name),
    )
    if employee.email is not None:
        same = same.where(
            or_(Employee.email.is_(None), func.lower(Employee.email) == func.lower(employee.email))
        )
    existing = await session.scalar(same.limit(1))
    if existing is not None:
        raise Refusal(
            "duplicate_employee",
            "The household already has an active employee of this name. "
            "Two people of one name are told apart by their email addresses.",
            details={"employee_id": existing},
        )
