"""What a household's employees were paid and the resulting taxes, by the calendar quarters of the pay dates.

What a void or a failure reversed is deducted where it had been counted: a paycheck that reverses another belongs to
the same payroll, and so to its quarter. A correction of earlier wages of the year is charged with a later paycheck,
and belongs to that one's quarter.

Read from the sums that are kept for each employee and month. Names, payers and agencies are those of the year's law.
"""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import Query, fetch_all, query
from hearthpay.payroll.ledger.line_headings import read_headings
from hearthpay.payroll.ledger.lines import LINES
from hearthpay.taxes.heading import Heading

_DAY: Final = datetime.timedelta(days=1)


class QuarterPaid(NamedTuple):
    """Gross pay of one employee in one state and quarter, in cents, less what was reversed."""

    employee_id: UUID
    work_state: str
    year: int
    quarter: int
    cents: int


_PAID: Final = query(
    QuarterPaid,
    "SELECT employee_id, work_state, tax_year AS year, CAST(extract(quarter FROM month) AS int) AS quarter, "
    "CAST(sum(gross_pay) AS bigint) AS cents FROM month_balances "
    "WHERE employer_id = :employer AND tax_year BETWEEN :first AND :last GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
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


class _QuarterRow(NamedTuple):
    employee_id: UUID
    quarter: int
    code: str
    subject_wages: int
    taxable_wages: int
    amount: int


_TAXED: Final = query(
    _QuarterRow,
    "SELECT m.employee_id, CAST(extract(quarter FROM m.month) AS int) AS quarter, u.code, "
    "CAST(sum(u.subject_wages) AS bigint) AS subject_wages, CAST(sum(u.taxable_wages) AS bigint) AS taxable_wages, "
    "CAST(sum(u.amount) AS bigint) AS amount FROM month_balances m, "
    "unnest(m.codes, m.subject_wages, m.taxable_wages, m.amounts) AS u(code, subject_wages, taxable_wages, amount) "
    "WHERE m.employer_id = :employer AND m.tax_year = :year AND u.code LIKE :state || '-%' "
    "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
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


class _MonthRow(NamedTuple):
    month: datetime.date
    tax_year: int
    code: str
    amount: int


_BY_MONTH: Final = query(
    _MonthRow,
    "SELECT m.month, m.tax_year, u.code, CAST(sum(u.amount) AS bigint) AS amount "
    "FROM month_balances m, unnest(m.codes, m.amounts) AS u(code, amount) "
    "WHERE m.employer_id = :employer AND m.month BETWEEN :first AND :last GROUP BY 1, 2, 3",
)
_BY_DAY: Final = query(
    _MonthRow,
    "SELECT CAST(date_trunc('month', p.pay_date) AS date) AS month, c.tax_year, l.code, "
    "CAST(sum(l.amount) AS bigint) AS amount FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "{lines} WHERE c.employer_id = :employer "
    "AND p.pay_date BETWEEN :first AND :last GROUP BY 1, 2, 3",
    lines=LINES,
)
"""For a span that begins or ends within a month."""


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
    rows = await fetch_all(session, _TAXED, requested)
    headings = await read_headings(session, employer_id, year, {row.code for row in rows})
    return [QuarterTaxed(row.employee_id, row.quarter, *headings[row.code], *row[3:]) for row in rows]


async def read_taxed_months(
    session: AsyncSession, employer_id: UUID, *, first: datetime.date, last: datetime.date
) -> list[MonthTaxed]:
    """Return the amounts of all taxes of the payrolls with pay dates in a span, by agency, line and month.

    A line that totals zero in a month is left out.
    """
    requested = {"employer": employer_id, "first": first, "last": last}
    whole_months = first.day == 1 and (last + _DAY).day == 1
    found: Query[_MonthRow] = _BY_MONTH if whole_months else _BY_DAY
    rows = await fetch_all(session, found, requested)
    codes: dict[int, set[str]] = {}
    for row in rows:
        codes.setdefault(row.tax_year, set()).add(row.code)
    headings = {
        year: await read_headings(session, employer_id, year, of_year) for year, of_year in codes.items()
    }
    cents: dict[tuple[str, str, datetime.date], int] = {}
    about: dict[tuple[str, str, datetime.date], Heading] = {}
    for row in rows:
        heading = headings[row.tax_year][row.code]
        place = (heading.agency, row.code, row.month)
        cents[place] = cents.get(place, 0) + row.amount
        about[place] = max(heading, about.get(place, heading))
    return [
        MonthTaxed(month, agency, code, heading.name, heading.payer, heading.category, cents[place])
        for place, heading in sorted(about.items())
        for agency, code, month in (place,)
        if cents[place]
    ]


async def read_prior_gross(session: AsyncSession, employer_id: UUID, year: int) -> dict[UUID, int]:
    """Return the gross pay in cents that other payrolls paid in the year, by employee, as it was entered."""
    rows = await fetch_all(session, _PRIOR, {"employer": employer_id, "year": year})
    return {row.employee_id: row.cents for row in rows}
