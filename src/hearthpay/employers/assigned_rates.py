"""The unemployment rates that states assign to households, which take the place of the new-employer rates."""

from decimal import Decimal
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database import audit
from hearthpay.employers.models import AssignedRate, Employer
from hearthpay.http.errors import ApiError, invalid
from hearthpay.taxes.jurisdictions import STATES

#: More decimals than any state prints.
MOST_DECIMALS: Final = 9
FIRST_YEAR, LAST_YEAR = 2000, 2200


async def assigned_sui_rates(session: AsyncSession, employer_id: UUID, tax_year: int) -> dict[str, Decimal]:
    """Return a household's assigned unemployment rates of a year, by state; usually one, or none."""
    statement = select(AssignedRate.state, AssignedRate.sui_rate).where(
        AssignedRate.employer_id == employer_id, AssignedRate.tax_year == tax_year
    )
    return {row[0]: row[1] for row in await session.execute(statement)}


async def assign_sui_rate(
    session: AsyncSession, employer_id: UUID, *, tax_year: int, state: str, rate: Decimal
) -> None:
    """Note the rate of a state's notice, such as 0.027, in place of an earlier one; for the operator's session.

    Payrolls run from now on use it; what is already paid stays. Raises `not_found` for an unknown household and
    `validation_error` naming ``state``, ``tax_year`` or ``rate``.
    """
    if state not in STATES:
        raise invalid("state", "must be one of the 50 states or DC, by its two letters")
    if not FIRST_YEAR <= tax_year <= LAST_YEAR:
        raise invalid("tax_year", f"must be between {FIRST_YEAR} and {LAST_YEAR}")
    if not rate.is_finite() or not 0 <= rate < 1 or -int(rate.as_tuple().exponent) > MOST_DECIMALS:
        raise invalid("rate", "must be a fraction between 0 and 1, such as 0.027")
    employer = await session.get(Employer, employer_id)
    if employer is None:
        raise ApiError("not_found", f"There is no household with the id {employer_id}.")
    statement = insert(AssignedRate).values(
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        tax_year=tax_year,
        state=state,
        sui_rate=rate,
    )
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["employer_id", "tax_year", "state"], set_={"sui_rate": rate}
        )
    )
    await audit.record(
        session,
        actor_kind="operator",
        actor_id=None,
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        action="employer.assign_sui_rate",
        subject_id=employer.id,
        request_id=None,
        details={"tax_year": tax_year, "state": state, "sui_rate": rate},
    )
