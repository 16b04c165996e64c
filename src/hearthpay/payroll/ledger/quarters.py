"""What a household's employees were paid and the resulting taxes, by the calendar quarters of the pay dates.

What a void or a failure reversed is deducted where it had been counted: a paycheck that reverses another belongs to
the same payroll, and so to its quarter. A correction of earlier wages of the year is charged with a later paycheck,
and belongs to that one's quarter.
"""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.lines import LINES


class QuarterPaid(NamedTuple):
    """Gross pay of one employee in one state and quarter, in cents, less what was reversed."""

    employee_id: UUID
    work_state: str
    year: int
    quarter: int
    cents: int


_PAID: Final = query(
    QuarterPaid,
    "SELECT c.employee_id, c.work_state, c.tax_year AS year, "
    "CAST(extract(quarter FROM p.pay_date) AS int) AS quarter, CAST(sum(c.gross_pay) AS bigint) AS cents "
    "FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "WHERE c.employer_id = :employer AND c.tax_year BETWEEN :first AND :last GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
)


class QuarterTaxed(NamedTuple):
    """The amount of one tax on an employee's wages in a quarter, in cents, less what was reversed."""

    employee_id: UUID
    quarter: int
    code: str
    name: str
    payer: str
    agency: str
    category: str
    subject_wages: int
    taxable_wages: int
    amount: int


_TAXED: Final = query(
    QuarterTaxed,
    "SELECT c.employee_id, CAST(extract(quarter FROM p.pay_date) AS int) AS quarter, l.code, max(l.name) AS name, "
    "max(l.payer) AS payer, max(l.agency) AS agency, max(l.category) AS category, "
    "CAST(sum(l.subject_wages) AS bigint) AS subject_wages, CAST(sum(l.taxable_wages) AS bigint) AS taxable_wages, "
    "CAST(sum(l.amount) AS bigint) AS amount FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "{lines} WHERE c.employer_id = :employer AND c.tax_year = :year "
    "AND l.code LIKE :state || '-%' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    lines=LINES,
)


class MonthTaxed(NamedTuple):
    """The amount of one tax in a calendar month for all employees, in cents, less what was reversed."""

    month: datetime.date
    """Its first day."""

    agency: str
    code: str
    name: str
    payer: str
    category: str
    amount: int


_BY_MONTH: Final = query(
    MonthTaxed,
    "SELECT CAST(date_trunc('month', p.pay_date) AS date) AS month, l.agency, l.code, max(l.name) AS name, "
    "max(l.payer) AS payer, max(l.category) AS category, CAST(sum(l.amount) AS bigint) AS amount "
    "FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "{lines} WHERE c.employer_id = :employer "
    "AND p.pay_date BETWEEN :first AND :last GROUP BY 1, 2, 3 HAVING sum(l.amount) <> 0 ORDER BY 2, 3, 1",
    lines=LINES,
)


class _PriorRow(NamedTuple):
    employee_id: UUID
    cents: int


_PRIOR: Final = query(
    _PriorRow,
    "SELECT employee_id, CAST(sum(gross_pay) AS bigint) AS cents FROM prior_wages "
    "WHERE employer_id = :employer AND tax_year = :year AND replaced_by IS NULL GROUP BY 1",
)


async def read_quarters(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> list[QuarterPaid]:
    """Return what the household paid in these years, without wages from other payrolls."""
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    return await fetch_all(session, _PAID, requested)


async def read_taxed_quarters(
    session: AsyncSession, employer_id: UUID, *, state: str, year: int
) -> list[QuarterTaxed]:
    """Return the amount of each tax of a state in a year, wherever anybody worked: by employee and quarter."""
    requested = {"employer": employer_id, "state": state, "year": year}
    return await fetch_all(session, _TAXED, requested)


async def read_taxed_months(
    session: AsyncSession, employer_id: UUID, *, first: datetime.date, last: datetime.date
) -> list[MonthTaxed]:
    """Return the amounts of all taxes of the payrolls with pay dates in a span, by agency, line and month.

    A line that totals zero in a month is left out.
    """
    requested = {"employer": employer_id, "first": first, "last": last}
    return await fetch_all(session, _BY_MONTH, requested)


async def read_prior_gross(session: AsyncSession, employer_id: UUID, year: int) -> dict[UUID, int]:
    """Return the gross pay in cents that other payrolls paid in the year, by employee, as it was entered."""
    rows = await fetch_all(session, _PRIOR, {"employer": employer_id, "year": year})
    return {row.employee_id: row.cents for row in rows}
