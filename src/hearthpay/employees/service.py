"""What may happen to a household's employees."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Final
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.clock import Clock
from hearthpay.employees.certificates import federal_certificate, state_entries, to_storage
from hearthpay.employees.models import Employee
from hearthpay.employees.schemas import NewEmployee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.http.actor import Actor
from hearthpay.http.errors import ApiError, from_tax_engine, invalid
from hearthpay.http.paging import Page, page_of
from hearthpay.http.trail import leave_trace
from hearthpay.taxes import PaycheckInput, TaxInputError, calculate_paycheck, rulebook_for

OVERTIME_FACTOR: Final = Decimal("1.5")

_CENT: Final = Decimal("0.01")
_FIELDS_OF_THE_ENGINE: Final = {"state": "state_withholding", "federal": "federal_withholding"}


async def list_employees(
    session: AsyncSession, actor: Actor, employer_id: UUID | None, page: Page
) -> tuple[Sequence[Employee], str | None]:
    """One page of a household's employees, newest first. Raises what `resolve_employer` raises."""
    employer = await resolve_employer(session, actor, employer_id)
    return await page_of(
        session, select(Employee).where(Employee.employer_id == employer.id), Employee.id, page
    )


async def create_employee(session: AsyncSession, actor: Actor, clock: Clock, new: NewEmployee) -> Employee:
    """Add an employee to a household.

    Raises what `resolve_employer` raises, `duplicate_employee`, `validation_error` for anything the tax
    engine could not pay wages by, and `unsupported_jurisdiction` for a state without rules.
    """
    employer = await resolve_employer(session, actor, new.employer_id)
    employee = _employee(actor, clock, employer, new)
    _check_payable(employee, clock)
    # One at a time in a household, so that two equal requests cannot both find nobody of that name.
    await session.execute(
        select(Employer.id).where(Employer.id == employer.id).with_for_update(key_share=True)
    )
    await _refuse_duplicate(session, employee)
    session.add(employee)
    await session.flush()
    await leave_trace(session, actor, "employee.create", employer_id=employer.id, subject_id=employee.id)
    return employee


def _employee(actor: Actor, clock: Clock, employer: Employer, new: NewEmployee) -> Employee:
    overtime_rate = new.overtime_rate
    if overtime_rate is None:
        overtime_rate = (new.pay_rate * OVERTIME_FACTOR).quantize(_CENT, ROUND_HALF_UP)
    elif overtime_rate < new.pay_rate:
        raise invalid("overtime_rate", "must not be below pay_rate")
    if new.birth_year is not None and new.birth_year > clock.today().year:
        raise invalid("birth_year", "must not lie in the future")
    work_state = new.work_state or employer.state
    now = clock.now()
    return Employee(
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
        localities=_localities(clock, work_state, new),
        pay_rate=new.pay_rate,
        overtime_rate=overtime_rate,
        pay_frequency=new.pay_frequency,
        start_date=new.start_date,
        end_date=None,
        payment_method=new.payment_method,
        relationship=new.relationship,
        birth_year=new.birth_year,
        lives_in=new.lives_in,
        federal_withholding=to_storage(
            new.federal_withholding.model_dump() if new.federal_withholding else {}
        ),
        state_withholding=to_storage(new.state_withholding or {}),
        created_at=now,
        updated_at=now,
    )


def _localities(clock: Clock, work_state: str, new: NewEmployee) -> list[str]:
    """The local taxes that `city` and `locality` choose, by code.

    A city without a tax that the household must withhold is only an address; a `locality` must be one that
    taxes.
    """
    try:
        taxes = rulebook_for(clock.today()).state(work_state).local_taxes
    except TaxInputError as error:
        raise from_tax_engine(error) from None
    codes: dict[str, None] = {}
    if new.locality is not None:
        try:
            codes[taxes.find(new.locality, "locality").locality] = None
        except TaxInputError as error:
            raise from_tax_engine(error) from None
    if new.city is not None:
        codes |= dict.fromkeys(taxes.due_at(new.city))
    return list(codes)


def _check_payable(employee: Employee, clock: Clock) -> None:
    """Calculate a paycheck of nothing: what the tax engine refuses is refused now and not on payday."""
    trial = PaycheckInput(
        pay_date=clock.today(),
        pay_frequency=employee.pay_frequency,
        regular_wages=Decimal("0.00"),
        work_state=employee.work_state,
        residence_state=employee.residence_state,
        localities=tuple(employee.localities),
        federal=federal_certificate(employee.federal_withholding),
        state=state_entries(employee.state_withholding),
        relationship=employee.relationship,
    )
    try:
        calculate_paycheck(trial)
    except TaxInputError as error:
        head, dot, rest = error.field.partition(".")
        field = f"{_FIELDS_OF_THE_ENGINE.get(head, head)}{dot}{rest}"
        raise from_tax_engine(TaxInputError(field, error.message, error.code)) from None


async def _refuse_duplicate(session: AsyncSession, employee: Employee) -> None:
    """Refuse a second active employee of the same name, unless two email addresses tell them apart."""
    same = select(Employee.id).where(
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
        raise ApiError(
            "duplicate_employee",
            "The household already has an active employee of this name. "
            "Two people of one name are told apart by their email addresses.",
            details={"employee_id": existing},
        )
