"""Which households can be debited and which employees be paid, asked for many at once."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_WITH_ACCOUNT: Final = text(
    "SELECT employer_id FROM bank_accounts WHERE employer_id = ANY(:employers) AND employee_id IS NULL "
    "AND status = 'active'"
)

_PAYABLE: Final = text(
    "SELECT employee_id FROM bank_accounts WHERE employee_id = ANY(:employees) AND status IN ('verifying', 'active')"
)


async def households_with_account(session: AsyncSession, employers: Collection[UUID]) -> set[UUID]:
    """Return those of the households whose own bank account is connected and active."""
    return set(await session.scalars(_WITH_ACCOUNT, {"employers": list(employers)}))


async def employees_with_account(session: AsyncSession, employees: Collection[UUID]) -> set[UUID]:
    """Return those of the employees whose bank account has not failed or gone."""
    return set(await session.scalars(_PAYABLE, {"employees": list(employees)}))
