"""The state of direct deposit for a household; connecting accounts and authorizing debits are modules of their own."""

import datetime
from typing import cast

from sqlalchemy.ext.asyncio import AsyncSession

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
from hearthpay.employees.service import active_employees
from hearthpay.employers.models import Employer


async def direct_deposit_status(
    session: AsyncSession, employer: Employer, now: datetime.datetime, *, direct_deposit_enabled: bool
) -> DirectDepositStatus:
    """Return what is missing for direct deposit, for the household and each active employee.

    `offered` says whether this installation has a bank.
    """
    account = await current_household_account(session, employer.id)
    authorization = await authorization_of(session, employer.id, now)
    blockers = await household_blockers(session, employer, direct_deposit_enabled=direct_deposit_enabled)
    employees = await employee_blockers(session, await active_employees(session, employer.id))
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
