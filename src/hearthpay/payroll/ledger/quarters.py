"""What the employees of a household were paid and what taxes came of it, by the calendar quarters of the pay dates.

What a void or a failure took back is deducted where it had been counted: a paycheck that undoes another stands in the
payroll of that one, and so in its quarter. What corrects earlier wages of the year is charged with a later paycheck,
and stands in the quarter of that one.
"""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query


class QuarterPaid(NamedTuple):
    """Gross pay of one employee in one state and quarter, in cents; what was taken back is deducted."""

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
    """What one tax on an employee's wages of a quarter came to, in cents; what was taken back is deducted."""

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
    "JOIN paycheck_lines l ON l.paycheck_id = c.id WHERE c.employer_id = :employer AND c.tax_year = :year "
    "AND l.code LIKE :state || '-%' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
)


class MonthTaxed(NamedTuple):
    """What one tax came to in a calendar month for all employees, in cents; what was taken back is deducted."""

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
    "JOIN paycheck_lines l ON l.paycheck_id = c.id WHERE c.employer_id = :employer "
    "AND p.pay_date BETWEEN :first AND :last GROUP BY 1, 2, 3 HAVING sum(l.amount) <> 0 ORDER BY 2, 3, 1",
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
    """Return what the household paid in these years; wages of other payrolls are not among it."""
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    return await fetch_all(session, _PAID, requested)


async def read_taxed_quarters(
    session: AsyncSession, employer_id: UUID, *, state: str, year: int
) -> list[QuarterTaxed]:
    """Return what each tax of a state came to in a year, whoever worked wherever: by employee and quarter."""
    requested = {"employer": employer_id, "state": state, "year": year}
    return await fetch_all(session, _TAXED, requested)


async def read_taxed_months(
    session: AsyncSession, employer_id: UUID, *, first: datetime.date, last: datetime.date
) -> list[MonthTaxed]:
    """Return what all taxes of the payrolls with pay dates in a span came to, by agency, line and month.

    A line that came to nothing in a month is not among it.
    """
    requested = {"employer": employer_id, "first": first, "last": last}
    return await fetch_all(session, _BY_MONTH, requested)


async def read_prior_gross(session: AsyncSession, employer_id: UUID, year: int) -> dict[UUID, int]:
    """Return the gross pay in cents that other payrolls paid in the year, by employee, as it was entered."""
    rows = await fetch_all(session, _PRIOR, {"employer": employer_id, "year": year})
    return {row.employee_id: row.cents for row in rows}
