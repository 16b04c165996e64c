"""The HTTP face of direct deposit."""

from typing import Annotated, Final, cast
from uuid import UUID

from fastapi import Depends
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.banking.accounts import current_household_account
from hearthpay.banking.authorizations import authorization_of
from hearthpay.banking.readiness import employee_blockers, household_blockers
from hearthpay.banking.schemas import (
    AccountStatus,
    AccountView,
    AuthorizationView,
    DirectDepositStatus,
    EmployeeReadiness,
)
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import get_employer
from hearthpay.http.actor import Actor
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, answer
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import Runtime, runtime_of

router: Final = api_router("Employers")


@router.get(
    "/employers/{employer_id}/dd-status",
    operation_id="getDirectDepositStatus",
    summary="Tell whether a household can pay by direct deposit",
    **describe(answer=Envelope[DirectDepositStatus], errors=("key_mode_mismatch", "not_found")),
)
async def get_direct_deposit_status(
    request: Request, employer_id: UUID, actor: Annotated[Actor, Depends(require("payroll"))]
) -> Response:
    """What is missing, for the household and for each active employee. Nothing of it asks for a number here.

    An authorization that is missing or expired is no blocker: `confirm_ach_debit` of a payroll gives it.
    """
    runtime = runtime_of(request)
    async with runtime.database.transaction(actor.tenant) as session:
        employer = await get_employer(session, actor, employer_id)
        status = await _status(session, runtime, employer)
    return answer(request, status)


async def _status(session: AsyncSession, runtime: Runtime, employer: Employer) -> DirectDepositStatus:
    account = await current_household_account(session, employer.id)
    authorization = await authorization_of(session, employer.id, runtime.clock.now())
    blockers = await household_blockers(session, employer, offered=runtime.direct_deposit)
    active = select(Employee.id).where(Employee.employer_id == employer.id, Employee.status == "active")
    employees = await employee_blockers(session, (await session.scalars(active.order_by(Employee.id))).all())
    return DirectDepositStatus(
        employer_id=employer.id,
        ready=not blockers,
        bank_account=None
        if account is None
        else AccountView(cast(AccountStatus, account.status), account.last_four, account.bank_name),
        authorization=AuthorizationView(authorization.status, authorization.expires_at),
        blockers=blockers,
        employees=tuple(
            EmployeeReadiness(employee_id, not found, found) for employee_id, found in employees.items()
        ),
    )
