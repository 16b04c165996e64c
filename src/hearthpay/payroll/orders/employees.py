"""The household and the employees that an order pays, found and locked, and who of them cannot be paid by it."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal, invalid_fields, problem
from hearthpay.employees.models import Employee
from hearthpay.employees.same_person import WITH_FIRST_RECORDS, lock_people
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer, resolve_employer_of
from hearthpay.payroll.commands import Order
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.taxes.messages import message

_LOCK: Final = (
    select(Employee).where(WITH_FIRST_RECORDS).order_by(Employee.id).with_for_update(key_share=True)
)


async def find_household(session: AsyncSession, actor: Actor, order: Order, *, hold: bool) -> Employer:
    """Return the given household, or if none is given that of the first employee in the list.

    If one is given, an employee of another household raises `employee_not_in_household`, naming the entry.
    """
    if order.employer_id is not None:
        return await resolve_employer(session, actor, order.employer_id, hold=hold)
    employee_id = order.employees[0].employee_id
    owner = await session.scalar(select(Employee.employer_id).where(Employee.id == employee_id))
    return await resolve_employer_of(
        session, actor, None, owner, _not_in_household(0, employee_id), hold=hold
    )


def _not_in_household(position: int, employee_id: UUID) -> Refusal:
    return Refusal(
        "employee_not_in_household",
        f"employees[{position}] is not an employee of this household.",
        details={"employee_id": employee_id},
    )


async def find_employees(session: AsyncSession, order: Order, *, lock: bool) -> Sequence[Employee]:
    """Return the household's employees in the order of the list; locked in the order of their ids.

    Raises `duplicate_employee` and `employee_not_in_household`.
    """
    ids = [entry.employee_id for entry in order.employees]
    for position, employee_id in enumerate(ids):
        if employee_id in ids[:position]:
            raise Refusal(
                "duplicate_employee",
                f"employees[{position}] is in the list twice.",
                details={"employee_id": employee_id},
            )

    async def locked(requested: Sequence[UUID]) -> Sequence[Employee]:
        return (await session.scalars(_LOCK, {"records": list(requested)})).all()

    if lock:
        found = await lock_people(locked, ids)
    else:
        asked = select(Employee).where(Employee.id.in_(ids))
        found = {employee.id: employee for employee in await session.scalars(asked)}
    for position, employee_id in enumerate(ids):
        if employee_id not in found:
            raise _not_in_household(position, employee_id)
    return [found[employee_id] for employee_id in ids]


def refuse_unpayable(order: Order, employees: Sequence[Employee], dates: PayDates) -> None:
    """Raise if someone wasn't employed in the period, lacks a pay rate, or has more hours than the period."""
    problems = []
    refunds = order.kind == "fica_refund"
    for position, (entry, employee) in enumerate(zip(order.employees, employees, strict=True)):
        earlier = employee.worked_earlier(dates.period_start, dates.period_end)
        if employee.start_date > dates.period_end and not earlier:
            raise Refusal(
                "employee_not_started",
                f"employees[{position}] starts on {employee.start_date}, after the pay period.",
                details={"employee_id": employee.id, "start_date": employee.start_date},
            )
        if employee.end_date is not None and employee.end_date < dates.period_start and not earlier:
            raise Refusal(
                "invalid_state",
                f"employees[{position}] left on {employee.end_date}, before the pay period.",
                details={"employee_id": employee.id, "end_date": employee.end_date},
            )
        hours = entry.regular_hours + entry.overtime_hours
        by_salary = employee.pay_type == "salary"
        if employee.incomplete and (hours or (by_salary and entry.pay_salary and not refunds)):
            what, paid = ("salary", "it") if by_salary else ("pay rate", "hours")
            raise Refusal(
                "employee_incomplete",
                f"employees[{position}] has no {what} yet, and {paid} cannot be paid without one. Set "
                f"{employee.incomplete[0]} with PATCH /api/v1/employees/{employee.id} first.",
                details={"employee_id": employee.id, "missing": list(employee.incomplete)},
            )
        if hours > _hours_in(dates):
            problems.append(
                problem(
                    f"employees[{position}].regular_hours",
                    message("more_hours_than_period", hours=_hours_in(dates)),
                )
            )
    if problems:
        raise invalid_fields(problems)


def _hours_in(dates: PayDates) -> int:
    return ((dates.period_end - dates.period_start).days + 1) * 24
