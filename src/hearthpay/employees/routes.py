"""The HTTP face of employees."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.employees import service
from hearthpay.employees.schemas import (
    EmployeeChanges,
    EmployeeItem,
    EmployeeQuery,
    NewEmployee,
    Termination,
    item_of,
)
from hearthpay.http.actor import Actor
from hearthpay.http.auth import require
from hearthpay.http.envelope import Answer, Envelope, ListEnvelope, listing
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of

router: Final = api_router("Employees")

_EMPLOYER_ID: Final = "019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e"
_NEW_EMPLOYEE: Final = {
    "employer_id": _EMPLOYER_ID,
    "first_name": "Rosa",
    "last_name": "Diaz",
    "email": "rosa.diaz@example.com",
    "pay_rate": 28.5,
    "pay_frequency": "biweekly",
    "start_date": "2026-01-05",
    "work_state": "CA",
    "relationship": "none",
    "federal_withholding": {"elected": True, "filing_status": "single", "dependents_credit": 2000},
    "state_withholding": {"additional_withholding": 10},
}
_CHANGES: Final = {"pay_rate": 30, "state_withholding": {"additional_withholding": 15}}
_TERMINATION: Final = {"end_date": "2026-11-20"}
_TODAY: Final = Termination()


@router.get(
    "/employees",
    operation_id="listEmployees",
    summary="List a household's employees",
    **describe(
        answer=ListEnvelope[EmployeeItem],
        query={"employer_id": _EMPLOYER_ID, "limit": 25},
        errors=("household_forbidden", "key_mode_mismatch"),
    ),
)
async def list_employees(
    request: Request,
    query: Annotated[EmployeeQuery, Query()],
    actor: Annotated[Actor, Depends(require("employees"))],
) -> Response:
    """Newest first, the terminated ones included. Holds no secret: no birth date, address or number."""
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        employees, next_cursor = await service.list_employees(session, actor, query.employer_id, query)
    return listing(request, [item_of(employee) for employee in employees], next_cursor)


@router.post(
    "/employees",
    operation_id="createEmployee",
    summary="Add an employee to a household",
    **describe(
        answer=Envelope[EmployeeItem],
        body=_NEW_EMPLOYEE,
        status=201,
        errors=(
            "unsupported_jurisdiction",
            "duplicate_employee",
            "household_forbidden",
            "key_mode_mismatch",
            "idempotency_conflict",
        ),
    ),
)
async def create_employee(
    request: Request, body: NewEmployee, actor: Annotated[Actor, Depends(require("employees"))]
) -> Response:
    """The Social Security number and the bank account never come this way; the employee enters them in the portal."""
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        return Answer(item_of(await service.create_employee(session, actor, clock, body)), 201)

    return await idempotent(request, actor, operation)


@router.patch(
    "/employees/{employee_id}",
    operation_id="updateEmployee",
    summary="Change an employee's settings",
    **describe(
        answer=Envelope[EmployeeItem],
        body=_CHANGES,
        errors=("unsupported_jurisdiction", "duplicate_employee", "not_found", "idempotency_conflict"),
    ),
)
async def update_employee(
    request: Request,
    employee_id: UUID,
    body: EmployeeChanges,
    actor: Annotated[Actor, Depends(require("employees"))],
) -> Response:
    """Only the fields sent change, from the next payroll on. All settings together must be such as could be created."""
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        return Answer(item_of(await service.update_employee(session, actor, clock, employee_id, body)))

    return await idempotent(request, actor, operation)


@router.post(
    "/employees/{employee_id}/terminate",
    operation_id="terminateEmployee",
    summary="End an employment",
    **describe(
        answer=Envelope[EmployeeItem],
        body=_TERMINATION,
        errors=("not_found", "idempotency_conflict"),
    ),
)
async def terminate_employee(
    request: Request,
    employee_id: UUID,
    actor: Annotated[Actor, Depends(require("employees"))],
    body: Termination = _TODAY,
) -> Response:
    """The last paycheck can still be run, for a pay period that begins on or before the last day.

    Again with the same day, or with none, it changes nothing; with another day it corrects the first.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        return Answer(item_of(await service.terminate_employee(session, actor, clock, employee_id, body)))

    return await idempotent(request, actor, operation)
