"""What the employees of a household were paid, by the state of work and the calendar quarter of the pay dates."""

from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_PAID: Final = text(
    "SELECT c.employee_id, c.work_state, c.tax_year, CAST(extract(quarter FROM p.pay_date) AS int), "
    "CAST(sum(c.gross_pay) AS bigint) FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "WHERE c.employer_id = :employer AND c.tax_year BETWEEN :first AND :last GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
)


class QuarterPaid(NamedTuple):
    """Gross pay of one employee in one state and quarter, in cents; what was taken back is deducted."""

    employee_id: UUID
    work_state: str
    year: int
    quarter: int
    cents: int


async def read_quarters(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> list[QuarterPaid]:
    """Return what the household paid in these years; wages of other payrolls are not among it."""
    wanted = {"employer": employer_id, "first": first_year, "last": last_year}
    return [QuarterPaid(*row) for row in await session.execute(_PAID, wanted)]
