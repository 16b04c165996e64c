"""What one tax of a household's year was charged on and at which rates, less what was reversed."""

from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.lines import LINES


class ChargedAtRate(NamedTuple):
    """The taxable wages that bore one rate, and the tax on them, in cents."""

    rate: Decimal
    taxable_wages: int
    amount: int


_CHARGED: Final = query(
    ChargedAtRate,
    "SELECT l.rate, CAST(sum(l.taxable_wages) AS bigint) AS taxable_wages, CAST(sum(l.amount) AS bigint) AS amount "
    "FROM paychecks c {lines} WHERE c.employer_id = :employer AND c.tax_year = :year AND l.code = :code "
    "AND l.rate IS NOT NULL GROUP BY 1 HAVING sum(l.taxable_wages) <> 0 OR sum(l.amount) <> 0 ORDER BY 1",
    lines=LINES,
)


async def read_rates_charged(
    session: AsyncSession, employer_id: UUID, *, code: str, year: int
) -> list[ChargedAtRate]:
    """Return what a year's payrolls charged for a tax, by rate; the caller has checked that it may be shown."""
    return await fetch_all(session, _CHARGED, {"employer": employer_id, "code": code, "year": year})
